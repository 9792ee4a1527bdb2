//! Markdown as it comes, a few letters at a time, in modest colours for a terminal.

use crate::terminal_text;

const BOLD: &str = "1";
const DIM: &str = "2";
const CODE: &str = "36";
/// The longest beginning of a line that is held back until it tells what kind of line it is.
const LONGEST_LEAD: usize = 200;

/// Writes Markdown for a terminal. Without colours it is written as it is.
#[derive(Debug, Default)]
pub(crate) struct MarkdownPainter {
    has_colours: bool,
    /// The beginning of a line, until it tells what kind of line it is.
    lead: String,
    line: Line,
    is_bold: bool,
    is_code: bool,
    /// The fence that the block of code began with which is being written.
    fence: Option<Fence>,
    /// Stars that may begin or end something.
    stars: usize,
    last: Option<char>,
}

/// What kind of line it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Line {
    #[default]
    Unknown,
    Heading,
    Item,
    Quote,
    Text,
}

/// What begins a block of code: so many of a character. It ends with as many or more of the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence that a line is, and what is said behind it about the code.
    fn opening(line: &str) -> Option<(Self, &str)> {
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let about = line.trim_start_matches(mark);
        let length = line.len() - about.len();
        // Otherwise it is code within the line.
        let is_fence = length >= 3 && !(mark == '`' && about.contains('`'));
        is_fence.then_some((Self { mark, length }, about.trim()))
    }

    /// Whether a line that begins like this may end the block.
    fn may_end_with(self, line: &str) -> bool {
        line.trim_end().chars().all(|c| c == self.mark)
    }

    fn ends_with(self, line: &str) -> bool {
        self.may_end_with(line) && line.trim_end().len() >= self.length
    }
}

impl MarkdownPainter {
    pub(crate) fn new(has_colours: bool) -> Self {
        Self { has_colours, ..Self::default() }
    }

    /// What to write for more Markdown.
    pub(crate) fn paint(&mut self, markdown: &str) -> String {
        let text = terminal_text::lines(markdown);
        if !self.has_colours {
            return text;
        }
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            self.take(c, &mut out);
        }
        out
    }

    /// What to write at the end of a text, so that what follows is plain.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        self.settle(&mut out);
        self.stars(None, &mut out);
        if self.is_styled() {
            out.push_str("\u{1b}[0m");
        }
        *self = Self::new(self.has_colours);
        out
    }

    /// Text set back, if there are colours.
    pub(crate) fn dim(&self, text: &str) -> String {
        if self.has_colours { format!("\u{1b}[{DIM}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn take(&mut self, c: char, out: &mut String) {
        if c == '\n' {
            return self.end_line(out);
        }
        if self.line != Line::Unknown {
            return self.inline(c, out);
        }
        self.lead.push(c);
        match self.lead() {
            Line::Unknown => {}
            Line::Text => self.settle(out),
            line => {
                self.line = line;
                match line {
                    Line::Item => out.push_str(&self.lead.replace(['-', '*', '+'], "•")),
                    Line::Heading => self.style(out),
                    Line::Quote => {
                        self.style(out);
                        out.push_str("│ ");
                    }
                    _ => {}
                }
            }
        }
    }

    fn lead(&self) -> Line {
        let text = self.lead.trim_start_matches([' ', '\t']);
        if self.lead.len() > LONGEST_LEAD {
            return Line::Text;
        }
        if let Some(fence) = self.fence {
            return if fence.may_end_with(text) { Line::Unknown } else { Line::Text };
        }
        if Fence::opening(text).is_some() {
            return Line::Unknown;
        }
        match text {
            "- " | "* " | "+ " => Line::Item,
            "> " => Line::Quote,
            "" | "-" | "*" | "+" | ">" | "`" | "``" | "~" | "~~" => Line::Unknown,
            _ => {
                let after = text.trim_start_matches('#');
                match (text.len() - after.len(), after) {
                    (1..=6, "") => Line::Unknown,
                    (1..=6, " ") => Line::Heading,
                    _ => Line::Text,
                }
            }
        }
    }

    /// The beginning of the line is text like all other.
    fn settle(&mut self, out: &mut String) {
        if self.line != Line::Unknown {
            return;
        }
        self.line = Line::Text;
        if self.fence.is_some() && !self.lead.is_empty() {
            self.style(out);
        }
        for c in std::mem::take(&mut self.lead).chars() {
            self.inline(c, out);
        }
    }

    fn inline(&mut self, c: char, out: &mut String) {
        if self.fence.is_some() {
            return out.push(c);
        }
        if c == '*' && !self.is_code {
            self.stars += 1;
            return;
        }
        self.stars(Some(c), out);
        if c == '`' {
            self.is_code = !self.is_code;
            self.style(out);
        } else {
            out.push(c);
        }
        self.last = Some(c);
    }

    /// Writes the stars before a letter, or takes two of them for what they mean.
    fn stars(&mut self, next: Option<char>, out: &mut String) {
        let is_open = next.is_some_and(|c| !c.is_whitespace());
        let is_close = self.is_bold && self.last.is_some_and(|c| !c.is_whitespace());
        if self.stars == 2 && (is_close || (is_open && !self.is_bold)) {
            self.is_bold = !self.is_bold;
            self.style(out);
        } else {
            out.extend(std::iter::repeat_n('*', self.stars));
        }
        self.stars = 0;
    }

    fn end_line(&mut self, out: &mut String) {
        if self.line == Line::Unknown && self.end_fence(out) {
            return out.push('\n');
        }
        self.settle(out);
        self.stars(None, out);
        let was_styled = self.is_styled();
        *self = Self { fence: self.fence, ..Self::new(self.has_colours) };
        if was_styled {
            out.push_str("\u{1b}[0m");
        }
        out.push('\n');
    }

    /// Begins or ends a block of code, if that is what the line does. What it says about the code is shown.
    fn end_fence(&mut self, out: &mut String) -> bool {
        let line = self.lead.trim_start_matches([' ', '\t']);
        let fence = match self.fence {
            Some(fence) if fence.ends_with(line) => None,
            Some(_) => return false,
            None => {
                let Some((fence, about)) = Fence::opening(line) else { return false };
                if !about.is_empty() {
                    out.push_str(&self.dim(about));
                }
                Some(fence)
            }
        };
        *self = Self { fence, ..Self::new(self.has_colours) };
        true
    }

    fn is_styled(&self) -> bool {
        let is_line = matches!(self.line, Line::Heading | Line::Quote);
        is_line || self.is_bold || self.is_code || self.fence.is_some()
    }

    /// Switches to the style that holds from here on.
    fn style(&self, out: &mut String) {
        out.push_str("\u{1b}[0");
        let styles = [
            (self.line == Line::Heading || self.is_bold, BOLD),
            (self.line == Line::Quote, DIM),
            (self.is_code || self.fence.is_some(), CODE),
        ];
        for (_, style) in styles.into_iter().filter(|(is_on, _)| *is_on) {
            out.push(';');
            out.push_str(style);
        }
        out.push('m');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is painted, with colours in words; the same in one piece and letter by letter.
    fn painted(markdown: &str) -> String {
        let mut whole = MarkdownPainter::new(true);
        let at_once = whole.paint(markdown) + &whole.finish();
        let mut slow = MarkdownPainter::new(true);
        let mut letters: String = markdown.chars().map(|c| slow.paint(&c.to_string())).collect();
        letters.push_str(&slow.finish());
        assert_eq!(letters, at_once, "{markdown}");
        let in_words = |part: &str| match part.split_once('m') {
            Some((colours, rest)) => format!("<{colours}>{rest}"),
            None => part.to_owned(),
        };
        let (plain, coloured) = at_once.split_once("\u{1b}[").unwrap_or((&at_once, ""));
        let coloured = coloured.split("\u{1b}[").filter(|part| !part.is_empty()).map(in_words);
        plain.to_owned() + &coloured.collect::<String>()
    }

    #[test]
    fn what_has_a_meaning_is_shown_by_colours() {
        let check = |markdown: &str, expected: &str| assert_eq!(painted(markdown), expected, "{markdown}");
        check("a **b** c", "a <0;1>b<0> c");
        check("a `b` c", "a <0;36>b<0> c");
        check("# T\nx", "<0;1>T<0>\nx");
        check("- a\n* b\n  + c", "• a\n• b\n  • c");
        check("> q", "<0;2>│ q<0>");
        check("```rust\nlet x;\n```\ny", "<2>rust<0>\n<0;36>let x;<0>\n\ny");
        check("  ~~~\na `b`\n~~~ \ny", "\n<0;36>a `b`<0>\n\ny");
        check("**You:** hi", "<0;1>You:<0> hi");
    }

    #[test]
    fn a_fence_hides_nothing() {
        let check = |markdown: &str, expected: &str| assert_eq!(painted(markdown), expected, "{markdown}");
        let told = painted("```rm -rf / ``` is what I will run.\nx");
        assert!(told.contains("rm -rf / ") && told.contains(" is what I will run."), "{told}");
        check("````\n```\nrm\n````\ny", "\n<0;36>```<0>\n<0;36>rm<0>\n\ny");
        check("```\n``` rm\n~~~\n```\ny", "\n<0;36>``` rm<0>\n<0;36>~~~<0>\n\ny");
        check("``` rm -rf /\n```\ny", "<2>rm -rf /<0>\n\ny");
        assert!(painted("```half a line").contains("half a line"));
        let long = "x".repeat(3 * LONGEST_LEAD);
        assert!(painted(&format!("```{long}\n")).contains(&long));
    }

    #[test]
    fn what_has_none_is_as_it_was() {
        for text in ["2 ** 3", "a * b", "#tag", "-x", "snake_case_word", "1. one", "a*b*c", "***", "x > y"] {
            assert_eq!(painted(text), text);
        }
    }

    #[test]
    fn without_colours_it_is_markdown() {
        let mut painter = MarkdownPainter::new(false);
        assert_eq!(painter.paint("# a **b** `c`\u{1b}[2J\n- d"), "# a **b** `c`\u{fffd}\n- d");
        assert_eq!(painter.finish(), "");
    }

    #[test]
    fn nothing_but_its_own_colours_commands_the_terminal() {
        let mut painter = MarkdownPainter::new(true);
        let shown = painter.paint("\u{1b}]0;x\u{7} **b\u{9b}2J** `\u{202e}`") + &painter.finish();
        for part in shown.split('\u{1b}').skip(1) {
            let (codes, _) = part.strip_prefix('[').and_then(|part| part.split_once('m')).expect("a colour");
            assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{codes:?}");
        }
        assert!(!shown.contains(['\u{7}', '\u{9b}', '\u{202e}']));
    }
}

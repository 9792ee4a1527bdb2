//! Markdown as it comes, a few letters at a time, as rows for a terminal.

use crate::{
    inline_marks::{InlineMarks, marked_letters},
    styled::{DIM, RowWrapper, StyledRow, TextColour, TextStyle},
};

/// After how many letters a line is looked through for marks though it goes on.
const LONGEST_LINE: usize = 1000;
/// What is shorter is no sentence: it may be the number of an item, or a name that is cut short.
const SHORTEST_SENTENCE: usize = 24;
/// The longest beginning of a line that is held back until it tells what kind of line it is.
const LONGEST_LEAD: usize = 120;

/// Makes rows of Markdown. A row that is done does not change, whatever follows, and it does not matter how the text is cut.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "styles are on or off each by itself")]
pub(crate) struct MarkdownRows {
    wrapper: RowWrapper,
    /// How plain text looks.
    base: TextStyle,
    /// What every row begins with.
    margin: StyledRow,
    /// The beginning of a line, until it tells what kind of line it is.
    lead: String,
    line: MarkdownLine,
    /// The letters of a line of words: the marks among them are known when it is over.
    letters: String,
    /// Whether all is shown as it is.
    is_verbatim: bool,
    /// Whether it is read aloud: code keeps its backticks, and a row ends with a sentence.
    is_spoken: bool,
    /// Whether a row has ended with a sentence of this line.
    is_after_sentence: bool,
    /// The fence of the block of code that is being written: a mark, and how many.
    fence: Option<(char, usize)>,
    /// Empty lines that are shown if something follows.
    blanks: usize,
    has_begun: bool,
    has_given: bool,
    /// What stands before the first row.
    label: String,
    rows: Vec<StyledRow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkdownLine {
    Unknown,
    Heading,
    Words,
    /// As it is: code, and tables.
    Code,
}

impl MarkdownRows {
    pub(crate) fn new(width: usize, base: TextStyle, margin: StyledRow) -> Self {
        Self {
            wrapper: RowWrapper::new(width),
            base,
            margin,
            lead: String::new(),
            line: MarkdownLine::Unknown,
            letters: String::new(),
            is_verbatim: false,
            is_spoken: false,
            is_after_sentence: false,
            fence: None,
            blanks: 0,
            has_begun: false,
            has_given: false,
            label: String::new(),
            rows: Vec::new(),
        }
    }

    /// The rows that follow are of this width.
    pub(crate) fn set_width(&mut self, width: usize) {
        self.wrapper.set_width(width);
    }

    /// A word before the first row that is no part of the text.
    pub(crate) fn push_label(&mut self, label: &str) {
        label.clone_into(&mut self.label);
    }

    /// The text is shown as it is: nobody meant it as Markdown.
    pub(crate) fn set_verbatim(&mut self) {
        self.is_verbatim = true;
    }

    /// It is read aloud, so that code keeps its backticks, which no style tells, and a long line does not wait for its end.
    pub(crate) fn set_spoken(&mut self) {
        self.is_spoken = true;
    }

    /// Whether a row of it was given out.
    pub(crate) fn has_given(&self) -> bool {
        self.has_given
    }

    /// More of the text, which is safe already.
    pub(crate) fn push(&mut self, text: &str) {
        for c in text.chars() {
            match (c, self.line) {
                ('\n', _) => self.end_line(),
                (_, MarkdownLine::Unknown) => {
                    self.lead.push(c);
                    self.look_at_lead(false);
                }
                (_, line) => self.inline(line, c),
            }
        }
    }

    /// The text is over.
    pub(crate) fn finish(&mut self) {
        if !self.lead.is_empty() || self.wrapper.is_in_line() || !self.letters.is_empty() {
            self.end_line();
        }
        self.blanks = 0;
    }

    /// The rows that are done.
    pub(crate) fn take_rows(&mut self) -> Vec<StyledRow> {
        self.collect();
        self.has_given |= !self.rows.is_empty();
        std::mem::take(&mut self.rows)
    }

    /// What was not given out yet, as it looks now.
    pub(crate) fn unfinished(&self) -> Vec<StyledRow> {
        let is_between = self.lead.is_empty() && !self.wrapper.is_in_line() && self.letters.is_empty();
        if is_between && self.rows.is_empty() {
            return Vec::new();
        }
        let mut rest = self.clone();
        rest.finish();
        rest.take_rows()
    }

    fn collect(&mut self) {
        let mut rows = self.wrapper.take_rows();
        let Some(first) = rows.first_mut() else { return };
        if !self.label.is_empty() {
            let label = std::mem::take(&mut self.label);
            *first = StyledRow::of(self.base, label).followed_by(first);
        }
        if self.has_begun && self.blanks > 0 {
            self.rows.push(self.margin.clone());
        }
        (self.blanks, self.has_begun) = (0, true);
        self.rows.extend(rows);
    }

    fn end_line(&mut self) {
        if self.line == MarkdownLine::Unknown {
            if self.lead.trim().is_empty() && self.fence.is_none() {
                self.lead.clear();
                self.blanks += 1;
                return;
            }
            self.look_at_lead(true);
            if self.line == MarkdownLine::Unknown {
                // It was a fence, which is not shown.
                return;
            }
        }
        self.end_letters();
        if !std::mem::take(&mut self.is_after_sentence) || self.wrapper.is_in_line() {
            self.wrapper.end_line();
        }
        self.collect();
        self.line = MarkdownLine::Unknown;
        self.wrapper.set_margin(StyledRow::default(), StyledRow::default());
    }

    /// Tells by its beginning what kind of line it is, if that can be told.
    fn look_at_lead(&mut self, is_whole: bool) {
        let lead = self.lead.clone();
        let text = lead.trim_start_matches(' ');
        if self.is_verbatim {
            if !text.is_empty() {
                self.begin(MarkdownLine::Words, "", "", &lead);
            }
            return;
        }
        let is_known = is_whole || lead.len() > LONGEST_LEAD;
        if let Some((mark, count)) = self.fence {
            let is_mark = text.trim_end().chars().all(|c| c == mark);
            if is_mark && !is_known {
                return;
            }
            if is_mark && text.trim_end().chars().count() >= count {
                self.fence = None;
                return self.lead.clear();
            }
            return self.begin(MarkdownLine::Code, "  ", "  ", &lead);
        }
        if text.is_empty() {
            return;
        }
        let mark = text.chars().next().unwrap_or(' ');
        let body = text.trim_start_matches(mark);
        let count = text.chars().take_while(|c| *c == mark).count();
        if matches!(mark, '`' | '~') && (count >= 3 || body.is_empty()) && !body.contains('`') {
            if is_known && count >= 3 {
                (self.fence, self.lead) = (Some((mark, count)), String::new());
                return;
            }
            if !is_known {
                return;
            }
        }
        let indent = " ".repeat((lead.len() - text.len()).min(12));
        match mark {
            '#' if body.is_empty() && !is_known && count <= 6 => {}
            '#' if body.starts_with(' ') && count <= 6 => {
                self.begin(MarkdownLine::Heading, "", "", body.trim_start());
            }
            '-' | '*' | '+' | '>' if body.is_empty() && !is_known => {}
            '-' | '*' | '+' if count == 1 && body.starts_with(' ') => {
                let (first, rest) = (format!("{indent}• "), format!("{indent}  "));
                self.begin(MarkdownLine::Words, &first, &rest, &body[1..]);
            }
            '>' => self.begin(MarkdownLine::Words, "│ ", "│ ", body.trim_start()),
            '|' => self.begin(MarkdownLine::Code, "", "", text),
            '0'..='9' => {
                let digits = text.chars().take_while(char::is_ascii_digit).count();
                let rest = &text[digits..];
                if (rest.is_empty() || rest == "." || rest == ")") && !is_known {
                    return;
                }
                let is_item = rest.starts_with(". ") || rest.starts_with(") ");
                let first = format!("{indent}{}", if is_item { &text[..digits + 2] } else { "" });
                let hang = " ".repeat(first.len());
                self.begin(MarkdownLine::Words, &first, &hang, if is_item { &rest[2..] } else { text });
            }
            _ => self.begin(MarkdownLine::Words, &indent, &indent, text),
        }
    }

    fn begin(&mut self, line: MarkdownLine, first: &str, rest: &str, text: &str) {
        self.line = line;
        let text = text.to_owned();
        self.lead.clear();
        let margin = |more: &str| self.margin.clone().and(DIM, more);
        let (first, rest) = (margin(first), margin(rest));
        self.wrapper.set_margin(first, rest);
        text.chars().for_each(|c| self.inline(line, c));
    }

    fn inline(&mut self, line: MarkdownLine, c: char) {
        if line == MarkdownLine::Code {
            let style = if self.base.is_dim { DIM } else { TextColour::Cyan.text() };
            return self.wrapper.push_as_is(style, c);
        }
        if self.is_verbatim {
            return self.wrapper.push(self.base, c);
        }
        if self.is_spoken && c == ' ' && is_sentence(&self.letters) {
            self.end_letters();
            self.wrapper.break_line();
            self.is_after_sentence = true;
            return self.collect();
        }
        self.letters.push(c);
        if c == ' ' && self.letters.len() > LONGEST_LINE {
            self.end_letters();
        }
    }

    /// The marks among the letters of a line are known by now.
    fn end_letters(&mut self) {
        let letters = std::mem::take(&mut self.letters);
        for (marks, c) in marked_letters(&letters, self.is_spoken) {
            let style = self.style(marks);
            self.wrapper.push(style, c);
        }
    }

    fn style(&self, marks: InlineMarks) -> TextStyle {
        let is_heading = self.line == MarkdownLine::Heading;
        let code = TextColour::Cyan.text().colour.filter(|_| marks.is_code && !self.base.is_dim);
        TextStyle {
            is_bold: marks.is_bold || is_heading || self.base.is_bold,
            is_italic: marks.is_italic || self.base.is_italic,
            colour: code.or(self.base.colour),
            ..self.base
        }
    }
}

/// Whether this is a whole sentence, or more of them, and nothing in it is marked beyond its end.
fn is_sentence(text: &str) -> bool {
    let is_marked = ['*', '`'].iter().any(|mark| text.matches(*mark).count() % 2 == 1);
    text.len() >= SHORTEST_SENTENCE && text.ends_with(['.', '!', '?', ':', '…']) && !is_marked
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::styled::PLAIN;

    /// A whole text as rows.
    fn markdown_rows(text: &str, width: usize, base: TextStyle, margin: &StyledRow) -> Vec<StyledRow> {
        let mut rows = MarkdownRows::new(width, base, margin.clone());
        rows.push(text);
        rows.finish();
        rows.take_rows()
    }

    fn shown(text: &str) -> Vec<String> {
        markdown_rows(text, 40, PLAIN, &StyledRow::default()).iter().map(StyledRow::text).collect()
    }

    fn coloured(text: &str) -> String {
        let mut out = String::new();
        for row in markdown_rows(text, 40, PLAIN, &StyledRow::default()) {
            row.write(&mut out, true);
            out.push('\n');
        }
        out
    }

    #[test]
    fn lines_are_shown_by_their_kind() {
        assert_eq!(shown("# Title\n\n\nword\nword\n"), ["Title", "", "word", "word"]);
        assert_eq!(shown("- one\n  - two\n* three"), ["• one", "  • two", "• three"]);
        assert_eq!(shown("1. one\n12) two\n3rd"), ["1. one", "12) two", "3rd"]);
        assert_eq!(shown("> said"), ["│ said"]);
        assert_eq!(shown("```rust\nfn a() {\n\n}\n```\nafter"), ["  fn a() {", "  ", "  }", "after"]);
        assert_eq!(shown("| a | b |\n|---|---|"), ["| a | b |", "|---|---|"]);
        assert_eq!(
            shown("- a long item that does not fit into one row"),
            ["• a long item that does not fit into one", "  row"]
        );
    }

    #[test]
    fn marks_become_styles() {
        assert_eq!(
            coloured("a **b** *c* `d*` 2 * 3"),
            "a \u{1b}[1mb\u{1b}[0m \u{1b}[3mc\u{1b}[0m \u{1b}[36md*\u{1b}[0m 2 * 3\n"
        );
        assert_eq!(coloured("# T"), "\u{1b}[1mT\u{1b}[0m\n");
        assert_eq!(coloured("**open"), "**open\n");
    }

    #[test]
    fn words_of_a_user_are_shown_as_they_are() {
        let mut rows = MarkdownRows::new(40, PLAIN, StyledRow::default());
        rows.set_verbatim();
        rows.push("# not *this*  `x\n\n  - in\n```\n| a");
        rows.finish();
        let shown: Vec<_> = rows.take_rows().iter().map(StyledRow::text).collect();
        assert_eq!(shown, ["# not *this*  `x", "", "  - in", "```", "| a"]);
    }

    #[test]
    fn what_is_not_done_is_shown_as_far_as_it_is_known() {
        let mut rows = MarkdownRows::new(40, PLAIN, StyledRow::default());
        rows.push("one\ntwo **th");
        assert_eq!(rows.take_rows().iter().map(StyledRow::text).collect::<Vec<_>>(), ["one"]);
        assert_eq!(rows.unfinished().iter().map(StyledRow::text).collect::<Vec<_>>(), ["two **th"]);
    }

    #[test]
    fn read_aloud_a_sentence_does_not_wait_for_the_next() {
        let mut rows = MarkdownRows::new(1000, PLAIN, StyledRow::default());
        rows.set_spoken();
        rows.push("- Mr. A has looked into it, `and. more`. It is **all done. All of it** is well. An");
        let shown = |rows: Vec<StyledRow>| rows.iter().map(StyledRow::text).collect::<Vec<_>>();
        assert_eq!(
            shown(rows.take_rows()),
            ["• Mr. A has looked into it, `and. more`.", "  It is all done. All of it is well."]
        );
        rows.push("d so on.\nThere is a blank behind this. \n");
        assert_eq!(shown(rows.take_rows()), ["  And so on.", "There is a blank behind this."]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_it_is_cut(text in "[a-c0-1 *`#>|~.\n-]{0,120}", cut in 1usize..9, is_spoken: bool) {
            let mut rows = MarkdownRows::new(20, PLAIN, StyledRow::default());
            let mut whole = rows.clone();
            if is_spoken {
                rows.set_spoken();
                whole.set_spoken();
            }
            let mut done = Vec::new();
            for piece in text.as_bytes().chunks(cut) {
                rows.push(std::str::from_utf8(piece).expect("it is ASCII"));
                done.extend(rows.take_rows());
                let _ = rows.unfinished();
            }
            rows.finish();
            done.extend(rows.take_rows());
            whole.push(&text);
            whole.finish();
            prop_assert_eq!(&done, &whole.take_rows());
            prop_assert!(done.iter().all(|row| row.width() <= 20));
        }
    }
}

//! The marks within a line of Markdown: stars and backticks that stand around something. What stands around nothing is shown as it is.

/// How a piece of a line is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InlineMarks {
    pub(crate) is_bold: bool,
    pub(crate) is_italic: bool,
    pub(crate) is_code: bool,
}

/// The letters of a line, each with what the marks around it make of it. With `keeps_code` code stays between its backticks.
pub(crate) fn marked_letters(line: &str, keeps_code: bool) -> Vec<(InlineMarks, char)> {
    let letters: Vec<char> = line.chars().collect();
    let mut marked = Vec::with_capacity(letters.len());
    // How many stars each mark has that is open.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let marks = InlineMarks {
            is_bold: open.iter().any(|stars| *stars >= 2),
            is_italic: open.iter().any(|stars| *stars != 2),
            is_code: false,
        };
        let count = run(&letters, at);
        match letters[at] {
            '\\' if letters.get(at + 1).is_some_and(char::is_ascii_punctuation) => {
                marked.push((marks, letters[at + 1]));
                at += 2;
                continue;
            }
            '`' => {
                if let Some(end) = code_end(&letters, at + count, count) {
                    let (from, to) = if keeps_code { (at, end + count) } else { (at + count, end) };
                    let code = InlineMarks { is_code: true, ..marks };
                    marked.extend(letters[from..to].iter().map(|letter| (code, *letter)));
                    at = end + count;
                    continue;
                }
            }
            '*' if open.last() == Some(&count) && closes(&letters, at, count) => {
                open.pop();
                at += count;
                continue;
            }
            '*' if count <= 3 && opens(&letters, at, count) && star_end(&letters, at + count, count) => {
                open.push(count);
                at += count;
                continue;
            }
            _ => {}
        }
        let literal = if matches!(letters[at], '*' | '`') { count } else { 1 };
        marked.extend(letters[at..at + literal].iter().map(|letter| (marks, *letter)));
        at += literal;
    }
    marked
}

/// How often the letter stands there in a row.
fn run(letters: &[char], at: usize) -> usize {
    letters[at..].iter().take_while(|letter| **letter == letters[at]).count()
}

/// Where code ends that began with so many backticks.
fn code_end(letters: &[char], from: usize, count: usize) -> Option<usize> {
    let mut at = from;
    while at < letters.len() {
        if letters[at] == '`' {
            let found = run(letters, at);
            if found == count {
                return Some(at);
            }
            at += found;
        } else {
            at += 1;
        }
    }
    None
}

/// Whether so many stars end something further on.
fn star_end(letters: &[char], from: usize, count: usize) -> bool {
    let mut at = from;
    while at < letters.len() {
        let found = run(letters, at);
        match letters[at] {
            '*' if found == count && at > from && closes(letters, at, count) => return true,
            '`' => at = code_end(letters, at + found, found).map_or(at + found, |end| end + found),
            '*' => at += found,
            _ => at += 1,
        }
    }
    false
}

/// Whether something may begin behind these stars.
fn opens(letters: &[char], at: usize, count: usize) -> bool {
    let (before, behind) = around(letters, at, count);
    let is_flanking = |behind: char| {
        !behind.is_whitespace()
            && (!is_mark(behind) || before.is_none_or(|c| c.is_whitespace() || is_mark(c)))
    };
    behind.is_some_and(is_flanking) && (count > 1 || !before.is_some_and(char::is_alphanumeric))
}

/// Whether something may end before these stars.
fn closes(letters: &[char], at: usize, count: usize) -> bool {
    let (before, behind) = around(letters, at, count);
    let is_flanking = |before: char| {
        !before.is_whitespace()
            && (!is_mark(before) || behind.is_none_or(|c| c.is_whitespace() || is_mark(c)))
    };
    before.is_some_and(is_flanking) && (count > 1 || !behind.is_some_and(char::is_alphanumeric))
}

fn around(letters: &[char], at: usize, count: usize) -> (Option<char>, Option<char>) {
    let before = at.checked_sub(1).and_then(|before| letters.get(before));
    (before.copied(), letters.get(at + count).copied())
}

fn is_mark(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bold in `[b:`, italic in `[i:`, code in `[c:`.
    fn shown(line: &str) -> String {
        let mut text = String::new();
        let mut before = InlineMarks::default();
        for (marks, letter) in marked_letters(line, false).into_iter().chain([(InlineMarks::default(), ' ')])
        {
            if marks != before {
                if before != InlineMarks::default() {
                    text.push(']');
                }
                let names = [(marks.is_bold, 'b'), (marks.is_italic, 'i'), (marks.is_code, 'c')];
                let names: String = names.iter().filter(|(is_so, _)| *is_so).map(|(_, name)| *name).collect();
                if !names.is_empty() {
                    text.extend(['['].into_iter().chain(names.chars()).chain([':']));
                }
                before = marks;
            }
            text.push(letter);
        }
        text.trim_end().to_owned()
    }

    #[test]
    fn marks_around_something_are_taken_and_others_shown() {
        for (line, expected) in [
            ("a **b** *c* `d*`", "a [b:b] [i:c] [c:d*]"),
            ("***both*** and **a *b* c**", "[bi:both] and [b:a ][bi:b][b: c]"),
            ("delete *.tmp and 2*3=6, 4*5", "delete *.tmp and 2*3=6, 4*5"),
            ("count(*) and **kwargs, it's `half", "count(*) and **kwargs, it's `half"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("**open", "**open"),
            ("a \\*b\\* ``c`d``", "a *b* [c:c`d]"),
            ("**** **", "**** **"),
            ("*a* *b*", "[i:a] [i:b]"),
            ("f(**x**)", "f([b:x])"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
        let kept: String = marked_letters("`a` b", true).iter().map(|(_, letter)| *letter).collect();
        assert_eq!(kept, "`a` b");
    }
}

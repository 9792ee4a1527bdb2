//! What edits open and close, told from their tokens: for texts that there is no syntax tree of.

use nudge_text::{Edits, InsertBias, Text};

use crate::Language;

/// Lines before and behind a place that are looked at.
const LINES: usize = 50;

/// What a piece of text leaves open and closes without having opened it.
#[derive(Debug, PartialEq, Eq, Default)]
struct Open {
    brackets: Vec<char>,
    /// Whether it begins a string that it does not end, by the mark.
    quotes: [bool; 2],
}

/// Whether as much is open after edits as before, as much is closed, and nothing is left without what belongs in it.
pub(crate) fn is_kept(language: Language, text: &Text, edits: &Edits) -> bool {
    let (mut before, mut after) = (Open::default(), Open::default());
    for edit in edits {
        before.go_on(&text.slice(edit.range.clone()));
        after.go_on(&edit.text);
    }
    before == after && !empties(language, text, edits)
}

/// Whether all between two brackets goes, or all that hangs on a line of Python.
pub(crate) fn empties(language: Language, text: &Text, edits: &Edits) -> bool {
    let mut going =
        edits.iter().filter(|edit| edit.text.trim().is_empty() && !edit.range.is_empty()).peekable();
    if going.peek().is_none() {
        return false;
    }
    let after = edits.apply(text);
    going.any(|edit| {
        let place = edits.map(edit.range.start, InsertBias::After);
        let line = after.line_of(place);
        let before = (0..=line).rev().take(LINES).find_map(|at| {
            let end = if at == line { place } else { after.line_end(at) };
            let piece = after.slice(after.line_start(at)..end).trim_end().to_owned();
            (!piece.trim().is_empty()).then_some(piece)
        });
        let behind = (line..after.line_count()).take(LINES).find_map(|at| {
            let start = if at == line { place } else { after.line_start(at) };
            let piece = after.slice(start..after.line_end(at)).into_owned();
            (!piece.trim().is_empty()).then_some(piece)
        });
        let (before, behind) = (before.unwrap_or_default(), behind.unwrap_or_default());
        let depth = |line: &str| line.len() - line.trim_start().len();
        match language {
            Language::Python => before.ends_with(':') && depth(&behind) <= depth(&before),
            _ => before.ends_with('{') && behind.trim_start().starts_with('}'),
        }
    })
}

impl Open {
    fn go_on(&mut self, piece: &str) {
        for char in piece.chars() {
            match char {
                ')' | ']' | '}' if self.brackets.last().copied() == opening(char) => {
                    self.brackets.pop();
                }
                '(' | '[' | '{' | ')' | ']' | '}' => self.brackets.push(char),
                '"' => self.quotes[0] ^= true,
                '`' => self.quotes[1] ^= true,
                _ => {}
            }
        }
    }
}

fn opening(closing: char) -> Option<char> {
    Some(match closing {
        ')' => '(',
        ']' => '[',
        '}' => '{',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use nudge_text::Edit;

    use super::*;

    #[test]
    fn what_is_opened_is_closed() {
        let text = Text::new("if (a) { go(\"b\"); }\n");
        let kept = |edits: &[(std::ops::Range<usize>, &str)]| {
            let edits = edits.iter().map(|(range, new)| Edit::new(range.clone(), *new)).collect();
            is_kept(Language::JavaScript, &text, &Edits::new(edits).unwrap())
        };
        assert!(kept(&[(4..5, "b(c)[0]")]));
        assert!(kept(&[(3..6, "(b)")]));
        assert!(kept(&[(9..9, "while (x) { "), (18..18, " }")]));
        assert!(!kept(&[(9..9, "while (x) { ")]));
        assert!(!kept(&[(3..6, "b)")]));
        assert!(!kept(&[(3..6, ")b(")]));
        assert!(!kept(&[(12..13, "")]));
        assert!(!kept(&[(18..19, "")]));
        assert!(!kept(&[(9..17, "")]), "nothing would be left between the brackets");
    }

    #[test]
    fn what_hangs_on_a_line_of_python_stays() {
        let text = Text::new("if a:\n    go()\nif b:\n    go()\n    rest()\n");
        let kept = |range| is_kept(Language::Python, &text, &Edits::one(range, ""));
        assert!(!kept(6..15));
        assert!(kept(21..30));
    }
}

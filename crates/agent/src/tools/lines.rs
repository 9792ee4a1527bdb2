//! Looking for a pattern in the lines of a file of any size, a block at a time.

use std::{borrow::Cow, io::Read};

use nudge_workspace::files::ReadError;
use regex::{Regex, RegexBuilder};

/// How much is looked at at once: whole lines, or a piece of a line that is longer.
const PIECE: usize = 1024 * 1024;
/// How much of a piece is looked at again with the next one, so that what lies across is found.
const OVERLAP: usize = 4096;
/// How much of a line is shown.
const SHOWN: usize = 300;
/// How much of that is before what was found, if the line is long.
const BEFORE: usize = 100;
/// After so many lines it is asked whether to go on.
const OFTEN: u64 = 1024;

/// What is looked for.
pub(super) struct SearchPattern {
    /// In one line.
    line: Regex,
    /// In many lines at once: where this is not found, the other is in none of them.
    block: Option<Regex>,
}

impl SearchPattern {
    /// A regular expression, unless it is none or takes more memory than it may.
    pub(super) fn new(text: &str, ignore_case: bool, size_limit: usize) -> Option<Self> {
        let mut builder = RegexBuilder::new(text);
        builder.case_insensitive(ignore_case).size_limit(size_limit);
        let line = builder.build().ok()?;
        // What is about the ends of a text, or sets flags, may mean something else in a block than in a line.
        let groups = text.split("(?").skip(1);
        let is_same = !text.contains(r"\A")
            && !text.contains(r"\z")
            && groups.into_iter().all(|group| group.starts_with([':', '<', 'P']));
        let block = if is_same { builder.multi_line(true).build().ok() } else { None };
        Some(Self { line, block })
    }

    /// Whether none of these lines has it, as far as that can be told at once.
    fn is_in_none_of(&self, lines: &str) -> bool {
        // Before a carriage return a line ends, for a line, but not for a block.
        self.block.as_ref().is_some_and(|block| !lines.contains('\r') && !block.is_match(lines))
    }
}

/// A line in which the pattern was found.
pub(super) struct FoundLine<'a> {
    pub(super) line: u64,
    pub(super) text: &'a str,
}

/// What the file was like.
#[derive(Debug, Default)]
pub(super) struct SeenFile {
    pub(super) is_not_utf8: bool,
    pub(super) has_long_lines: bool,
}

/// Gives every line that has the pattern, for as long as `take` wants more and it is not over.
pub(super) fn search(
    mut file: impl Read,
    pattern: &SearchPattern,
    is_over: &dyn Fn() -> bool,
    take: impl FnMut(FoundLine<'_>) -> bool,
) -> Result<SeenFile, ReadError> {
    let mut seen = SeenFile::default();
    let mut lines = Lines { pattern, is_over, take, line: 1, is_found: false };
    // What is in the block, and whether it has been looked at: a part of a line that goes on has.
    let (mut block, mut is_seen) = (Vec::new(), true);
    loop {
        let room = PIECE.saturating_sub(block.len());
        let read = file.by_ref().take(room as u64).read_to_end(&mut block)?;
        let is_last = read < room;
        if (read == 0 && is_seen) || is_over() {
            return Ok(seen);
        }
        if block.contains(&0) {
            return Err(ReadError::Binary);
        }
        let whole = if is_last { block.len() } else { end_of_lines(&block) };
        let text = if whole > 0 { &block[..whole] } else { whole_characters(&block) };
        let text = String::from_utf8_lossy(text);
        seen.is_not_utf8 |= matches!(text, Cow::Owned(_));
        seen.has_long_lines |= whole == 0;
        if !lines.look_at(&text) || is_last {
            return Ok(seen);
        }
        block.drain(..if whole > 0 { whole } else { overlap(&block) });
        is_seen = whole == 0 || block.is_empty();
    }
}

/// The lines of a file, as far as they have been looked at.
struct Lines<'a, T> {
    pattern: &'a SearchPattern,
    is_over: &'a dyn Fn() -> bool,
    take: T,
    /// The line that comes next, or goes on.
    line: u64,
    /// Whether the pattern was already found in it.
    is_found: bool,
}

impl<T: FnMut(FoundLine<'_>) -> bool> Lines<'_, T> {
    /// Looks at lines, of which the first may go on from before and the last may go on afterwards; `false` ends it.
    fn look_at(&mut self, text: &str) -> bool {
        if self.pattern.is_in_none_of(text) {
            let passed = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
            self.line += passed;
            self.is_found &= passed == 0;
            return true;
        }
        text.split_inclusive('\n').all(|line| self.look_at_line(line))
    }

    fn look_at_line(&mut self, line: &str) -> bool {
        let text = line.trim_end_matches(['\n', '\r']);
        if let Some(found) = self.pattern.line.find(text).filter(|_| !self.is_found) {
            self.is_found = true;
            if !(self.take)(FoundLine { line: self.line, text: around(text, found.start(), found.end()) }) {
                return false;
            }
        }
        if line.ends_with('\n') {
            (self.line, self.is_found) = (self.line + 1, false);
        }
        !self.line.is_multiple_of(OFTEN) || !(self.is_over)()
    }
}

/// Where the last line that is whole ends.
fn end_of_lines(block: &[u8]) -> usize {
    block.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// The piece of a line without a character at its end that is not whole, which comes again with the next one.
fn whole_characters(piece: &[u8]) -> &[u8] {
    match std::str::from_utf8(piece) {
        Err(error) if error.error_len().is_none() => &piece[..error.valid_up_to()],
        _ => piece,
    }
}

/// Where the part of a piece begins that is looked at again: with a whole character.
fn overlap(piece: &[u8]) -> usize {
    let start = piece.len().saturating_sub(OVERLAP);
    let is_inside = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    start + piece[start..].iter().take(3).take_while(is_inside).count()
}

/// What is shown of a line: its beginning, or where the pattern was found if that is further back.
fn around(text: &str, start: usize, end: usize) -> &str {
    let from = if end <= SHOWN { 0 } else { text.floor_char_boundary(start.saturating_sub(BEFORE)) };
    let to = text.floor_char_boundary((from + SHOWN).min(text.len()));
    text[from..to].trim_end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> SearchPattern {
        SearchPattern::new(text, false, 1024 * 1024).unwrap()
    }

    fn found(text: &[u8], text_of_pattern: &str) -> (Vec<(u64, String)>, bool, bool) {
        let mut found = Vec::new();
        let seen = search(text, &pattern(text_of_pattern), &|| false, |finding| {
            found.push((finding.line, finding.text.to_owned()));
            true
        });
        let seen = seen.unwrap();
        (found, seen.is_not_utf8, seen.has_long_lines)
    }

    fn check(text: &[u8], pattern: &str, expected: &[(u64, &str)]) {
        let expected: Vec<(u64, String)> =
            expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
        assert_eq!(found(text, pattern), (expected, false, false));
    }

    #[test]
    fn lines_are_counted_and_shown_once() {
        check(b"", "x", &[]);
        check(b"a\nxx x\r\n\nx", "x", &[(2, "xx x"), (4, "x")]);
        check(b"a\n\nb\n", "^$", &[(2, "")]);
        check(b"a \n", " $", &[(1, "a")]);
        let far = format!("{}needle{}", "a".repeat(5000), "b".repeat(5000));
        let shown = format!("{}needle{}", "a".repeat(100), "b".repeat(194));
        check(far.as_bytes(), "needle", &[(1, &shown)]);
    }

    #[test]
    fn a_line_of_any_length_is_looked_at_in_pieces() {
        for at in [PIECE - 7, PIECE - 3, PIECE, 2 * PIECE - OVERLAP - 3] {
            for filler in ["😀", "x"] {
                let mut text = filler.repeat(at / filler.len()).into_bytes();
                text.extend_from_slice("nädle".as_bytes());
                text.extend_from_slice(filler.repeat(PIECE / filler.len()).as_bytes());
                text.extend_from_slice(b"\nsecond needle");
                let (found, is_not_utf8, has_long_lines) = found(&text, "n(ä|ee)dle");
                let lines: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
                assert_eq!((lines, is_not_utf8, has_long_lines), (vec![1, 2], false, true), "{at} {filler}");
            }
        }
    }

    #[test]
    fn lines_are_whole_wherever_a_block_ends() {
        for length in [PIECE - 1, PIECE, PIECE + 1] {
            // The last line, without an end, lies across the end of the block.
            let mut text = "a\n".repeat(PIECE / 2 - 10);
            let lines = text.lines().count() as u64;
            text.push_str(&"b".repeat(length - text.len() - 1));
            text.push('c');
            let (found, _, has_long_lines) = found(text.as_bytes(), "^b+c$");
            assert_eq!((found.len(), found[0].0, has_long_lines), (1, lines + 1, false), "{length}");
        }
    }

    proptest! {
        /// Many lines at once or one by one: the same is found.
        #[test]
        fn a_block_hides_no_line(
            text in "[ab\\n\\r ]{0,40}",
            looked_for in prop::sample::select(vec![
                "a", "^a", "a$", "^$", "^a$", r"\Aa", r"a\z", "a.b", r"a\sb", "[^a]b", "(?i)A", "(?-m)^b", "(?:a|b)$", r"\bb", "a ",
            ]),
        ) {
            let whole = pattern(looked_for);
            let apart = SearchPattern { line: whole.line.clone(), block: None };
            let lines = |pattern: &SearchPattern| {
                let mut lines = Vec::new();
                let _ = search(text.as_bytes(), pattern, &|| false, |finding| { lines.push(finding.line); true });
                lines
            };
            prop_assert_eq!(lines(&whole), lines(&apart));
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        let binary = search(&b"b\n\0"[..], &pattern("b"), &|| false, |_| true);
        assert_eq!(binary.unwrap_err(), ReadError::Binary);
        let (lines, is_not_utf8, _) = found(b"caf\xe9 b\n", "b");
        assert_eq!((lines, is_not_utf8), (vec![(1, "caf\u{fffd} b".to_owned())], true));
    }
}

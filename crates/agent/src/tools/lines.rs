//! Looking for a pattern in the lines of a file of any size, a piece at a time.

use std::io::{self, BufRead, BufReader, Read};

use nudge_workspace::files::ReadError;
use regex::Regex;

/// The longest piece of a line that is looked at at once.
const PIECE: usize = 1024 * 1024;
/// How much of a piece is looked at again with the next one, so that what lies across is found.
const OVERLAP: usize = 4096;
const BUFFER: usize = 128 * 1024;
/// How much of a line is shown.
const SHOWN: usize = 300;
/// How much of that is before what was found, if the line is long.
const BEFORE: usize = 100;
/// After so many lines it is asked whether to go on.
const OFTEN: u64 = 1024;

/// A line in which the pattern was found.
pub(super) struct Finding<'a> {
    pub(super) line: u64,
    pub(super) text: &'a str,
}

/// What the file was like.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) is_not_utf8: bool,
    pub(super) has_long_lines: bool,
}

/// Gives every line that has the pattern, for as long as `take` wants more and it is not over.
pub(super) fn search(
    file: impl Read,
    pattern: &Regex,
    is_over: &dyn Fn() -> bool,
    mut take: impl FnMut(Finding<'_>) -> bool,
) -> Result<Seen, ReadError> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    if file.fill_buf()?.contains(&0) {
        return Err(ReadError::Binary);
    }
    let mut seen = Seen::default();
    let (mut line, mut is_found) = (1, false);
    let mut piece = Vec::new();
    while next_piece(&mut file, &mut piece)? {
        if piece.contains(&0) {
            return Err(ReadError::Binary);
        }
        let is_whole = piece.ends_with(b"\n");
        seen.has_long_lines |= !is_whole && piece.len() >= PIECE;
        let text = String::from_utf8_lossy(cut_back(&piece, is_whole));
        seen.is_not_utf8 |= matches!(text, std::borrow::Cow::Owned(_));
        let text = text.trim_end_matches(['\n', '\r']);
        if let Some(found) = pattern.find(text).filter(|_| !is_found) {
            is_found = true;
            if !take(Finding { line, text: around(text, found.start(), found.end()) }) {
                return Ok(seen);
            }
        }
        if is_whole {
            piece.clear();
            (line, is_found) = (line + 1, false);
        } else {
            piece.drain(..overlap(&piece));
        }
        if (!is_whole || line % OFTEN == 0) && is_over() {
            return Ok(seen);
        }
    }
    Ok(seen)
}

/// Adds the rest of the line, or as much of it as fits; `false` at the end of the file.
fn next_piece(file: &mut impl BufRead, piece: &mut Vec<u8>) -> io::Result<bool> {
    let room = PIECE.saturating_sub(piece.len()).max(1) as u64;
    Ok(file.take(room).read_until(b'\n', piece)? > 0)
}

/// A piece that ends in the middle of a line may end in the middle of a character, which comes again with the next one.
fn cut_back(piece: &[u8], is_whole: bool) -> &[u8] {
    match std::str::from_utf8(piece) {
        Err(error) if !is_whole && error.error_len().is_none() && piece.len() >= PIECE => {
            &piece[..error.valid_up_to()]
        }
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
    use super::*;

    fn found(text: &[u8], pattern: &str) -> (Vec<(u64, String)>, bool, bool) {
        let mut found = Vec::new();
        let pattern = Regex::new(pattern).unwrap();
        let seen = search(text, &pattern, &|| false, |finding| {
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
        for at in [PIECE - 7, PIECE - 3, PIECE, 2 * PIECE - OVERLAP - 3, 3 * PIECE] {
            for filler in ["ä", "😀", "x"] {
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
    fn what_is_no_text_is_told() {
        let pattern = Regex::new("b").unwrap();
        let binary = search(&b"b\n\0"[..], &pattern, &|| false, |_| true);
        assert_eq!(binary.unwrap_err(), ReadError::Binary);
        let (lines, is_not_utf8, _) = found(b"caf\xe9 b\n", "b");
        assert_eq!((lines, is_not_utf8), (vec![(1, "caf\u{fffd} b".to_owned())], true));
    }
}

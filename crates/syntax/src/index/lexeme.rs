//! Texts as the numbers that the model counts: tokens without their text, line breaks with their indentation.

use crate::token::is_word;

/// A token as the model knows it: what it says and whether space stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(u32);

/// Numbers below this are not hashes of texts.
const RESERVED: u32 = 256;
/// Indentations that differ by more count as differing by this much.
const FARTHEST: isize = 31;

impl TokenId {
    /// What stands before a file's first token.
    pub const START: Self = Self(0);

    /// A word, number or mark.
    pub fn of(text: &str, spaced: bool) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let folded = u32::try_from((hash ^ (hash >> 32)) & 0xffff_fffe).unwrap_or(0);
        Self(folded.max(RESERVED) | u32::from(spaced))
    }

    /// A line break: how much deeper the next line is than this one, and whether blank lines lie between.
    fn line_break(deeper: isize, blank: bool) -> Self {
        let shift = u32::try_from(deeper.clamp(-FARTHEST, FARTHEST) + FARTHEST).unwrap_or(0);
        Self(2 + shift * 2 + u32::from(blank))
    }

    /// For a line break: how much deeper the next line is, and whether blank lines lie between.
    pub fn as_line_break(self) -> Option<(isize, bool)> {
        if self == Self::START || self.0 >= RESERVED {
            return None;
        }
        let shift = isize::try_from((self.0 - 2) / 2).unwrap_or(FARTHEST);
        Some((shift - FARTHEST, self.0 % 2 == 1))
    }

    /// Whether space stands before it.
    pub fn is_spaced(self) -> bool {
        self.0 >= RESERVED && self.0 & 1 == 1
    }

    /// What it says, whatever stands before it.
    pub(crate) fn word(self) -> u32 {
        if self.0 < RESERVED { self.0 } else { self.0 & !1 }
    }
}

/// A token with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexeme {
    /// What it says.
    pub id: TokenId,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Reads a text from some place on. Space at the very end is left unread.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// How deep the line is that is being read.
    indent: usize,
}

impl<'a> Lexer<'a> {
    /// Reads from `at`, which lies on a line that is `indent` deep.
    pub fn new(text: &'a str, at: usize, indent: usize) -> Self {
        Self { text, at, indent }
    }

    /// Where it is.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The line break that the space up to `end` makes, if it makes one.
    pub fn break_to(&mut self, end: usize) -> Option<TokenId> {
        let (breaks, line) = breaks(self.text, self.at, end);
        self.at = end;
        if breaks == 0 {
            return None;
        }
        let indent = end - line;
        let deeper = isize::try_from(indent).unwrap_or(0) - isize::try_from(self.indent).unwrap_or(0);
        self.indent = indent;
        Some(TokenId::line_break(deeper, breaks > 1))
    }
}

impl Iterator for Lexer<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        let start = skip_space(self.text, self.at);
        if start >= self.text.len() {
            return None;
        }
        let space = self.at;
        if let Some(id) = self.break_to(start) {
            return Some(Lexeme { id, start: space, end: start });
        }
        self.at = token_end(self.text, start);
        let id = TokenId::of(&self.text[start..self.at], start > space);
        Some(Lexeme { id, start, end: self.at })
    }
}

/// How many line breaks there are in `start..end` and where the last of them ends.
fn breaks(text: &str, start: usize, end: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let (mut count, mut line) = (0, start);
    for at in start..end {
        if bytes[at] == b'\n' || bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
            count += 1;
            line = at + 1;
        }
    }
    (count, line)
}

/// Where the space that begins at `at` ends.
pub fn skip_space(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() {
            if !(byte == b' ' || (9..=13).contains(&byte)) {
                break;
            }
            at += 1;
        } else {
            match text[at..].chars().next() {
                Some(c) if c.is_whitespace() => at += c.len_utf8(),
                _ => break,
            }
        }
    }
    at
}

/// Where the token that begins at `start` ends; the same tokens as in [`crate::token`].
fn token_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes[start].is_ascii_digit() {
        let mut at = word_end(text, start);
        while bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            at = word_end(text, at + 1);
        }
        return at;
    }
    let end = word_end(text, start);
    if end > start { end } else { start + text[start..].chars().next().map_or(1, char::len_utf8) }
}

/// Where the name that begins at `at` ends; `at` itself if none does.
fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() {
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$') {
                break;
            }
            at += 1;
        } else {
            match text[at..].chars().next() {
                Some(c) if is_word(c) => at += c.len_utf8(),
                _ => break,
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::solid;

    #[test]
    fn tokens_are_those_of_everyone_else() {
        let text = "let größe = 1.5e3.max(0xff) // αβγ…\n\r\n\tfoo$bar\u{a0}+= 'x';\r  y";
        let found: Vec<_> = Lexer::new(text, 0, 0)
            .filter(|l| l.id.as_line_break().is_none())
            .map(|l| l.start..l.end)
            .collect();
        let expected: Vec<_> = solid(text).into_iter().map(|token| token.range).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn line_breaks_know_the_indentation() {
        let found: Vec<_> =
            Lexer::new("a\n    b\n\n  c\r\nd", 0, 0).filter_map(|l| l.id.as_line_break()).collect();
        assert_eq!(found, [(4, false), (-2, true), (-2, false)]);
    }

    #[test]
    fn space_makes_another_token_of_the_same_word() {
        let (close, apart) = (TokenId::of("x", false), TokenId::of("x", true));
        assert_ne!(close, apart);
        assert_eq!(close.word(), apart.word());
        assert!(apart.is_spaced() && !close.is_spaced());
    }
}

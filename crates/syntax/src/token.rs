//! Texts as tokens, the same way for every language.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    /// A number, with what belongs to it: `1.5e3`, `0xff`, `10px`.
    Number,
    /// Blanks and tabs, line breaks too.
    Space,
    /// Any other single character.
    Mark,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is, in bytes of what was tokenised.
    pub range: Range<usize>,
}

impl Token {
    /// What it says.
    pub fn text<'a>(&self, of: &'a str) -> &'a str {
        &of[self.range.clone()]
    }
}

/// Cuts a text into tokens that cover it without a gap.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::with_capacity(text.len() / 3 + 1);
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        let kind = kind_of(first);
        let mut end = start + first.len_utf8();
        while let Some(&(at, next)) = chars.peek() {
            let goes_on = match kind {
                TokenKind::Word => is_word(next),
                TokenKind::Number => is_word(next) || (next == '.' && digit_follows(text, at + 1)),
                TokenKind::Space => next.is_whitespace(),
                TokenKind::Mark => false,
            };
            if !goes_on {
                break;
            }
            end = at + next.len_utf8();
            chars.next();
        }
        found.push(Token { kind, range: start..end });
    }
    found
}

/// The tokens that are not space.
pub fn solid(text: &str) -> Vec<Token> {
    let mut found = tokens(text);
    found.retain(|token| token.kind != TokenKind::Space);
    found
}

fn kind_of(first: char) -> TokenKind {
    if first.is_ascii_digit() {
        TokenKind::Number
    } else if is_word(first) {
        TokenKind::Word
    } else if first.is_whitespace() {
        TokenKind::Space
    } else {
        TokenKind::Mark
    }
}

/// Whether a character can be part of a name.
pub fn is_word(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}

fn digit_follows(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

/// A range of `text` with what of words it begins and ends in.
pub fn word_around(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].trim_end_matches(is_word).len();
    start..text.len() - text[range.end..].trim_start_matches(is_word).len()
}

/// Whether the piece of `text` at `range` stands alone: no name goes on before or after it.
pub fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let inner = &text[range.clone()];
    let before = text[..range.start].chars().next_back();
    let after = text[range.end..].chars().next();
    let joins = |a: Option<char>, b: Option<char>| a.is_some_and(is_word) && b.is_some_and(is_word);
    !joins(before, inner.chars().next()) && !joins(inner.chars().next_back(), after)
}

//! What stands before the cursor and what is thought to follow, token by token.

use nudge_syntax::{CONTEXT_DEPTH, Lexeme, TokenId};

use super::place::{TypingPlace, is_break};

/// A text that grows at its end.
pub(super) struct CompletionDraft<'a> {
    pub(super) place: &'a TypingPlace<'a>,
    /// From the start of what is looked at.
    text: String,
    /// The tokens in it; their places are those in `text`.
    pub(super) lexemes: Vec<Lexeme>,
    /// The last tokens, the nearest first.
    context: Vec<TokenId>,
    /// How deep the last line is.
    indent: String,
}

impl<'a> CompletionDraft<'a> {
    /// What stands before the cursor.
    pub(super) fn new(place: &'a TypingPlace<'a>) -> Self {
        let moved = |lexeme: &Lexeme| Lexeme {
            start: lexeme.start - place.from,
            end: lexeme.end - place.from,
            ..*lexeme
        };
        Self {
            place,
            text: place.content[place.from..place.cursor].to_owned(),
            lexemes: place.lexemes.iter().map(moved).collect(),
            context: place.lexemes.iter().rev().take(CONTEXT_DEPTH).map(|lexeme| lexeme.id).collect(),
            indent: place.indent.to_owned(),
        }
    }

    /// The last tokens, the nearest first.
    pub(super) fn context(&self) -> &[TokenId] {
        &self.context
    }

    /// What a token of it says.
    pub(super) fn text_of(&self, lexeme: &Lexeme) -> &str {
        &self.text[lexeme.start..lexeme.end]
    }

    /// What stands behind its last token: space, or a word that is not finished.
    pub(super) fn open(&self) -> &str {
        &self.text[self.lexemes.last().map_or(0, |last| last.end)..]
    }

    /// What was added.
    pub(super) fn added(&self) -> &str {
        self.text.get(self.place.cursor - self.place.from..).unwrap_or("")
    }

    /// The end of the text, from the last so many tokens on, without a line break at its very end.
    pub(super) fn needle(&self, tokens: usize) -> Option<&[u8]> {
        let mut upto = self.lexemes.len();
        let mut end = self.text.len();
        if let Some(last) = self.lexemes.last().filter(|last| is_break(last.id)) {
            upto -= 1;
            end = last.start;
        }
        let solid = self.lexemes[..upto].iter().rev().take(tokens).take_while(|lexeme| !is_break(lexeme.id));
        let start = solid.last()?.start;
        self.text.as_bytes().get(start..end).filter(|needle| !needle.is_empty())
    }

    /// Whether a token can come next: it fits to what is typed of it.
    pub(super) fn accepts(&self, id: TokenId, text: &str) -> bool {
        let at_start = self.lexemes.last().is_some_and(|last| is_break(last.id));
        if id.as_line_break().is_some() {
            return !at_start && self.open().is_empty();
        }
        let spaced = id.is_spaced();
        if self.open().is_empty() {
            return !(at_start && spaced);
        }
        spaced == self.place.spaced && text.starts_with(self.place.typed)
    }

    /// Adds a token. `false` if it cannot be added.
    pub(super) fn push(&mut self, id: TokenId, text: &str) -> bool {
        let start;
        if let Some((deeper, blank)) = id.as_line_break() {
            start = self.text.len();
            if !self.indent_by(deeper) {
                return false;
            }
            self.text.push_str(if blank { "\n\n" } else { "\n" });
            self.text.push_str(&self.indent);
        } else {
            let typed = if self.open().is_empty() { "" } else { self.place.typed };
            if self.open().is_empty() && id.is_spaced() {
                self.text.push(' ');
            }
            start = self.text.len() - typed.len();
            self.text.push_str(text.strip_prefix(typed).unwrap_or(text));
        }
        self.lexemes.push(Lexeme { id, start, end: self.text.len() });
        self.context.insert(0, id);
        self.context.truncate(CONTEXT_DEPTH);
        true
    }

    fn indent_by(&mut self, deeper: isize) -> bool {
        let Ok(less) = usize::try_from(-deeper) else {
            let unit = if self.indent.starts_with('\t') || self.indent.is_empty() && deeper == 1 {
                '\t'
            } else {
                ' '
            };
            self.indent.extend(std::iter::repeat_n(unit, deeper.unsigned_abs()));
            return true;
        };
        let left = self.indent.len().checked_sub(less).filter(|left| self.indent.is_char_boundary(*left));
        self.indent.truncate(left.unwrap_or(0));
        left.is_some()
    }
}

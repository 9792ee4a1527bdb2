//! Where something is being typed, and what stands around it.

use std::ops::Range;

use nudge_syntax::{Lexeme, Lexer, TokenId, skip_space, token::is_word};

use crate::Scene;

/// How far back a place is looked at, in bytes and in lines.
const MOST_BYTES: usize = 3000;
const MOST_LINES: usize = 16;

/// Whoever types a longer word than this is not to be helped.
const LONGEST_WORD: usize = 80;

/// What an editor may have closed by itself behind the cursor.
const CLOSERS: &str = ")]}>;,\"'`";

/// A place where something is being typed.
pub(super) struct TypingPlace<'a> {
    pub(super) content: &'a str,
    pub(super) cursor: usize,
    /// Where what is looked at begins.
    pub(super) from: usize,
    /// The tokens from there to the cursor, without the word that is being typed.
    pub(super) lexemes: Vec<Lexeme>,
    /// The word that is being typed, as far as it goes.
    pub(super) typed: &'a str,
    /// Whether there is space between the last token and the cursor or the word being typed.
    pub(super) spaced: bool,
    /// What stands behind the cursor on its line.
    pub(super) closers: &'a str,
    /// How the line begins.
    pub(super) indent: &'a str,
}

impl<'a> TypingPlace<'a> {
    /// The place of the cursor, if something is being typed there.
    pub(super) fn of(scene: &Scene<'a>) -> Option<Self> {
        let content = scene.source.content();
        let cursor = scene.cursor;
        if scene.selection.is_some_and(|range| !range.is_empty()) || !content.is_char_boundary(cursor) {
            return None;
        }
        let (before, after) = content.split_at(cursor);
        let closers = after[..line_end(after)].trim();
        if !closers.chars().all(|c| CLOSERS.contains(c)) || !is_typed(scene) {
            return None;
        }
        let from = window(before);
        let typed = &before[before.trim_end_matches(is_word).len()..];
        if typed.len() > LONGEST_WORD {
            return None;
        }
        let word = cursor - typed.len();
        let mut lexer = Lexer::new(&content[..word], from, indent_at(content, from).len());
        let mut lexemes: Vec<Lexeme> = Vec::new();
        if from == 0 {
            lexemes.push(Lexeme { id: TokenId::START, start: 0, end: 0 });
        }
        lexemes.extend(lexer.by_ref());
        let start = lexer.at();
        if let Some(id) = lexer.break_to(word) {
            lexemes.push(Lexeme { id, start, end: word });
        }
        let spaced = lexemes.last().is_some_and(|last| last.end < word);
        let indent = indent_at(content, line_start(before));
        Some(Self { content, cursor, from, lexemes, typed, spaced, closers, indent })
    }

    /// What is being typed: the word before the cursor and the rest of the line.
    pub(super) fn gap(&self) -> Range<usize> {
        self.cursor - self.typed.len()..self.cursor + line_end(&self.content[self.cursor..])
    }

    /// Whether nothing but space stands before the cursor on its line.
    pub(super) fn is_blank(&self) -> bool {
        self.typed.is_empty() && self.lexemes.last().is_none_or(|last| is_break(last.id))
    }

    /// Whether the line is a comment, as most languages write them.
    pub(super) fn is_prose(&self) -> bool {
        let line = self.content[line_start(&self.content[..self.cursor])..self.cursor].trim_start();
        ["//", "/*", "*", "# ", "<!--", "\"\"\""].iter().any(|mark| line.starts_with(mark))
    }

    /// The first line below the cursor's that is not blank, without the space around it.
    pub(super) fn next_line(&self) -> &'a str {
        let after = &self.content[self.cursor..];
        let below = &after[line_end(after)..];
        let start = skip_space(below, 0);
        below[start..start + line_end(&below[start..])].trim_end()
    }
}

/// Whether a token ends a line, or there is none before it.
pub(super) fn is_break(id: TokenId) -> bool {
    id == TokenId::START || id.as_line_break().is_some()
}

/// Whether the newest change is at the cursor and made by keys that put something there: what came in one piece is
/// complete, and who takes away does not want more.
fn is_typed(scene: &Scene<'_>) -> bool {
    let Some(change) = scene.changes.last() else { return false };
    if *change.uri != **scene.source.uri() || change.touched.is_empty() || change.pasted {
        return false;
    }
    let line = scene.source.text().line_of(scene.cursor);
    if change.open {
        return (change.line..change.line + change.after_lines).contains(&line);
    }
    let upto = change.after.get(..change.touched.end).unwrap_or(&change.after);
    let end = change.line + memchr::memchr_iter(b'\n', upto.as_bytes()).count();
    if end != line {
        return false;
    }
    let column = upto.len() - upto.rfind('\n').map_or(0, |at| at + 1);
    let end = scene.source.text().line_start(line) + column;
    // Where a bracket was typed before its like, the change may seem to end behind that.
    let between = scene.source.content().get(scene.cursor.min(end)..scene.cursor.max(end));
    between.is_some_and(|between| between.chars().all(|c| CLOSERS.contains(c)))
}

/// Where to begin to look at what stands before a place: if possible at the start of a line.
fn window(before: &str) -> usize {
    let nearest = before.len().saturating_sub(MOST_BYTES);
    let mut found = before.ceil_char_boundary(nearest);
    let mut at = before.len();
    for _ in 0..MOST_LINES {
        let start = line_start(&before[..at]);
        if start < nearest {
            break;
        }
        found = start;
        if start == 0 {
            break;
        }
        at = start - 1;
    }
    found
}

/// Where the last line of a text begins.
pub(super) fn line_start(text: &str) -> usize {
    memchr::memrchr2(b'\n', b'\r', text.as_bytes()).map_or(0, |at| at + 1)
}

/// Where the first line of a text ends.
pub(super) fn line_end(text: &str) -> usize {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).unwrap_or(text.len())
}

/// The space that the line at `start` begins with.
pub(super) fn indent_at(text: &str, start: usize) -> &str {
    let line = &text[start..start + line_end(&text[start..])];
    &line[..line.len() - line.trim_start().len()]
}

//! Places in open documents that have the same text before them as the cursor.

use std::ops::Range;

use memchr::memmem;
use nudge_syntax::{CONTEXT_DEPTH, Lexeme, Lexer, TokenId, skip_space, token::is_word};

use super::{
    draft::CompletionDraft,
    place::{is_break, line_start},
};

/// A place in a document that the draft leads to.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearbyHit {
    /// What comes there.
    pub(super) next: Lexeme,
    /// How many tokens are the same before it.
    pub(super) order: usize,
}

/// How far from the gap a single token is looked for, in bytes.
const NARROW: usize = 16 * 1024;

/// Finds the places in `text` that the draft leads to, those nearest before `gap` first, then those nearest behind it.
/// Nothing inside the gap is found. At most `most` are found on either side.
pub(super) fn hits(
    text: &str,
    gap: &Range<usize>,
    draft: &CompletionDraft<'_>,
    most: usize,
    found: &mut Vec<NearbyHit>,
) {
    for (tokens, room) in [(2, usize::MAX), (1, NARROW)] {
        let Some(needle) = draft.needle(tokens) else { return };
        let finder = memmem::Finder::new(needle);
        let from = gap.start.saturating_sub(room);
        let ends: Vec<usize> =
            finder.find_iter(&text.as_bytes()[from..gap.start]).map(|at| from + at + needle.len()).collect();
        // What stands before the gap may be found too, and leads into it.
        let is_outside = |hit: &NearbyHit| hit.next.start < gap.start;
        let before = ends.iter().rev().filter_map(|end| hit(text, *end, draft)).filter(is_outside);
        found.extend(before.take(most));
        let upto = gap.end.saturating_add(room).min(text.len());
        let ends = finder.find_iter(&text.as_bytes()[gap.end..upto]).map(|at| gap.end + at + needle.len());
        found.extend(ends.filter_map(|end| hit(text, end, draft)).take(most / 2));
        if found.len() > 2 {
            return;
        }
    }
}

/// What is at the place behind a needle that ends at `end`.
fn hit(text: &str, end: usize, draft: &CompletionDraft<'_>) -> Option<NearbyHit> {
    let last = draft.lexemes.last()?;
    let breaks = is_break(last.id);
    // Where the last token of the draft ends here; a needle stops before a line break.
    let end = if breaks { end } else { end - draft.open().len() };
    if !text.is_char_boundary(end) || joins(text, end) {
        return None;
    }
    let mut lexer = Lexer::new(text, end, indent_of(text, end));
    let mut next = lexer.next()?;
    let mut order = 0;
    if breaks {
        if next.id != last.id {
            return None;
        }
        next = lexer.next()?;
        order = 1;
    }
    order += same_before(text, end, draft, order);
    (order > 0).then_some(NearbyHit { next, order })
}

/// Whether a name goes on at `at`.
fn joins(text: &str, at: usize) -> bool {
    text[..at].ends_with(is_word) && text[at..].starts_with(is_word)
}

/// How many tokens before `end` are those of the draft, of which the last `skipped` are not looked at.
fn same_before(text: &str, end: usize, draft: &CompletionDraft<'_>, skipped: usize) -> usize {
    let mut at = end;
    let mut count = 0;
    for lexeme in draft.lexemes.iter().rev().skip(skipped).take(CONTEXT_DEPTH - skipped) {
        let space = space_before(text, at);
        if is_break(lexeme.id) {
            let same = if lexeme.id == TokenId::START {
                space == 0
            } else {
                break_between(text, space, at) == Some(lexeme.id)
            };
            if !same || lexeme.id == TokenId::START {
                return count + usize::from(same);
            }
            at = space;
        } else {
            let said = draft.text_of(lexeme);
            if !text[..at].ends_with(said) || joins(text, at - said.len()) {
                return count;
            }
            at -= said.len();
            let space = space_before(text, at);
            let spaced = space < at && !text[space..at].contains(['\n', '\r']);
            if spaced != lexeme.id.is_spaced() {
                return count;
            }
            if spaced {
                at = space;
            }
        }
        count += 1;
    }
    count
}

/// Where the space that ends at `at` begins.
fn space_before(text: &str, at: usize) -> usize {
    text[..at].trim_end().len()
}

/// The line break that the space `start..end` is.
fn break_between(text: &str, start: usize, end: usize) -> Option<TokenId> {
    if start == end || skip_space(text, start) < end {
        return None;
    }
    Lexer::new(text, start, indent_of(text, start)).break_to(end)
}

/// How deep the line of a place is.
fn indent_of(text: &str, at: usize) -> usize {
    let line = &text[line_start(&text[..at])..];
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

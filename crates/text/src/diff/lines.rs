//! The lines in which two texts differ.

use std::{borrow::Cow, ops::Range};

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::{Edit, Edits, Text};

/// How many equal lines around what differs are looked at. A hunk can slide over them to where it reads better.
const MARGIN: usize = 100;

/// A run of lines that differ, counted from zero. Lines differ also if only their breaks do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LineHunk {
    /// The lines before.
    pub old: Range<usize>,
    /// The lines after.
    pub new: Range<usize>,
}

/// The lines in which two texts differ, in order; between two hunks there is at least one line in common.
pub fn lines(old: &Text, new: &Text) -> Vec<LineHunk> {
    if old == new {
        return Vec::new();
    }
    let same = SameEdges::of(old, new);
    let (old_tail, new_tail) = (old.line_count() - same.below, new.line_count() - same.below);
    let (old_part, new_part) = (part(old, same.above, old_tail), part(new, same.above, new_tail));
    let last = same.below == 0;
    let hunks = compare(split(&old_part, last), split(&new_part, last));
    hunks.into_iter().map(|hunk| hunk.moved(same.above)).collect()
}

/// What makes `new` of `old`, line by line and no larger than needed.
pub fn edits(old: &Text, new: &Text) -> Edits {
    let mut edits = Edits::default();
    for hunk in lines(old, new) {
        let range = span(old, &hunk.old);
        edits.push(Edit::new(range, new.slice(span(new, &hunk.new))));
    }
    edits.trimmed(old)
}

impl LineHunk {
    fn moved(self, by: usize) -> Self {
        let Self { old, new } = self;
        Self { old: old.start + by..old.end + by, new: new.start + by..new.end + by }
    }
}

/// The hunks between two lists of tokens.
pub(super) fn compare<'a>(
    old: impl Iterator<Item = &'a str>,
    new: impl Iterator<Item = &'a str>,
) -> Vec<LineHunk> {
    let mut input = InternedInput::default();
    input.update_before(old);
    input.update_after(new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| LineHunk { old: range(hunk.before), new: range(hunk.after) }).collect()
}

/// How many lines at both ends two texts have in common, less a margin.
struct SameEdges {
    above: usize,
    below: usize,
}

impl SameEdges {
    fn of(old: &Text, new: &Text) -> Self {
        let front = same_front(old, new);
        let shorter = old.len().min(new.len());
        let back = same_back(old, new).min(shorter - front);
        // A line is in common if all of it is, its break included.
        let above = old.line_of(front).min(new.line_of(front));
        let below = |text: &Text| text.line_count() - 1 - text.line_of(text.len() - back);
        let below = below(old).min(below(new));
        Self { above: above.saturating_sub(MARGIN), below: below.saturating_sub(MARGIN) }
    }
}

/// How many bytes two texts share at their beginning.
fn same_front(old: &Text, new: &Text) -> usize {
    let mut at = 0;
    loop {
        let (a, b) = (piece(old, at), piece(new, at));
        let len = a.len().min(b.len());
        if len == 0 || a[..len] != b[..len] {
            return at + a.iter().zip(b).take_while(|(a, b)| a == b).count();
        }
        at += len;
    }
}

/// How many bytes two texts share at their end.
fn same_back(old: &Text, new: &Text) -> usize {
    let mut back = 0;
    loop {
        let (a, b) = (piece_before(old, old.len() - back), piece_before(new, new.len() - back));
        let len = a.len().min(b.len());
        if len == 0 || a[a.len() - len..] != b[b.len() - len..] {
            return back + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        }
        back += len;
    }
}

/// The bytes of a chunk from an offset on, which may lie in a code point.
fn piece(text: &Text, offset: usize) -> &[u8] {
    let (chunk, begin, _, _) = text.rope.chunk_at_byte(offset);
    &chunk.as_bytes()[offset - begin..]
}

/// The bytes of a chunk up to an offset.
fn piece_before(text: &Text, offset: usize) -> &[u8] {
    let (chunk, begin, _, _) = text.rope.chunk_at_byte(offset.saturating_sub(1));
    &chunk.as_bytes()[..offset - begin]
}

fn span(text: &Text, lines: &Range<usize>) -> Range<usize> {
    text.line_start(lines.start)..text.line_start(lines.end)
}

fn part(text: &Text, from: usize, to: usize) -> Cow<'_, str> {
    text.slice(span(text, &(from..to)))
}

/// The lines of a part of a text with their breaks; with the `last` line of the text also if that is empty.
pub(crate) fn split(part: &str, last: bool) -> impl Iterator<Item = &str> {
    let mut rest = Some(part);
    std::iter::from_fn(move || {
        let text = rest?;
        let bytes = text.as_bytes();
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')).map(|at| match &bytes[at..] {
            [b'\r', b'\n', ..] => at + 2,
            _ => at + 1,
        });
        if let Some(end) = end {
            rest = Some(&text[end..]);
            return Some(&text[..end]);
        }
        rest = None;
        (last || !text.is_empty()).then_some(text)
    })
}

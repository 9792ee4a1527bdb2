//! Edits as values: applied, undone, joined, and places carried through them.

use std::{ops::Range, slice};

use thiserror::Error;

use crate::Text;

/// One replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, in bytes of the old text.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub text: String,
}

impl Edit {
    /// Puts `text` in the place of `range`.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }
}

/// Replacements that happen at one time, in the order of the text. They may touch but not overlap.
///
/// All ranges are those of the text before any of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edits(Vec<Edit>);

/// Why replacements cannot happen at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EditsError {
    /// A range ends before it starts.
    #[error("an edit ends at {end}, before its start at {start}")]
    Reversed {
        /// Where it starts.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// Two ranges have bytes in common.
    #[error("an edit ends at {end}, after the next one has started at {start}")]
    Overlap {
        /// Where the first ends.
        end: usize,
        /// Where the second starts.
        start: usize,
    },
}

/// To which side of an insertion a place belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InsertBias {
    /// It stays before what is inserted there.
    Before,
    /// It moves behind what is inserted there.
    After,
}

impl Edits {
    /// Edits in any order. Insertions at the same place are joined in the order given; what does nothing is left out.
    pub fn new(mut edits: Vec<Edit>) -> Result<Self, EditsError> {
        for Edit { range: Range { start, end }, .. } in &edits {
            if start > end {
                return Err(EditsError::Reversed { start: *start, end: *end });
            }
        }
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        for pair in edits.windows(2) {
            let (end, start) = (pair[0].range.end, pair[1].range.start);
            if end > start {
                return Err(EditsError::Overlap { end, start });
            }
        }
        let mut sorted = Self::default();
        for edit in edits {
            sorted.push(edit);
        }
        Ok(sorted)
    }

    /// One edit. A range that ends before it starts is taken as empty.
    pub fn one(range: Range<usize>, text: impl Into<String>) -> Self {
        let mut edits = Self::default();
        edits.push(Edit::new(range.start..range.end.max(range.start), text));
        edits
    }

    /// The edits in the order of the text.
    pub fn iter(&self) -> slice::Iter<'_, Edit> {
        self.0.iter()
    }

    /// The edits in the order of the text.
    pub fn as_slice(&self) -> &[Edit] {
        &self.0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with the edits made.
    pub fn apply(&self, text: &Text) -> Text {
        let mut text = text.clone();
        self.apply_to(&mut text);
        text
    }

    /// Makes the edits.
    pub(crate) fn apply_to(&self, text: &mut Text) {
        // From the back, so that the ranges to come stay true.
        for edit in self.0.iter().rev() {
            text.replace(edit.range.clone(), &edit.text);
        }
    }

    /// Whether all edits lie inside the text and cut no code point.
    pub fn fits(&self, text: &Text) -> bool {
        self.iter().all(|edit| text.is_boundary(edit.range.start) && text.is_boundary(edit.range.end))
    }

    /// Where an offset of the old text lies in the new one.
    ///
    /// The start of a replaced range stays at its start and the end at its end; what lies inside goes to one of them.
    pub fn map(&self, offset: usize, bias: InsertBias) -> usize {
        let mut mapped = offset;
        for (edit, start) in self.with_new_starts() {
            if offset < edit.range.start {
                break;
            }
            let end = start + edit.text.len();
            if offset >= edit.range.end
                && (bias == InsertBias::After || !edit.range.is_empty() || offset > edit.range.end)
            {
                mapped = end + (offset - edit.range.end);
            } else {
                let inside = offset > edit.range.start;
                return if inside && bias == InsertBias::After { end } else { start };
            }
        }
        mapped
    }

    /// Where a range of the old text lies in the new one. What is inserted at its edges stays outside; a range whose
    /// text is gone becomes empty.
    pub fn map_range(&self, range: Range<usize>) -> Range<usize> {
        let end = self.map(range.end, InsertBias::Before);
        let start = if range.is_empty() { end } else { self.map(range.start, InsertBias::After) };
        start.min(end)..end
    }

    /// The same effect with smaller ranges: what an edit has in common with the text at its edges is left alone, and
    /// so is the whole edit if it changes nothing. No edge is moved between `\r` and `\n`.
    pub fn trimmed(&self, before: &Text) -> Self {
        let mut trimmed = Self::default();
        for edit in self {
            if edit.range.is_empty() || edit.text.is_empty() {
                trimmed.push(edit.clone());
                continue;
            }
            let old = before.slice(edit.range.clone());
            let (front, back) = common_edges(&old, &edit.text, before, &edit.range);
            let range = edit.range.start + front..edit.range.end - back;
            trimmed.push(Edit::new(range, &edit.text[front..edit.text.len() - back]));
        }
        trimmed
    }

    /// Appends an edit that lies behind all others.
    pub(crate) fn push(&mut self, edit: Edit) {
        if edit.range.is_empty() && edit.text.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.range == edit.range && edit.range.is_empty() => last.text.push_str(&edit.text),
            _ => self.0.push(edit),
        }
    }

    /// Each edit with the place where its text begins in the new text.
    pub(crate) fn with_new_starts(&self) -> impl Iterator<Item = (&Edit, usize)> {
        // In the order of the text no step takes the sum below zero.
        let (mut removed, mut added) = (0, 0);
        self.0.iter().map(move |edit| {
            let start = edit.range.start + added - removed;
            removed += edit.range.len();
            added += edit.text.len();
            (edit, start)
        })
    }
}

impl<'a> IntoIterator for &'a Edits {
    type Item = &'a Edit;
    type IntoIter = slice::Iter<'a, Edit>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Edit> for Edits {
    fn from(edit: Edit) -> Self {
        Self::one(edit.range, edit.text)
    }
}

/// How many bytes `old` and `new` share at their beginning, on a code point boundary.
pub(crate) fn common_prefix(old: &str, new: &str) -> usize {
    let equal = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    old.floor_char_boundary(equal)
}

/// How many bytes `old` and `new` share at their end, on a code point boundary.
pub(crate) fn common_suffix(old: &str, new: &str) -> usize {
    let equal = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    old.len() - old.ceil_char_boundary(old.len() - equal)
}

/// The bytes in common at both edges of an edit of `range`, such that neither edge comes to lie inside a line break.
fn common_edges(old: &str, new: &str, before: &Text, range: &Range<usize>) -> (usize, usize) {
    let mut front = common_prefix(old, new);
    if front > 0 && old.as_bytes()[front - 1] == b'\r' {
        let follows = |text: &str| text.as_bytes().get(front).copied().or_else(|| before.byte(range.end));
        if follows(old) == Some(b'\n') || follows(new) == Some(b'\n') {
            front -= 1;
        }
    }
    let mut back = common_suffix(&old[front..], &new[front..]);
    if back > 0 && old.as_bytes()[old.len() - back] == b'\n' {
        let precedes = |text: &str| match text.len().checked_sub(back + 1) {
            Some(at) => Some(text.as_bytes()[at]),
            None => before.byte_before(range.start),
        };
        if precedes(old) == Some(b'\r') || precedes(new) == Some(b'\r') {
            back -= 1;
        }
    }
    (front, back)
}

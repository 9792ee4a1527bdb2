//! What the user refused, and where.
//!
//! Each place is carried along through the changes of its document, so that what happens around it does not matter: the same
//! is refused there for as long as it would replace the same text.

use std::{borrow::Cow, collections::VecDeque, hash::BuildHasher, ops::Range, sync::Arc};

use nudge_text::{Edit, Edits, InsertBias, Text, diff};
use rustc_hash::FxBuildHasher;

use crate::effect::{EffectPiece, MAX_COMPARED, PieceSort, SuggestionEffect, TextEffect};

/// Documents whose places are remembered.
const MAX_DOCUMENTS: usize = 32;
/// Bytes of such documents.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Lines of one document that are remembered.
const MAX_LINES: usize = 512;

/// What was refused, by document; the document of the last refusal is the last.
#[derive(Debug, Clone, Default)]
pub(crate) struct RefusedSuggestions(VecDeque<Document>);

#[derive(Clone)]
struct Document {
    uri: Arc<str>,
    /// The text that the places are in.
    text: Text,
    lines: VecDeque<Line>,
}

/// What was refused on one line, at one time.
type Line = Vec<Place>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// For what was to be inserted: all that was put there since.
    range: Range<usize>,
    becomes: u64,
    sort: PieceSort,
    /// The line as it was when the place was taken away, in case it is put back.
    taken: Option<u64>,
}

impl RefusedSuggestions {
    /// Remembers what was refused.
    pub(crate) fn remember(&mut self, effect: &SuggestionEffect) {
        for part in effect.parts.iter().filter(|part| !part.pieces.is_empty()) {
            let lines = part.pieces.chunk_by(|a, b| a.line == b.line);
            let lines = lines.map(|line| line.iter().map(Place::of).collect()).collect();
            let mut new = Document { uri: part.uri.clone(), text: part.text.clone(), lines };
            if let Some(at) = self.0.iter().position(|document| document.uri == part.uri)
                && let Some(known) = self.0.remove(at)
            {
                new.follow(&known.text);
                let mut lines = known.lines;
                lines.retain(|line| !new.lines.contains(line));
                lines.append(&mut new.lines);
                new.lines = lines;
            }
            let too_many = new.lines.len().saturating_sub(MAX_LINES);
            new.lines.drain(..too_many);
            self.0.push_back(new);
        }
        let bytes = |documents: &VecDeque<Document>| documents.iter().map(|it| it.text.len()).sum::<usize>();
        while self.0.len() > MAX_DOCUMENTS || (self.0.len() > 1 && bytes(&self.0) > MAX_BYTES) {
            self.0.pop_front();
        }
    }

    /// Whether something may have been refused on the lines of a range, which takes less time to say than what.
    pub(crate) fn is_near(&self, uri: &str, text: &Text, range: &Range<usize>) -> bool {
        let Some(document) = self.0.iter().find(|document| *document.uri == *uri) else { return false };
        let (start, end) = (text.line_of(range.start), text.line_of(range.end));
        let (start, end) = (text.line_start(start), text.line_end(end));
        let is_near =
            |place: &Place| place.taken.is_some() || (place.range.start <= end && start <= place.range.end);
        document.text != *text || document.lines.iter().flatten().any(is_near)
    }

    /// Whether something was refused in a document.
    pub(crate) fn knows(&self, uri: &str) -> bool {
        self.0.iter().any(|document| *document.uri == *uri)
    }

    /// Whether the places of a document are those of another text than this.
    pub(crate) fn is_behind(&self, uri: &str, text: &Text) -> bool {
        self.0.iter().any(|document| *document.uri == *uri && document.text != *text)
    }

    /// The document has this text now.
    pub(crate) fn follow(&mut self, uri: &str, text: &Text) {
        self.0.iter_mut().filter(|document| *document.uri == *uri).for_each(|document| document.follow(text));
    }

    /// The document was changed. Changes of a text that is not the one at hand are left for [`follow`](Self::follow).
    pub(crate) fn changed(&mut self, uri: &str, before: &Text, edits: &Edits, after: &Text) {
        for document in self.0.iter_mut().filter(|document| *document.uri == *uri) {
            if document.text == *before {
                document.change(edits, after);
            }
        }
    }

    /// Whether an effect is, contains or is a part of what was refused.
    pub(crate) fn has(&self, effect: &SuggestionEffect) -> bool {
        effect.parts.iter().any(|part| {
            let documents = self.0.iter().filter(|document| document.uri == part.uri);
            documents.into_iter().any(|document| document.at(&part.text).has(part))
        })
    }
}

impl Document {
    /// As it is, or was, with this text.
    fn at(&self, text: &Text) -> Cow<'_, Self> {
        if self.text == *text {
            return Cow::Borrowed(self);
        }
        let mut there = self.clone();
        there.follow(text);
        Cow::Owned(there)
    }

    /// Of its text and that of the part it is known that they are the same.
    fn has(&self, part: &TextEffect) -> bool {
        let mut refused = self.lines.iter();
        let is = |place: &Place, piece: &EffectPiece| place.is(piece, &part.text);
        let is_refused = |piece: &EffectPiece| self.lines.iter().flatten().any(|place| is(place, piece));
        part.pieces.chunk_by(|a, b| a.line == b.line).any(|line| line.iter().all(is_refused))
            || refused.any(|line| line.iter().all(|place| part.pieces.iter().any(|piece| is(place, piece))))
    }

    fn follow(&mut self, text: &Text) {
        if self.text != *text {
            let edits = diff::edits(&self.text, text);
            self.change(&edits, text);
        }
    }

    fn change(&mut self, edits: &Edits, after: &Text) {
        let edits = finer(&self.text, edits, after);
        for place in self.lines.iter_mut().flatten() {
            place.change(&self.text, &edits);
        }
        self.text = after.clone();
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("uri", &self.uri).field("lines", &self.lines).finish_non_exhaustive()
    }
}

impl Place {
    fn of(piece: &EffectPiece) -> Self {
        Self { range: piece.range.clone(), becomes: piece.becomes, sort: piece.sort, taken: None }
    }

    fn change(&mut self, before: &Text, edits: &Edits) {
        let Range { start, end } = self.range.clone();
        let takes =
            |edit: &Edit| !edit.range.is_empty() && edit.range.start <= start && end <= edit.range.end;
        if edits.iter().any(takes) && self.taken.is_none() {
            self.taken = Some(line_around(before, start));
        }
        self.range = match self.sort {
            PieceSort::Replaced => edits.map_range(start..end),
            PieceSort::Inserted | PieceSort::Lines => {
                edits.map(start, InsertBias::Before)..edits.map(end, InsertBias::After)
            }
        };
    }

    /// Whether a piece does the same to the same place.
    fn is(&self, piece: &EffectPiece, text: &Text) -> bool {
        if self.becomes != piece.becomes {
            return false;
        }
        let Range { start, end } = piece.range;
        let is_here = match self.sort {
            // Since it replaces the same text, it need not be all that is there now.
            PieceSort::Replaced => start <= self.range.end && self.range.start <= end,
            PieceSort::Inserted => start == self.range.start,
            PieceSort::Lines => start == self.range.start || start == self.range.end,
        };
        is_here || self.taken.is_some_and(|line| line == line_around(text, start))
    }
}

/// Stands for a place by what is on its line and on the one above it.
fn line_around(text: &Text, offset: usize) -> u64 {
    let line = text.line_of(offset);
    let content = text.line(line);
    let indent = content.len() - content.trim_start().len();
    let column = (offset - text.line_start(line)).saturating_sub(indent);
    let above = line.checked_sub(1).map(|above| text.line(above).trim().to_owned());
    FxBuildHasher.hash_one((content.trim(), above, column))
}

/// Edits with the same outcome that leave alone what they need not touch.
fn finer(before: &Text, edits: &Edits, after: &Text) -> Edits {
    let is_long = |edit: &Edit| edit.range.len().min(edit.text.len()) > MAX_COMPARED;
    let compared = edits.iter().any(is_long).then(|| diff::edits(before, after));
    let mut finer = Vec::with_capacity(edits.len());
    for edit in compared.as_ref().unwrap_or(edits) {
        if edit.range.is_empty() || edit.text.is_empty() || is_long(edit) {
            finer.push(edit.clone());
            continue;
        }
        let old = before.slice(edit.range.clone());
        let parts = diff::words(&old, &edit.text).into_iter().map(|(was, is)| {
            Edit::new(edit.range.start + was.start..edit.range.start + was.end, &edit.text[is])
        });
        finer.extend(parts);
    }
    Edits::new(finer).unwrap_or_else(|_| edits.clone())
}

//! Where pieces of a change stand in the document now.

use std::ops::Range;

use nudge_text::history::LineChange;

use crate::AnalysedDocument;

/// Where a piece of what a change put in stands now, if it still does.
pub fn placed(source: &AnalysedDocument, change: &LineChange, piece: &Range<usize>) -> Option<Range<usize>> {
    let above = &change.after[..piece.start];
    let line = change.line + memchr::memchr_iter(b'\n', above.as_bytes()).count();
    let column = piece.start - above.rfind('\n').map_or(0, |at| at + 1);
    let start = source.text().line_start(line) + column;
    let range = start..start + piece.len();
    (source.content().get(range.clone()) == Some(&change.after[piece.clone()])).then_some(range)
}

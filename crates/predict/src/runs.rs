//! Edits by runs of adjacent lines: what is offered as one piece.

use std::cmp::Reverse;

use nudge_syntax::AnalysedDocument;
use nudge_text::{Edit, Edits};

use crate::SuggestionKind;

/// Edits on lines without a line in between that has none.
#[derive(Debug, Clone)]
pub(crate) struct EditRun {
    pub(crate) edits: Vec<Edit>,
    /// The first line, counted from 0.
    pub(crate) first: usize,
    /// The last line that an edit touches.
    pub(crate) last: usize,
}

impl EditRun {
    /// The text of its lines.
    pub(crate) fn text<'s>(&self, source: &'s AnalysedDocument) -> &'s str {
        let lines = source.text();
        source.content().get(lines.line_start(self.first)..lines.line_end(self.last)).unwrap_or_default()
    }

    /// The run as something to offer; the user goes on where the last edit ends.
    pub(crate) fn into_kind(self, source: &AnalysedDocument) -> Option<SuggestionKind> {
        let edits = Edits::new(self.edits).ok()?;
        let last = edits.as_slice().last()?;
        let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
        let gone: usize = edits.iter().map(|edit| edit.range.len()).sum();
        let cursor = last.range.end + grown - gone;
        Some(SuggestionKind::Edit { uri: source.uri().clone(), edits, cursor })
    }

    /// The lines as a person names them: `line 3`, `lines 3 to 5`.
    pub(crate) fn lines(&self) -> String {
        if self.first == self.last {
            format!("line {}", self.first + 1)
        } else {
            format!("lines {} to {}", self.first + 1, self.last + 1)
        }
    }
}

/// The edits by runs of adjacent lines: the nearest below `line` first, then the nearest above it.
///
/// Edits that overlap are none.
pub(crate) fn edit_runs(source: &AnalysedDocument, edits: Vec<Edit>, line: usize) -> Vec<EditRun> {
    let text = source.text();
    let Ok(edits) = Edits::new(edits) else { return Vec::new() };
    let mut runs: Vec<EditRun> = Vec::new();
    for edit in &edits {
        // An edit of several lines may leave some of them as they are.
        let spans = text.line_of(edit.range.start) != text.line_of(edit.range.end);
        let trimmed = if spans {
            Edits::one(edit.range.clone(), edit.text.as_str()).trimmed(text)
        } else {
            Edits::default()
        };
        let edit = trimmed.as_slice().first().unwrap_or(edit).clone();
        let (first, last) = (text.line_of(edit.range.start), text.line_of(edit.range.end));
        match runs.last_mut() {
            Some(run) if first <= run.last + 1 => {
                run.last = run.last.max(last);
                run.edits.push(edit);
            }
            _ => runs.push(EditRun { edits: vec![edit], first, last }),
        }
    }
    runs.sort_by_key(
        |run| if run.last >= line { (0, run.first, Reverse(0)) } else { (1, 0, Reverse(run.first)) },
    );
    runs
}

//! Whether the user is done with what took the last use of an import away.

use nudge_syntax::{AnalysedDocument, imports::ImportStatement, occurrences};
use nudge_text::history::LineChange;

use crate::Scene;

/// Whether a change has fewer uses of a name after it than before.
pub(super) fn takes(change: &LineChange, name: &str) -> bool {
    let count = |code: &str| occurrences(code, name, 0..code.len(), 50).len();
    count(&change.before) > count(&change.after)
}

/// How far the user is done with the names of an import that nothing uses any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportSettled {
    /// They may be used again in a moment.
    NotYet,
    /// The line that used them was changed and left.
    Left,
    /// Something else was done since, or the user is at the import.
    Settled,
}

/// How far the user is done with names that nothing uses any more.
///
/// Not while the line that used them is typed anew, and not as long as the lines that did are all that was taken away:
/// they may be put elsewhere in a moment. Whoever goes to the import, or is told by a tool, is done.
pub(super) fn done(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    import: &ImportStatement,
    names: &[String],
) -> ImportSettled {
    let newest = scene.changes.last().filter(|newest| newest.uri == *source.uri());
    let Some(newest) = newest.filter(|newest| names.iter().any(|name| takes(newest, name))) else {
        return ImportSettled::Settled;
    };
    let lines = source.text();
    let cursor = (source.uri() == scene.source.uri()).then(|| lines.line_of(scene.cursor));
    let own = lines.line_of(import.range.start)..=lines.line_of(import.range.end);
    let is_there = cursor.is_some_and(|cursor| own.contains(&cursor));
    let is_diagnosed = scene.diagnostics.iter().any(|diagnostic| {
        diagnostic.uri == *source.uri()
            && diagnostic.range.start <= import.range.end
            && import.range.start <= diagnostic.range.end
    });
    let is_cut = newest.touched.is_empty() && newest.after_lines < newest.before_lines;
    let changed = newest.line..newest.line + newest.after_lines;
    let is_typed = newest.open && !newest.pasted;
    match cursor.is_some_and(|cursor| changed.contains(&cursor)) {
        _ if is_there || is_diagnosed => ImportSettled::Settled,
        _ if is_cut => ImportSettled::NotYet,
        true if is_typed => ImportSettled::NotYet,
        false if newest.open => ImportSettled::Left,
        _ => ImportSettled::Settled,
    }
}

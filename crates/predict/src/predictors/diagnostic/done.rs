//! What the user has just done, which tells what a diagnostic is about.

use std::ops::Range;

use nudge_syntax::{
    contains_word, occurrences,
    token::{TokenKind, is_word, solid},
};
use nudge_text::{diff, history::LineChange};

use super::Problem;
use crate::engine::find;

/// Changes that are looked at, the newest first.
const MAX_CHANGES: usize = 12;
/// A change with more text than this is not taken apart.
const MAX_CHANGE: usize = 8 * 1024;

/// A change, and what became what in it.
pub(super) struct DoneChange<'a> {
    change: &'a LineChange,
    words: Vec<(Range<usize>, Range<usize>)>,
}

impl<'a> Problem<'a> {
    /// What the user wrote in the place of a name, if it still stands there.
    pub(super) fn became(&self, name: &str) -> Option<String> {
        let stands = |change: &LineChange, new: &str| {
            find(self.scene, &change.uri).is_some_and(|source| contains_word(source.content(), new))
        };
        self.done().iter().find_map(|DoneChange { change, words }| {
            let (_, to) = words.iter().find(|(from, _)| change.before[from.clone()] == *name)?;
            let new = &change.after[to.clone()];
            (is_name(new) && stands(change, new)).then(|| new.to_owned())
        })
    }

    /// Whether the user has just written a name that was not on its lines before: it may be used in a moment.
    pub(super) fn is_fresh(&self, name: &str) -> bool {
        let wrote = |change: &LineChange| {
            let code = &change.after;
            let touched = occurrences(code, name, 0..code.len(), 20)
                .iter()
                .any(|place| place.start < change.touched.end && change.touched.start < place.end);
            touched && !contains_word(&change.before, name)
        };
        self.done().iter().any(|done| wrote(done.change))
    }

    /// Whether the user has just taken away a use of a name.
    pub(super) fn is_dropped(&self, name: &str) -> bool {
        let count = |code: &str| occurrences(code, name, 0..code.len(), 50).len();
        self.done().iter().any(|DoneChange { change, .. }| count(&change.before) > count(&change.after))
    }

    /// The first names of what the user put at the end of brackets, as one puts a parameter.
    pub(super) fn put_in(&self) -> Vec<String> {
        let first = |code: &str| {
            let word = solid(code).into_iter().find(|token| token.kind == TokenKind::Word)?;
            Some(word.text(code).to_owned())
        };
        let added = |DoneChange { change, words }: &DoneChange<'_>| -> Vec<String> {
            words
                .iter()
                .filter(|(from, to)| from.is_empty() && change.after[to.end..].trim_start().starts_with(')'))
                .filter_map(|(_, to)| first(&change.after[to.clone()]))
                .collect()
        };
        self.done().iter().flat_map(added).collect()
    }

    fn done(&self) -> &[DoneChange<'a>] {
        self.done.get_or_init(|| {
            let changes = self.scene.changes.iter().rev().take(MAX_CHANGES);
            changes
                .filter(|change| change.before.len() + change.after.len() <= MAX_CHANGE)
                .map(|change| DoneChange { change, words: diff::words(&change.before, &change.after) })
                .collect()
        })
    }
}

fn is_name(text: &str) -> bool {
    text.chars().all(is_word) && text.starts_with(|c: char| !c.is_ascii_digit())
}

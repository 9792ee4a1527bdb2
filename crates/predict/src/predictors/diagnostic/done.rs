//! What the user has just done, which tells what a diagnostic is about.

use nudge_text::{diff, history::Change};

use super::Problem;
use crate::{
    engine::find,
    syntax::{contains, occurrences},
    token::{TokenKind, is_word, solid},
};

/// Changes that are looked at, the newest first.
const MAX_CHANGES: usize = 12;
/// A change with more text than this is not taken apart.
const MAX_CHANGE: usize = 8 * 1024;

impl Problem<'_> {
    /// What the user wrote in the place of a name, if it still stands there.
    pub(super) fn became(&self, name: &str) -> Option<String> {
        let stands = |change: &Change, new: &str| {
            find(self.scene, &change.uri).is_some_and(|source| contains(source.content(), new))
        };
        self.recent().find_map(|change| {
            let parts = diff::words(&change.before, &change.after);
            let (_, to) = parts.into_iter().find(|(from, _)| change.before[from.clone()] == *name)?;
            let new = &change.after[to];
            (is_name(new) && stands(change, new)).then(|| new.to_owned())
        })
    }

    /// Whether the user has just written a name that was not on its lines before: it may be used in a moment.
    pub(super) fn is_fresh(&self, name: &str) -> bool {
        let wrote = |change: &Change| {
            let code = &change.after;
            let touched = occurrences(code, name, 0..code.len(), 20)
                .iter()
                .any(|place| place.start < change.touched.end && change.touched.start < place.end);
            touched && !contains(&change.before, name)
        };
        self.recent().any(wrote)
    }

    /// Whether the user has just taken away a use of a name.
    pub(super) fn is_dropped(&self, name: &str) -> bool {
        let count = |code: &str| occurrences(code, name, 0..code.len(), 50).len();
        self.recent().any(|change| count(&change.before) > count(&change.after))
    }

    /// The first names of what the user put in between other things, as one puts in a parameter.
    pub(super) fn put_in(&self) -> Vec<String> {
        let first = |code: &str| {
            let word = solid(code).into_iter().find(|token| token.kind == TokenKind::Word)?;
            Some(word.text(code).to_owned())
        };
        let added = |change: &Change| -> Vec<String> {
            diff::words(&change.before, &change.after)
                .into_iter()
                .filter(|(from, _)| from.is_empty())
                .filter_map(|(_, to)| first(&change.after[to]))
                .collect()
        };
        self.recent().flat_map(added).collect()
    }

    fn recent(&self) -> impl Iterator<Item = &Change> {
        let changes = self.scene.changes.iter().rev().take(MAX_CHANGES);
        changes.filter(|change| change.before.len() + change.after.len() <= MAX_CHANGE)
    }
}

fn is_name(text: &str) -> bool {
    text.chars().all(is_word) && text.starts_with(|c: char| !c.is_ascii_digit())
}

//! What changed lines teach, kept from one question to the next.

use std::{hash::BuildHasher, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::rule::{LineLesson, learn_line};

/// Lines that are remembered. As many as there are recent changes are asked for again and again.
const MAX_LINES: usize = 512;
/// Longer lines are not remembered, so that it stays small.
const MAX_LENGTH: usize = 1024;

/// What was learned from changed lines already.
///
/// It is the same whenever it is learned, and that takes longer than anything else about a change that is not new. So whoever
/// asks more than once keeps it.
#[derive(Default)]
pub struct LessonCache(Mutex<FxHashMap<u64, Known>>);

struct Known {
    before: Box<str>,
    after: Box<str>,
    lessons: Arc<[Arc<LineLesson>]>,
}

impl LessonCache {
    /// What a line teaches that became another.
    pub(crate) fn of(&self, before: &str, after: &str) -> Arc<[Arc<LineLesson>]> {
        let hash = FxBuildHasher.hash_one((before, after));
        let is_same = |known: &&Known| *known.before == *before && *known.after == *after;
        if let Some(known) = self.known().get(&hash).filter(is_same) {
            return Arc::clone(&known.lessons);
        }
        let lessons: Arc<[_]> = learn_line(before, after).into_iter().map(Arc::new).collect();
        if before.len() + after.len() > MAX_LENGTH {
            return lessons;
        }
        let known = Known { before: before.into(), after: after.into(), lessons: Arc::clone(&lessons) };
        let mut all = self.known();
        if all.len() >= MAX_LINES {
            all.clear();
        }
        all.insert(hash, known);
        lessons
    }

    fn known(&self) -> MutexGuard<'_, FxHashMap<u64, Known>> {
        self.0.lock()
    }
}

impl std::fmt::Debug for LessonCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LessonCache").field("lines", &self.known().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_what_would_be_learned() {
        let lessons = LessonCache::default();
        for round in 0..2 {
            for line in 0..MAX_LINES + 10 {
                let (before, after) = (format!("let a = old({line});"), format!("let a = new({line});"));
                let (known, learned) = (lessons.of(&before, &after), learn_line(&before, &after));
                assert_eq!(format!("{known:?}"), format!("{learned:?}"), "round {round}");
                assert!(lessons.known().len() <= MAX_LINES);
            }
        }
        let is_kept = |after: &str| Arc::ptr_eq(&lessons.of("a b", after), &lessons.of("a b", after));
        assert!(is_kept("a c") && !is_kept(&"c".repeat(MAX_LENGTH)));
    }
}

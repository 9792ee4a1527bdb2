//! Ids that are not given twice in a session, also not by the process after this one.

use std::hash::{BuildHasher, RandomState};

/// A source of ids: a random part of its own, then numbers.
#[derive(Debug)]
pub struct IdSource {
    part: u64,
    last: u64,
}

impl IdSource {
    /// A source that no other is like.
    #[expect(clippy::new_without_default, reason = "two of them are never equal")]
    pub fn new() -> Self {
        // The keys of a `RandomState` come from the operating system.
        Self { part: RandomState::new().hash_one(std::process::id()), last: 0 }
    }

    /// The next id, which begins with its kind.
    pub fn mint(&mut self, kind: &str) -> String {
        self.last += 1;
        format!("{kind}_{:016x}_{}", self.part, self.last)
    }
}

//! Ids that are not given twice in a session, also not by the process after this one.

use std::hash::{BuildHasher, RandomState};

/// A source of ids: a random part of its own, then numbers.
#[derive(Debug)]
pub(crate) struct Ids {
    part: u64,
    last: u64,
}

impl Ids {
    pub(crate) fn new() -> Self {
        // The keys of a `RandomState` come from the operating system.
        Self { part: RandomState::new().hash_one(std::process::id()), last: 0 }
    }

    pub(crate) fn mint(&mut self, kind: &str) -> String {
        self.last += 1;
        format!("{kind}_{:016x}_{}", self.part, self.last)
    }
}

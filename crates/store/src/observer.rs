//! Who is told of commits while they happen.

use std::sync::Arc;

/// A moment of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitMoment {
    /// All of it is written, and nothing of it is durable.
    Before,
    /// It is durable, and nobody who waits for it was told.
    After,
}

/// Is told of every commit, on the thread that writes, which waits meanwhile.
pub type CommitObserver = Arc<dyn Fn(CommitMoment) + Send + Sync>;

//! The boundaries between memory, disk and wire, and who is told when one is crossed.

use std::sync::Arc;

use nudge_store::{CommitMoment, CommitObserver};

/// A moment at which something is about to leave memory, or has just left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurableBoundary {
    /// A commit is written, and not durable.
    BeforeCommit,
    /// A commit is durable, and nobody who waits for it was told.
    AfterCommit,
    /// An update is about to be sent to a client.
    BeforeUpdate,
    /// An update was sent to a client.
    AfterUpdate,
    /// A request of a client is about to be answered.
    BeforeAnswer,
    /// A request of a client was answered.
    AfterAnswer,
}

/// Is told of every boundary, at once and on the thread that crosses it, which waits meanwhile.
pub type BoundaryObserver = Arc<dyn Fn(DurableBoundary) + Send + Sync>;

/// What a store is given, so that it tells of its commits.
pub(crate) fn of_commits(observer: BoundaryObserver) -> CommitObserver {
    Arc::new(move |moment| {
        observer(match moment {
            CommitMoment::Before => DurableBoundary::BeforeCommit,
            CommitMoment::After => DurableBoundary::AfterCommit,
        });
    })
}

/// Tells of a boundary, if somebody wants to know.
pub(crate) fn crossed(observer: Option<&BoundaryObserver>, boundary: DurableBoundary) {
    if let Some(observer) = observer {
        observer(boundary);
    }
}

//! Commits under way, oldest first.

use std::collections::VecDeque;

use nudge_session::CommitFailure;
use nudge_store::{StoreError, WriteTicket};

use crate::session::restore;

/// Commits under way.
#[derive(Default)]
pub(crate) struct CommitQueue {
    tickets: VecDeque<WriteTicket>,
    /// One has failed; what became of those behind it is not all known.
    failed: Option<FailedCommit>,
}

/// A commit that failed, and which of those behind it were written.
pub(crate) struct FailedCommit {
    error: StoreError,
    written: Vec<bool>,
}

/// What became of the oldest commit.
pub(crate) enum CommitResult {
    Written,
    /// It failed, and what became of all those behind it is known.
    Failed(FailedCommit),
}

impl FailedCommit {
    /// As the core is told.
    pub(crate) fn into_failure(self, session: &str) -> CommitFailure {
        let Self { error, written } = self;
        tracing::error!(session, %error, "the session cannot be written");
        let told = restore::client_error(&error, "The session cannot be stored");
        CommitFailure { error: told, may_pass: error.may_pass(), written }
    }
}

impl CommitQueue {
    pub(crate) fn push(&mut self, ticket: WriteTicket) {
        self.tickets.push_back(ticket);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tickets.is_empty() && self.failed.is_none()
    }

    /// Whether one has failed, and nothing new should be written before it is known what became of those behind it.
    pub(crate) fn is_failing(&self) -> bool {
        self.failed.is_some()
    }

    /// Waits for the oldest; if that fails, for all those behind it, which may have been written. Safe to drop and call
    /// again.
    pub(crate) async fn next(&mut self) -> CommitResult {
        loop {
            let Some(oldest) = self.tickets.front_mut() else {
                match self.failed.take() {
                    Some(failed) => return CommitResult::Failed(failed),
                    None => return std::future::pending().await,
                }
            };
            let outcome = oldest.await;
            self.tickets.pop_front();
            match (outcome, &mut self.failed) {
                (Ok(()), None) => return CommitResult::Written,
                (outcome, Some(failed)) => failed.written.push(outcome.is_ok()),
                (Err(error), failed @ None) => *failed = Some(FailedCommit { error, written: Vec::new() }),
            }
        }
    }
}

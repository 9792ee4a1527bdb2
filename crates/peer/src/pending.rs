//! Requests this side has sent and that are not answered yet.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};

use nudge_wire::RawJson;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::{CallError, ForwardedRequest, RequestResponder};

/// Who waits for an answer.
pub(crate) enum PendingWaiter {
    /// A caller on this side.
    Caller(oneshot::Sender<CallAnswer>),
    /// A request of another connection that was passed on here.
    Forwarded(RequestResponder),
}

/// An answer to a caller.
pub(crate) struct CallAnswer {
    pub(crate) outcome: Result<RawJson, CallError>,
    /// How many messages had been received before it.
    pub(crate) after: u64,
}

impl CallAnswer {
    /// No answer, with nothing to wait for.
    pub(crate) fn failed(error: CallError) -> Self {
        Self { outcome: Err(error), after: 0 }
    }
}

#[derive(Default)]
pub(crate) struct PendingCalls {
    next: AtomicU64,
    /// How many of those who wait are callers.
    callers: AtomicUsize,
    waiting: Mutex<HashMap<u64, PendingWaiter>>,
}

impl PendingCalls {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, PendingWaiter>> {
        // Nothing in this module panics while it holds the lock.
        self.waiting.lock()
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn insert(&self, id: u64, who: PendingWaiter) {
        self.count(&who, 1);
        self.waiting().insert(id, who);
    }

    /// Whoever waits for the answer to `id`; each only once.
    pub(crate) fn remove(&self, id: u64) -> Option<PendingWaiter> {
        let found = self.waiting().remove(&id)?;
        self.count(&found, usize::MAX);
        Some(found)
    }

    /// Whether a response is awaited on this side. Those of forwarded requests are passed on in order, so nothing is
    /// gained by reading ahead for them.
    pub(crate) fn has_callers(&self) -> bool {
        self.callers.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    /// The requests of other connections that were passed on here, oldest first.
    pub(crate) fn forwarded(&self) -> Vec<ForwardedRequest> {
        let waiting = self.waiting();
        let forwarded = waiting.iter().filter_map(|(number, who)| match who {
            PendingWaiter::Forwarded(responder) => Some(responder.forwarded_as(*number)),
            PendingWaiter::Caller(_) => None,
        });
        let mut forwarded: Vec<_> = forwarded.collect();
        forwarded.sort_unstable_by_key(|request| request.number);
        forwarded
    }

    /// Gives back memory that is not in use.
    pub(crate) fn shrink(&self) {
        self.waiting().shrink_to_fit();
    }

    pub(crate) fn drain(&self) -> Vec<PendingWaiter> {
        let drained: Vec<_> = self.waiting().drain().map(|(_, who)| who).collect();
        for who in &drained {
            self.count(who, usize::MAX);
        }
        drained
    }

    /// Adds to the number of callers; `usize::MAX` is minus one.
    fn count(&self, who: &PendingWaiter, change: usize) {
        if matches!(who, PendingWaiter::Caller(_)) {
            self.callers.fetch_add(change, Ordering::Relaxed);
        }
    }
}

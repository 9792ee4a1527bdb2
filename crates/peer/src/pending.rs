//! Requests this side has sent and that are not answered yet.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use nudge_wire::RawJson;
use tokio::sync::oneshot;

use crate::{CallError, Responder};

/// Who waits for an answer.
pub(crate) enum Waiting {
    /// A caller on this side.
    Caller(oneshot::Sender<Result<RawJson, CallError>>),
    /// A request of another connection that was passed on here.
    Forwarded(Responder),
}

#[derive(Default)]
pub(crate) struct Pending {
    next: AtomicU64,
    count: AtomicUsize,
    waiting: Mutex<HashMap<u64, Waiting>>,
}

impl Pending {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        // Nothing in this module panics while it holds the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn insert(&self, id: u64, who: Waiting) {
        self.waiting().insert(id, who);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Whoever waits for the answer to `id`; each only once.
    pub(crate) fn remove(&self, id: u64) -> Option<Waiting> {
        let found = self.waiting().remove(&id);
        if found.is_some() {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn drain(&self) -> Vec<Waiting> {
        let drained: Vec<_> = self.waiting().drain().map(|(_, who)| who).collect();
        self.count.fetch_sub(drained.len(), Ordering::Relaxed);
        drained
    }
}

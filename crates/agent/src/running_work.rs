//! What runs within a turn and can be cancelled by itself: a tool call, and the command in its terminal.

use std::sync::Arc;

use nudge_backend::CancellableWork;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Shared by an agent and its task. Tools run one after the other, so there is one of each at most.
#[derive(Debug, Default)]
pub(crate) struct RunningWork(Mutex<Vec<(CancellableWork, Arc<Notify>)>>);

impl RunningWork {
    /// This runs from now on until [`RunningWork::is_over`]; `wanted` is notified when somebody wants it cancelled.
    pub(crate) fn begins(&self, work: CancellableWork, wanted: Arc<Notify>) {
        self.0.lock().push((work, wanted));
    }

    /// This does not run any more.
    pub(crate) fn is_over(&self, work: &CancellableWork) {
        self.0.lock().retain(|(running, _)| running != work);
    }

    /// Nothing runs any more.
    pub(crate) fn all_is_over(&self) {
        self.0.lock().clear();
    }

    /// Whether this runs, and is to be cancelled now.
    pub(crate) fn cancel(&self, work: &CancellableWork) -> bool {
        let running = self.0.lock();
        let wanted = running.iter().find(|(running, _)| running == work).map(|(_, wanted)| wanted);
        wanted.is_some_and(|wanted| {
            wanted.notify_one();
            true
        })
    }
}

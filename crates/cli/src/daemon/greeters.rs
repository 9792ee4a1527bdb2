//! Connections that have not greeted yet: they get little time, and only so many are waited for.

use std::{collections::VecDeque, future::Future, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// How long a greeting may take. Who connects has it ready.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Those that are waited for.
pub(crate) struct AwaitedGreetings {
    /// The oldest first.
    waiting: Mutex<VecDeque<Arc<Notify>>>,
    most: usize,
}

impl AwaitedGreetings {
    /// So many are waited for at one time.
    pub(crate) fn new(most: usize) -> Self {
        Self { waiting: Mutex::default(), most }
    }

    /// Waits for a greeting. `None` if it takes too long, or so many came since that this is the oldest of too many.
    pub(crate) async fn wait<T>(&self, greeting: impl Future<Output = T>, patience: Duration) -> Option<T> {
        let given_up = Arc::new(Notify::new());
        let place = self.enter(&given_up);
        let came = tokio::select! {
            biased;
            greeting = greeting => Some(greeting),
            () = given_up.notified() => None,
            () = tokio::time::sleep(patience) => None,
        };
        drop(place);
        came
    }

    fn enter<'a>(&'a self, given_up: &'a Arc<Notify>) -> Place<'a> {
        let mut waiting = self.lock();
        waiting.push_back(Arc::clone(given_up));
        if waiting.len() > self.most
            && let Some(oldest) = waiting.pop_front()
        {
            oldest.notify_one();
        }
        Place { greeters: self, given_up }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Notify>>> {
        self.waiting.lock()
    }
}

/// A place among those that are waited for.
struct Place<'a> {
    greeters: &'a AwaitedGreetings,
    given_up: &'a Arc<Notify>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.greeters.lock().retain(|other| !Arc::ptr_eq(other, self.given_up));
    }
}

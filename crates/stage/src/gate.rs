//! A place in a reply where the provider waits until the test lets it go on.

use std::sync::Arc;

use tokio::sync::watch;

/// A named place at which replies wait. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct ReplyGate {
    arrivals: Arc<watch::Sender<usize>>,
    open: Arc<watch::Sender<bool>>,
}

impl ReplyGate {
    pub(crate) fn new() -> Self {
        Self { arrivals: Arc::new(watch::Sender::new(0)), open: Arc::new(watch::Sender::new(false)) }
    }

    /// Lets everyone through who waits here, and everyone who comes later.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until a reply has come to this gate.
    pub async fn reached(&self) {
        self.reached_by(1).await;
    }

    /// Waits until `replies` replies have come to this gate.
    pub async fn reached_by(&self, replies: usize) {
        let mut arrivals = self.arrivals.subscribe();
        arrivals.wait_for(|count| *count >= replies).await.expect("the gate holds its own sender");
    }

    /// How many replies have come to this gate so far, for tests that do not await.
    pub fn arrivals(&self) -> usize {
        *self.arrivals.borrow()
    }

    pub(crate) async fn pass(&self) {
        let mut open = self.open.subscribe();
        self.arrivals.send_modify(|count| *count += 1);
        open.wait_for(|open| *open).await.expect("the gate holds its own sender");
    }
}

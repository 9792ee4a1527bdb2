//! Whether to sleep when nothing moves, or to look again for a moment.
//!
//! Waking a sleeping processor takes tens of microseconds, which is most of a short round trip. While messages follow
//! each other closely it is quicker to look once more than to sleep; as soon as one keeps us waiting, we sleep again.

use std::{
    future::Future,
    pin::pin,
    task::Context,
    time::{Duration, Instant},
};

/// How long it is worth looking for the next message. The most that is spent in vain when a burst ends.
const BRISK: Duration = Duration::from_micros(100);

/// The pace of one connection.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    idle_since: Option<Instant>,
    /// Whether the last wait was a short one.
    is_brisk: bool,
}

impl Pace {
    /// Something moved.
    pub(crate) fn moved(&mut self) {
        if let Some(since) = self.idle_since.take() {
            self.is_brisk = since.elapsed() < BRISK;
        }
    }

    /// Nothing moves. Arranges for the task to be polled again soon if that is worth it.
    pub(crate) fn rest(&mut self, cx: &mut Context<'_>) {
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        if self.is_brisk && since.elapsed() < BRISK {
            // Yielding lets the runtime look for events, and other tasks run, before it comes back to us.
            let _ = pin!(tokio::task::yield_now()).poll(cx);
        } else {
            self.is_brisk = false;
        }
    }
}

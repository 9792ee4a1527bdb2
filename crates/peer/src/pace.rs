//! Whether to sleep when nothing moves, or to look again for a moment.
//!
//! Waking a sleeping processor takes tens of microseconds, which is most of a short round trip. While single messages
//! follow each other closely it is quicker to look once more than to sleep. As soon as one keeps us waiting we sleep
//! again, and also when many come at once or a large one is on its way: those are best taken in bulk, and the processor
//! is better left to whoever sends them.

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
pub(crate) struct ReadPace {
    idle_since: Option<Instant>,
    /// How many frames had been received then.
    frames: u64,
    /// Whether the last wait was a short one, ended by a single message.
    is_brisk: bool,
}

impl ReadPace {
    /// Something moved; `frames` have been received so far.
    pub(crate) fn moved(&mut self, frames: u64) {
        if let Some(since) = self.idle_since.take() {
            self.is_brisk = frames <= self.frames + 1 && since.elapsed() < BRISK;
        }
    }

    /// Nothing moves; `frames` have been received so far. Arranges for the task to be polled again soon if that is worth it,
    /// which it is not `in_bulk`.
    pub(crate) fn rest(&mut self, cx: &mut Context<'_>, frames: u64, in_bulk: bool) {
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        self.frames = frames;
        if self.is_brisk && !in_bulk && since.elapsed() < BRISK {
            // Yielding lets the runtime look for events, and other tasks run, before it comes back to us.
            let _ = pin!(tokio::task::yield_now()).poll(cx);
        } else {
            self.is_brisk = false;
        }
    }
}

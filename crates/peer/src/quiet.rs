//! When a connection has been quiet for so long that it gives memory back.

use std::{future::Future, pin::Pin, task::Context, time::Duration};

use tokio::time::{Instant, Sleep, sleep};

/// How long the queues of a connection are kept as large as they were needed after something has moved.
const LASTING: Duration = Duration::from_secs(1);

/// Tells when nothing has moved for a while, once each time.
#[derive(Default)]
pub(crate) struct QuietWatch {
    /// How often something has moved.
    moves: u64,
    /// How often it had when that was told last.
    moves_when_told: u64,
    /// How often it had when the timer was set.
    moves_when_set: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl QuietWatch {
    /// Something moved.
    pub(crate) fn moved(&mut self) {
        self.moves += 1;
    }

    /// Nothing moves. Whether nothing has for a while, if that has not been told yet.
    pub(crate) fn has_begun(&mut self, cx: &mut Context<'_>) -> bool {
        if self.moves == self.moves_when_told {
            return false;
        }
        let Some(timer) = &mut self.timer else {
            self.timer = Some(Box::pin(sleep(LASTING)));
            self.set(cx);
            return false;
        };
        // A timer that was set when the task had used up its share of time is only begun with by a later poll.
        if timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        if self.moves == self.moves_when_set {
            self.moves_when_told = self.moves;
            self.timer = None;
            return true;
        }
        timer.as_mut().reset(Instant::now() + LASTING);
        self.set(cx);
        false
    }

    /// Has the task woken by the timer.
    fn set(&mut self, cx: &mut Context<'_>) {
        self.moves_when_set = self.moves;
        if let Some(timer) = &mut self.timer {
            let _ = timer.as_mut().poll(cx);
        }
    }
}

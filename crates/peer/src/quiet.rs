//! When a connection has been quiet for so long that it gives memory back.

use std::{future::Future, pin::Pin, task::Context, time::Duration};

use tokio::time::{Instant, Sleep, sleep};

/// How long the queues of a connection are kept as large as they were needed after something has moved.
const LASTING: Duration = Duration::from_secs(1);

/// Tells when nothing has moved for a while, once each time.
#[derive(Default)]
pub(crate) struct Quiet {
    /// How often something has moved.
    moves: u64,
    /// How often it had when that was told last.
    moves_when_told: u64,
    /// How often it had when the timer was set.
    moves_when_set: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Quiet {
    /// Something moved.
    pub(crate) fn moved(&mut self) {
        self.moves += 1;
    }

    /// Nothing moves. Whether nothing has for a while, if that has not been told yet.
    pub(crate) fn has_begun(&mut self, cx: &mut Context<'_>) -> bool {
        if self.moves == self.moves_when_told {
            return false;
        }
        match &mut self.timer {
            Some(timer) if !timer.is_elapsed() => false,
            Some(_) if self.moves == self.moves_when_set => {
                self.moves_when_told = self.moves;
                self.timer = None;
                true
            }
            Some(timer) => {
                timer.as_mut().reset(Instant::now() + LASTING);
                self.set(cx);
                false
            }
            None => {
                self.timer = Some(Box::pin(sleep(LASTING)));
                self.set(cx);
                false
            }
        }
    }

    /// Has the task woken by the timer. It is not polled again before it has run out: if the connection is driven by another
    /// task by then, memory is given back when that task next looks.
    fn set(&mut self, cx: &mut Context<'_>) {
        self.moves_when_set = self.moves;
        if let Some(timer) = &mut self.timer {
            let _ = timer.as_mut().poll(cx);
        }
    }
}

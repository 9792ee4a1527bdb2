//! How long a queue that is full may stand still, and what is allowed then.

use std::{future::Future, pin::Pin, task::Context};

use tokio::time::{Sleep, sleep};

use crate::ConnectionLimits;

/// Whether the queue moves. A queue that stands still may be waiting for something that is behind it in the pipe: then
/// reading goes on, a little at a time.
#[derive(Default)]
pub(crate) struct QueueStall {
    /// Runs while the queue is full and nothing moves.
    timer: Option<Pin<Box<Sleep>>>,
    /// How many bytes may be queued for now.
    allowance: usize,
    /// Runs while the queue is at its hard limit and nothing moves.
    giving_up: Option<Pin<Box<Sleep>>>,
}

impl QueueStall {
    /// Something was handled.
    pub(crate) fn moved(&mut self) {
        *self = Self::default();
    }

    /// Whether the full queue has stood still long enough to take in more than the `bytes` it holds.
    pub(crate) fn may_pass(&mut self, cx: &mut Context<'_>, bytes: usize, limits: &ConnectionLimits) -> bool {
        if bytes < self.allowance {
            return true;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limits.stall)));
        if timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.timer = None;
        self.allowance = bytes + limits.inbound_soft;
        true
    }

    /// Whether the queue has stood still at its hard limit for too long.
    pub(crate) fn is_hopeless(&mut self, cx: &mut Context<'_>, limits: &ConnectionLimits) -> bool {
        let timer = self.giving_up.get_or_insert_with(|| Box::pin(sleep(limits.give_up)));
        timer.as_mut().poll(cx).is_ready()
    }
}

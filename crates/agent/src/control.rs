//! The command side: what the handle asks for and the session's task has not taken yet.

use std::collections::VecDeque;

use nudge_backend::UserMessage;
use nudge_wire::ClientContext;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// Shared by a handle and its task. Flags, not a queue: asking twice is asking once.
#[derive(Debug, Default)]
pub(crate) struct TurnControl {
    state: Mutex<State>,
    /// For the task's own loop.
    changed: Notify,
    /// For a model's stream.
    interrupted: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Turns to be started.
    prompts: VecDeque<(Vec<UserMessage>, ClientContext)>,
    running: bool,
    closed: bool,
    asked: Asked,
}

/// What was asked and not done yet.
#[derive(Debug, Default)]
struct Asked {
    cancel: bool,
    interrupt: bool,
    report_config: bool,
}

/// What the task is to do between turns.
#[derive(Debug)]
pub(crate) enum BetweenTurns {
    /// A turn, and for whom.
    Prompt(Vec<UserMessage>, ClientContext),
    ReportConfig,
    /// There may be other models now.
    OfferModels,
    Leave,
}

/// What the task is to do within a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnSignal {
    Cancel,
    ReportConfig,
    Leave,
}

impl TurnControl {
    pub(crate) fn prompt(&self, messages: Vec<UserMessage>, client: ClientContext) {
        self.lock().prompts.push_back((messages, client));
        self.changed.notify_one();
    }

    /// Between turns there is nothing to cancel.
    pub(crate) fn cancel(&self) {
        let mut state = self.lock();
        state.asked.cancel = state.is_busy();
        self.changed.notify_one();
    }

    pub(crate) fn interrupt(&self) {
        let mut state = self.lock();
        state.asked.interrupt = state.is_busy();
        self.interrupted.notify_one();
    }

    pub(crate) fn report_config(&self) {
        self.lock().asked.report_config = true;
        self.changed.notify_one();
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// What there is to do between turns. A prompt begins a turn.
    pub(crate) async fn work(&self) -> BetweenTurns {
        loop {
            let work = self.lock().work();
            match work {
                Some(work) => return work,
                None => self.changed.notified().await,
            }
        }
    }

    /// What there is to do within a turn besides the turn.
    pub(crate) async fn signal(&self) -> TurnSignal {
        loop {
            let signal = self.lock().signal();
            match signal {
                Some(signal) => return signal,
                None => self.changed.notified().await,
            }
        }
    }

    /// Comes when the stream is to be cut off.
    pub(crate) async fn interrupted(&self) {
        while !std::mem::take(&mut self.lock().asked.interrupt) {
            self.interrupted.notified().await;
        }
    }

    /// Forgets an interrupt that came too late for the stream it was meant for.
    pub(crate) fn forget_interrupt(&self) {
        self.lock().asked.interrupt = false;
    }

    /// The turn is over; what was asked of it is forgotten.
    pub(crate) fn turn_is_over(&self) {
        let mut state = self.lock();
        state.running = false;
        state.asked.cancel = false;
        state.asked.interrupt = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn is_busy(&self) -> bool {
        self.running || !self.prompts.is_empty()
    }

    fn work(&mut self) -> Option<BetweenTurns> {
        if self.closed {
            return Some(BetweenTurns::Leave);
        }
        if std::mem::take(&mut self.asked.report_config) {
            return Some(BetweenTurns::ReportConfig);
        }
        let (messages, client) = self.prompts.pop_front()?;
        self.running = true;
        Some(BetweenTurns::Prompt(messages, client))
    }

    fn signal(&mut self) -> Option<TurnSignal> {
        if self.closed {
            Some(TurnSignal::Leave)
        } else if self.asked.cancel {
            Some(TurnSignal::Cancel)
        } else {
            std::mem::take(&mut self.asked.report_config).then_some(TurnSignal::ReportConfig)
        }
    }
}

//! What a version 2 client is shown of terminals, as it comes.
//!
//! There is no queue of updates: a terminal that has something to tell is put on a board, and is asked for it when somebody
//! wants to know. A listener that is slow gets longer pieces of output, and slows nobody down.

use std::{collections::VecDeque, mem, ops::Deref, sync::Arc};

use nudge_wire::RawJson;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::terminal::CommandTerminal;

/// The updates of a [`Workspace`](crate::Workspace). Dropping them means that nobody wants to know any more.
#[derive(Debug)]
pub struct TerminalUpdates(Arc<UpdateBoard>);

impl TerminalUpdates {
    /// The next `terminal_update` or `terminal_output_chunk`; `None` once the workspace is gone and all has been told. May be
    /// given up and called again without losing any.
    pub async fn next(&mut self) -> Option<RawJson> {
        loop {
            if let Some(update) = self.try_next() {
                return Some(update);
            }
            if self.0.is_over() {
                return None;
            }
            // A notice that came since the look above is not lost: it is kept for the next who waits.
            self.0.notice.notified().await;
        }
    }

    /// What is there to be told now.
    pub fn try_next(&mut self) -> Option<RawJson> {
        loop {
            let terminal = self.0.state().waiting.pop_front()?;
            let (update, has_more) = terminal.tell();
            if has_more {
                self.0.state().waiting.push_back(terminal);
            }
            if update.is_some() {
                return update;
            }
        }
    }
}

impl Drop for TerminalUpdates {
    fn drop(&mut self) {
        let waiting = {
            let mut state = self.0.state();
            state.listener = Listener::Gone;
            mem::take(&mut state.waiting)
        };
        // Out of the lock: the last to hold a terminal may end its command.
        drop(waiting);
    }
}

/// Which terminals have something to tell.
#[derive(Default)]
pub(crate) struct UpdateBoard {
    state: Mutex<State>,
    notice: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Arc<CommandTerminal>>,
    /// How many may still put something here.
    sources: usize,
    listener: Listener,
}

#[derive(Default, PartialEq)]
enum Listener {
    #[default]
    NotYet,
    There,
    Gone,
}

impl UpdateBoard {
    /// The updates, for the first who asks.
    fn listen(self: &Arc<Self>) -> Option<TerminalUpdates> {
        let mut state = self.state();
        if state.listener != Listener::NotYet {
            return None;
        }
        state.listener = Listener::There;
        Some(TerminalUpdates(Arc::clone(self)))
    }

    pub(crate) fn is_heard(&self) -> bool {
        self.state().listener == Listener::There
    }

    pub(crate) fn post(&self, terminal: Arc<CommandTerminal>) {
        let mut state = self.state();
        if state.listener == Listener::There {
            state.waiting.push_back(terminal);
            self.notice.notify_one();
        }
    }

    fn is_over(&self) -> bool {
        let state = self.state();
        state.sources == 0 && state.waiting.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl std::fmt::Debug for UpdateBoard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Board({} waiting)", self.state().waiting.len())
    }
}

/// Whoever may put something on the board. When the last one is gone, the updates end.
#[derive(Debug)]
pub(crate) struct UpdateSource(Arc<UpdateBoard>);

impl UpdateSource {
    pub(crate) fn new(board: Arc<UpdateBoard>) -> Self {
        board.state().sources += 1;
        Self(board)
    }

    pub(crate) fn another(&self) -> Self {
        Self::new(Arc::clone(&self.0))
    }

    pub(crate) fn listen(&self) -> Option<TerminalUpdates> {
        self.0.listen()
    }
}

impl Deref for UpdateSource {
    type Target = UpdateBoard;

    fn deref(&self) -> &UpdateBoard {
        &self.0
    }
}

impl Drop for UpdateSource {
    fn drop(&mut self) {
        self.0.state().sources -= 1;
        self.0.notice.notify_one();
    }
}

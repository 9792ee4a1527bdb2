//! One terminal: a command, the end of its output, and what is still to be told of it.

use std::{mem, sync::Arc, time::Duration};

use nudge_process::ProcessTree;
use nudge_wire::RawJson;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::{
    CommandEvent, CommandExit, RunningCommand, blocking,
    output::ShownOutput,
    tail::OutputTail,
    update,
    updates::{UpdateBoard, UpdateSource},
};

/// How long a command that is killed may take to leave by itself.
const GRACE: Duration = Duration::from_millis(500);
/// The longest piece of output that is told at once.
const CHUNK: usize = 64 * 1024;

/// A terminal, which lives on after its release until its end was told.
pub(crate) struct CommandTerminal {
    id: String,
    state: Mutex<State>,
    tree: Mutex<Option<ProcessTree>>,
    exit: watch::Sender<Option<CommandExit>>,
    /// Its share of the memory for what is not told yet.
    _share: OwnedSemaphorePermit,
}

struct State {
    tail: OutputTail,
    /// `None` if nobody listens.
    news: Option<News>,
}

/// What is still to be told.
#[derive(Default)]
struct News {
    shown: ShownOutput,
    started: Option<RawJson>,
    output: Vec<u8>,
    ended: Option<RawJson>,
    /// Whether the board has been told that there is something.
    is_posted: bool,
}

impl CommandTerminal {
    /// A terminal for a command that was just started. `started` is told first, if anybody is told anything.
    pub(crate) fn new(
        id: String,
        limit: usize,
        tree: ProcessTree,
        started: Option<RawJson>,
        share: OwnedSemaphorePermit,
    ) -> Self {
        let news = started.map(|started| News { started: Some(started), ..News::default() });
        Self {
            id,
            state: Mutex::new(State { tail: OutputTail::new(limit), news }),
            tree: Mutex::new(Some(tree)),
            exit: watch::Sender::new(None),
            _share: share,
        }
    }

    /// Takes what the command says until it has ended.
    pub(crate) async fn attend(self: Arc<Self>, mut running: RunningCommand, board: UpdateSource) {
        self.post(&board, |_| {});
        let exit = loop {
            match running.next().await {
                CommandEvent::Output(bytes) => self.record(&board, bytes),
                CommandEvent::Ended(exit) => break exit,
            }
        };
        // Whatever the command has left running goes now. Finding it takes a look at all processes.
        let tree = self.take_tree();
        blocking(move || drop(tree)).await;
        while let Some(bytes) = running.rest().await {
            self.record(&board, bytes);
        }
        self.post(&board, |news| {
            let output = news.shown.instead();
            news.ended = Some(update::terminal_ended(&self.id, &exit, output.as_deref()));
        });
        self.exit.send_replace(Some(exit));
    }

    /// The end of the output, whether there was more before it, and how the command ended if it has.
    pub(crate) fn output(&self) -> (String, bool, Option<CommandExit>) {
        // Asked first: output that came after this is not missed then.
        let exit = self.exit.borrow().clone();
        let (text, is_cut) = self.state().tail.text(exit.is_none());
        (text, is_cut, exit)
    }

    pub(crate) async fn exit(&self) -> CommandExit {
        let mut exit = self.exit.subscribe();
        let ended = exit.wait_for(Option::is_some).await;
        ended.ok().and_then(|exit| exit.clone()).unwrap_or_default()
    }

    /// Ends the command with everything it has started, and comes back when it has ended.
    pub(crate) async fn kill(&self) {
        // Given up while it waits, it has been killed nevertheless: a tree that is dropped is.
        let tree = self.take_tree();
        if let Some(tree) = tree {
            tree.stop(GRACE).await;
        }
        self.exit().await;
    }

    /// Kills at once and does not wait.
    pub(crate) fn end(&self) {
        drop(self.take_tree());
    }

    /// The next thing to be told, and whether there is more.
    pub(crate) fn tell(&self) -> (Option<RawJson>, bool) {
        let mut state = self.state();
        let Some(news) = &mut state.news else { return (None, false) };
        let next = news.next(&self.id);
        news.is_posted = news.has_more();
        (next, news.is_posted)
    }

    fn record(self: &Arc<Self>, board: &UpdateSource, bytes: &[u8]) {
        self.state().tail.push(bytes);
        self.post(board, |news| {
            let shown = news.shown.push(bytes);
            news.output.extend_from_slice(shown);
        });
    }

    /// Changes what is to be told and puts the terminal on the board, once.
    fn post(self: &Arc<Self>, board: &UpdateBoard, change: impl FnOnce(&mut News)) {
        let is_new = {
            let mut state = self.state();
            let Some(news) = &mut state.news else { return };
            change(news);
            news.has_more() && !mem::replace(&mut news.is_posted, true)
        };
        if is_new {
            board.post(Arc::clone(self));
        }
    }

    fn take_tree(&self) -> Option<ProcessTree> {
        self.tree.lock().take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl News {
    fn next(&mut self, id: &str) -> Option<RawJson> {
        if let Some(started) = self.started.take() {
            return Some(started);
        }
        if self.output.is_empty() {
            return self.ended.take();
        }
        let rest = self.output.split_off(self.output.len().min(CHUNK));
        let chunk = mem::replace(&mut self.output, rest);
        Some(update::terminal_output(id, &chunk))
    }

    fn has_more(&self) -> bool {
        self.started.is_some() || !self.output.is_empty() || self.ended.is_some()
    }
}

//! How long a document may be parsed, decided by somebody who has a clock.

use std::{
    cell::Cell,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use tree_sitter::ParseState;

/// Decides how long a parse may take.
pub trait ParsePatience: Send + Sync {
    /// A parse begins. It asks again and again, at least every millisecond, whether it may go on.
    fn begin(&self) -> Box<dyn Fn() -> bool + '_>;
}

/// The patience of one question with one document.
pub(crate) struct DocumentPatience {
    patience: Arc<dyn ParsePatience>,
    /// Whether the document could not be parsed in time. Nor could it be if it were tried again.
    gave_up: AtomicBool,
}

/// A parse under way.
pub(crate) struct ParseWatch<'a> {
    keep_going: &'a dyn Fn() -> bool,
    gave_up: Cell<bool>,
}

/// Whose turn it is to parse a document, shared by all its versions: one parse of a document goes on at a time.
#[derive(Default)]
pub(crate) struct ParseTurn {
    parsing: Mutex<()>,
    /// How many wait for it.
    waiting: AtomicUsize,
    /// Counts the versions of the text.
    newest: AtomicU64,
}

impl DocumentPatience {
    pub(crate) fn new(patience: Arc<dyn ParsePatience>) -> Arc<Self> {
        Arc::new(Self { patience, gave_up: AtomicBool::new(false) })
    }

    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed)
    }

    pub(crate) fn give_up(&self) {
        self.gave_up.store(true, Ordering::Relaxed);
    }

    /// For a parse that begins.
    pub(crate) fn begin(&self) -> Box<dyn Fn() -> bool + '_> {
        self.patience.begin()
    }
}

impl<'a> ParseWatch<'a> {
    pub(crate) fn new(keep_going: &'a dyn Fn() -> bool) -> Self {
        Self { keep_going, gave_up: Cell::new(false) }
    }

    /// Whether a parse was given up.
    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up.get()
    }

    /// What the parser asks from time to time.
    pub(crate) fn check(&self, _: &ParseState) -> ControlFlow<()> {
        if self.gave_up.get() || !(self.keep_going)() {
            self.gave_up.set(true);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl ParseTurn {
    /// Waits for the turn. Whoever has it without need gives it back.
    pub(crate) fn take(&self) -> MutexGuard<'_, ()> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let turn = self.parsing.lock();
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        turn
    }

    /// Whether somebody waits for the turn.
    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Counts another version of the text.
    pub(crate) fn next(&self) -> u64 {
        self.newest.fetch_add(1, Ordering::AcqRel) + 1
    }

    pub(crate) fn is_newest(&self, version: u64) -> bool {
        self.newest.load(Ordering::Acquire) == version
    }
}

//! What was edited, told as a person would: a few lines before, a few lines after, keystroke by keystroke joined.

mod entry;
mod from_diff;
mod runs;

use std::{collections::VecDeque, ops::Range, sync::Arc};

pub use from_diff::from_diff;

use self::{
    entry::OpenLines,
    runs::{LineRun, runs},
};
use crate::{Edits, Text};

/// How many changes are kept if nothing else is asked for.
const CAPACITY: usize = 64;

/// One edit as a person would name it: whole lines before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    /// The document.
    pub uri: Arc<str>,
    /// The lines before, joined with `\n`, without a final break.
    pub before: String,
    /// The lines after, likewise.
    pub after: String,
    /// How many lines there were before; none if lines were only inserted.
    pub before_lines: usize,
    /// How many lines there are after; none if lines were only deleted.
    pub after_lines: usize,
    /// Where `after` begins in the document as it is now. Without lines after: the line that is now at the place, which
    /// is one past the last if the end of the document was deleted.
    pub line: usize,
    /// Up to three lines above, the nearest last.
    pub above: Vec<String>,
    /// Up to three lines below, the nearest first.
    pub below: Vec<String>,
    /// The bytes of `after` that differ; what is in common with `before` at both ends is left out.
    pub touched: Range<usize>,
    /// When its last keystroke was, in the milliseconds the caller counts.
    pub time: u64,
    /// Whether it is still being typed into.
    pub open: bool,
    /// Whether its last edit put several words there at once, as keys do not.
    pub pasted: bool,
}

/// The last changes, across all documents.
///
/// An edit goes on with the newest change if it lies on the lines of that; any other begins a new one. Changes that come
/// to nothing are left out, and so are those too large to be of use.
#[derive(Debug, Clone)]
pub struct EditHistory {
    closed: VecDeque<Closed>,
    /// What the last recorded edits began or went on with: one change, or one for each of several carets.
    open: Vec<OpenLines>,
    capacity: usize,
}

#[derive(Debug, Clone)]
struct Closed {
    change: LineChange,
    /// The document is still known, so the line follows its edits.
    followed: bool,
}

impl Default for EditHistory {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl EditHistory {
    /// A history of at most this many changes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { closed: VecDeque::new(), open: Vec::new(), capacity }
    }

    /// Records edits of one document, made at one time. `after` is `before` with the edits made.
    ///
    /// The cost does not depend on the length of the document.
    pub fn record(&mut self, uri: &Arc<str>, before: &Text, edits: &Edits, after: &Text, time: u64) {
        let runs = runs(before, edits, after);
        if runs.is_empty() {
            return;
        }
        if !self.goes_on(uri, &runs, after, time) {
            self.close_open();
            self.follow(uri, &runs);
            let room = self.capacity.min(runs.len());
            self.open = runs[runs.len() - room..]
                .iter()
                .map(|run| OpenLines::new(uri, before, run, after, time))
                .collect();
            self.bound();
        }
    }

    /// The changes, oldest first.
    pub fn changes(&self) -> Vec<LineChange> {
        let closed = self.closed.iter().map(|closed| closed.change.clone());
        closed.chain(self.open.iter().filter_map(|open| open.change(true))).collect()
    }

    /// Ends the newest change: the next edit begins a new one.
    pub fn close_open(&mut self) {
        for open in self.open.drain(..) {
            self.closed.extend(open.change(false).map(|change| Closed { change, followed: true }));
        }
        self.bound();
    }

    /// Tells that a document was closed. Its changes stay, but their lines no longer follow.
    pub fn forget(&mut self, uri: &str) {
        if self.open.iter().any(|open| *open.uri == *uri) {
            self.close_open();
        }
        for closed in self.closed.iter_mut().filter(|closed| *closed.change.uri == *uri) {
            closed.followed = false;
        }
    }

    /// Goes on with the open changes, if that is what the runs do.
    fn goes_on(&mut self, uri: &Arc<str>, runs: &[LineRun], after: &Text, time: u64) -> bool {
        if self.open.is_empty() || self.open.iter().any(|open| open.uri != *uri) {
            return false;
        }
        let carets = self.open.len();
        if carets == runs.len() {
            let all = self.open.iter().zip(runs).all(|(open, run)| open.owns(run, time, carets > 1));
            if all {
                self.follow(uri, runs);
                self.open.iter_mut().zip(runs).for_each(|(open, run)| open.extend(run, after, time));
            }
            return all;
        }
        let [run] = runs else { return false };
        let Some(newest) = self.open.pop() else { return false };
        self.close_open();
        self.open.push(newest);
        let owns = self.open[0].owns(run, time, true);
        if owns {
            self.follow(uri, runs);
            self.open[0].extend(run, after, time);
        }
        owns
    }

    /// Moves the lines of closed changes to where they are after the runs.
    fn follow(&mut self, uri: &Arc<str>, runs: &[LineRun]) {
        for closed in self.closed.iter_mut().filter(|closed| closed.followed && closed.change.uri == *uri) {
            closed.change.line = runs::mapped(runs, closed.change.line);
        }
    }

    fn bound(&mut self) {
        let room = self.capacity.saturating_sub(self.open.len());
        let over = self.closed.len().saturating_sub(room);
        self.closed.drain(..over);
    }
}

//! The transcript: numbers its entries, names the messages they belong to, and keeps the newest in memory.

use std::{collections::VecDeque, sync::Arc};

use nudge_bridge::{IndexedUpdate, UpdateKind};

use crate::ids::IdMint;

/// Entries kept in memory, so that a client that reads the history can catch up with what is not on disk yet.
const RECENT: usize = 1024;
/// Bytes of them.
const RECENT_BYTES: usize = 4 * 1024 * 1024;

/// The transcript of a session, as far as it is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionTranscript {
    /// The number of the next entry.
    next_seq: u64,
    /// The number after that of the last entry shown.
    shown: u64,
    /// The number after that of the last entry on disk.
    on_disk: u64,
    /// The newest entries shown, and all of those that are not on disk.
    recent: VecDeque<(u64, IndexedUpdate)>,
    recent_bytes: usize,
    runs: MessageRuns,
}

impl SessionTranscript {
    /// One whose entries before `next_seq` are on disk.
    pub(crate) fn new(next_seq: u64) -> Self {
        Self {
            next_seq,
            shown: next_seq,
            on_disk: next_seq,
            recent: VecDeque::new(),
            recent_bytes: 0,
            runs: MessageRuns::default(),
        }
    }

    /// Names the message that an update belongs to, if it does not say so itself.
    pub(crate) fn name(&mut self, update: &mut IndexedUpdate, ids: &mut IdMint) {
        self.runs.name(update, || ids.message());
    }

    /// The number for an entry that is appended.
    pub(crate) fn number(&mut self) -> u64 {
        self.next_seq += 1;
        self.next_seq - 1
    }

    /// The number after that of the last entry shown.
    pub(crate) fn shown(&self) -> u64 {
        self.shown
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    pub(crate) fn on_disk(&self) -> u64 {
        self.on_disk
    }

    /// All before this number is on disk.
    pub(crate) fn committed(&mut self, next_seq: u64) {
        self.on_disk = next_seq;
    }

    /// All is on disk, of which what comes before `shown` was shown; `next_seq` is next. Entries may have other numbers there
    /// than in memory, and some may be there that were not shown: who wants the history reads it.
    pub(crate) fn recovered(&mut self, shown: u64, next_seq: u64) {
        (self.shown, self.next_seq, self.on_disk) = (shown, next_seq, next_seq);
        self.recent.clear();
        self.recent_bytes = 0;
    }

    /// Keeps an entry that was shown in memory until it is on disk, and for a while after that.
    pub(crate) fn remember(&mut self, seq: u64, update: &IndexedUpdate) {
        self.shown = seq + 1;
        self.recent_bytes += update.raw.as_str().len();
        self.recent.push_back((seq, update.without_message()));
        while self.recent.len() > RECENT || self.recent_bytes > RECENT_BYTES {
            let on_disk = self.on_disk;
            let Some((_, oldest)) = self.recent.pop_front_if(|(seq, _)| *seq < on_disk) else { break };
            self.recent_bytes -= oldest.raw.as_str().len();
        }
    }

    /// Entries of the history from this number on that were shown; `None` if some are not in memory any more.
    pub(crate) fn since(&self, from: u64) -> Option<Vec<IndexedUpdate>> {
        let oldest = self.recent.front().map_or(self.shown, |(seq, _)| *seq);
        let missing = self.recent.iter().filter(|(seq, update)| *seq >= from && update.kind.is_replayed());
        (from >= oldest).then(|| missing.map(|(_, update)| update.clone()).collect())
    }

    /// Forgets entries before this number that are on disk.
    pub(crate) fn forget(&mut self, before: u64) {
        let end = before.min(self.on_disk);
        while let Some((_, oldest)) = self.recent.pop_front_if(|(seq, _)| *seq < end) {
            self.recent_bytes -= oldest.raw.as_str().len();
        }
    }

    /// Entries that were shown and are not known to be on disk.
    pub(crate) fn in_doubt(&self) -> impl Iterator<Item = &(u64, IndexedUpdate)> {
        self.recent.iter().filter(|(seq, _)| *seq >= self.on_disk)
    }
}

/// The messages that chunks belong to which do not say so. Version 1 need not: a chunk belongs to the message of the one
/// before it, if it is of the same kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct MessageRuns(Option<(UpdateKind, Arc<str>)>);

impl MessageRuns {
    /// Names the message that an update belongs to; `mint` makes an id for a new one.
    pub fn name(&mut self, update: &mut IndexedUpdate, mint: impl FnOnce() -> Arc<str>) {
        let kind = &update.kind;
        if !kind.is_message_chunk() {
            if kind.is_stored() {
                self.0 = None;
            }
            return;
        }
        if update.message_id.is_some() {
            self.0 = None;
        } else if let Some((_, id)) = self.0.as_ref().filter(|(run, _)| run == kind) {
            update.message_id = Some(Arc::clone(id));
        } else {
            let id = mint();
            self.0 = Some((kind.clone(), Arc::clone(&id)));
            update.message_id = Some(id);
        }
    }
}

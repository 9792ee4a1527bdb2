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

#[cfg(test)]
mod tests {
    use nudge_wire::RawJson;

    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn chunks_of_another_kind_are_of_another_message() {
        let mut runs = MessageRuns::default();
        let mut minted = 0;
        let mut name = |kind: &str| {
            let raw = RawJson::of(&serde_json::json!({ "sessionUpdate": kind })).expect("plain data is JSON");
            let mut update = IndexedUpdate::read(&raw).expect("it has its kind");
            runs.name(&mut update, || {
                minted += 1;
                format!("m{minted}").into()
            });
            update.message_id.expect("a chunk is of a message").to_string()
        };
        let kinds =
            ["agent_message_chunk", "agent_message_chunk", "agent_thought_chunk", "agent_message_chunk"];
        assert_eq!(kinds.map(&mut name), ["m1", "m1", "m2", "m3"]);
    }

    /// An entry of so many bytes is shown.
    fn show(transcript: &mut SessionTranscript, bytes: usize) {
        let raw = RawJson::of(&"x".repeat(bytes - 2)).expect("a string is JSON");
        let seq = transcript.number();
        transcript.remember(seq, &IndexedUpdate::new(UpdateKind::AgentMessageChunk, raw));
    }

    /// So many entries of so many bytes are shown and land, one after the other.
    fn land(transcript: &mut SessionTranscript, count: usize, bytes: usize) {
        for _ in 0..count {
            show(transcript, bytes);
            transcript.committed(transcript.next_seq());
        }
    }

    /// The number of the oldest entry in memory.
    fn oldest(transcript: &SessionTranscript) -> Option<u64> {
        (0..transcript.next_seq()).find(|from| transcript.since(*from).is_some())
    }

    #[test]
    fn so_many_entries_are_remembered() {
        let mut transcript = SessionTranscript::new(0);
        land(&mut transcript, 1024, 2);
        assert_eq!(oldest(&transcript), Some(0));
        assert_eq!(transcript.since(0).map(|entries| entries.len()), Some(1024));
        land(&mut transcript, 1, 2);
        assert_eq!(oldest(&transcript), Some(1));
    }

    #[test]
    fn so_many_bytes_are_remembered() {
        let mut transcript = SessionTranscript::new(0);
        land(&mut transcript, 4, MIB);
        assert_eq!(oldest(&transcript), Some(0), "just as many as may be");
        land(&mut transcript, 1, 2);
        assert_eq!(oldest(&transcript), Some(1));
    }

    #[test]
    fn what_makes_room_no_longer_counts() {
        let mut transcript = SessionTranscript::new(0);
        land(&mut transcript, 5, MIB);
        assert_eq!(oldest(&transcript), Some(1));
        land(&mut transcript, 1, MIB);
        assert_eq!(oldest(&transcript), Some(2));
    }

    #[test]
    fn what_is_not_on_disk_is_remembered_however_much_it_is() {
        let mut transcript = SessionTranscript::new(0);
        for _ in 0..1030 {
            show(&mut transcript, 2);
        }
        assert_eq!(oldest(&transcript), Some(0));
        transcript.committed(3);
        show(&mut transcript, 4 * MIB);
        assert_eq!(oldest(&transcript), Some(3));
        assert_eq!(transcript.in_doubt().count(), 1028);
    }

    #[test]
    fn what_is_not_on_disk_is_not_forgotten() {
        let mut transcript = SessionTranscript::new(0);
        land(&mut transcript, 3, 2);
        show(&mut transcript, 2);
        show(&mut transcript, 2);
        transcript.forget(2);
        assert_eq!(oldest(&transcript), Some(2), "only what comes before that");
        transcript.forget(5);
        assert_eq!(oldest(&transcript), Some(3));
    }

    #[test]
    fn what_was_forgotten_no_longer_counts() {
        let mut transcript = SessionTranscript::new(0);
        land(&mut transcript, 4, MIB);
        transcript.forget(2);
        land(&mut transcript, 2, MIB);
        assert_eq!(oldest(&transcript), Some(2), "there was room for them");
        land(&mut transcript, 1, MIB);
        assert_eq!(oldest(&transcript), Some(3));
    }

    #[test]
    fn chunks_that_name_no_message_belong_to_that_of_the_one_before() {
        let (mut transcript, mut ids) = (SessionTranscript::new(0), IdMint::new(0));
        let mut minted = IdMint::new(0);
        let [first, second, third, fourth] = std::array::from_fn(|_| Some(minted.message()));
        let null = || RawJson::of(&()).expect("nothing is JSON");
        let mut named = |mut update: IndexedUpdate| {
            transcript.name(&mut update, &mut ids);
            update.message_id
        };
        let mut name = |kind| named(IndexedUpdate::new(kind, null()));
        assert_eq!(name(UpdateKind::AgentMessageChunk), first);
        assert_eq!(name(UpdateKind::AgentMessageChunk), first);
        assert_eq!(name(UpdateKind::AgentThoughtChunk), second, "it is of another kind");
        assert_eq!(name(UpdateKind::SessionInfoUpdate), None);
        assert_eq!(name(UpdateKind::AgentThoughtChunk), second, "what is not stored is not between them");
        assert_eq!(name(UpdateKind::ToolCall), None);
        assert_eq!(name(UpdateKind::AgentThoughtChunk), third, "a tool call is between them");
        let own = IndexedUpdate::new(UpdateKind::AgentThoughtChunk, null()).of_message("own");
        assert_eq!(named(own).as_deref(), Some("own"));
        let after = IndexedUpdate::new(UpdateKind::AgentThoughtChunk, null());
        assert_eq!(named(after), fourth, "a message that is named is between them");
    }
}

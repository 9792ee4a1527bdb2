//! What survives a crash: what the commits so far wrote.

use std::collections::BTreeMap;

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{MailboxChange, MessageId, SavedMailbox};
use nudge_session::{
    FORMER_CLIENT, InputChange, InputContent, RowChange, SessionCommit, StoreOperation, StoredState,
    TranscriptPast,
};

use super::{
    audit::Wrong,
    said::{self, Content},
};

/// A session on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Disk {
    pub(super) inputs: SavedMailbox<InputContent>,
    next_input: u64,
    pub(super) past: TranscriptPast,
    /// The entries that the core does not know to be there.
    entries: BTreeMap<u64, IndexedUpdate>,
    pub(super) is_closed: bool,
    pub(super) is_deleted: bool,
    /// Answers to permission requests which the agent was not given yet.
    pub(super) permits: u8,
}

/// What a commit did to the messages of the users.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) delivered: Vec<(MessageId, Content)>,
    pub(super) wrong: Option<Wrong>,
}

impl Disk {
    /// Whether a commit can be written: what it changes is there.
    pub(super) fn takes(&self, commit: &SessionCommit) -> bool {
        let mut inputs = self.inputs.clone();
        commit.operations.iter().all(|operation| {
            let StoreOperation::Input(InputChange { change, .. }) = operation else { return true };
            let waits = |id: &MessageId| inputs.pending.iter().any(|message| message.id == *id);
            let is_there = match change {
                MailboxChange::Added(_) | MailboxChange::Forgotten { .. } => true,
                MailboxChange::Replaced { id, .. } | MailboxChange::Revoked { id } => waits(id),
                MailboxChange::Delivered { ids } => ids.iter().all(waits),
            };
            inputs.apply(change.clone());
            is_there
        })
    }

    /// Writes a commit down.
    pub(super) fn apply(&mut self, commit: &SessionCommit) -> Written {
        let mut written = Written::default();
        let mut appended = Vec::new();
        for operation in &commit.operations {
            match operation {
                StoreOperation::Append { seq, update } => {
                    let is_new = *seq >= self.past.next_seq;
                    written.wrong = written.wrong.or((!is_new).then_some(Wrong::SameNumber));
                    self.append(*seq, update);
                    appended.extend(of_user(update));
                }
                StoreOperation::Input(change) => self.change(change, &mut written),
                StoreOperation::UpdateSession(RowChange { closed, .. }) => {
                    self.is_closed |= *closed == Some(true);
                }
                StoreOperation::DeleteSession => self.is_deleted = true,
            }
        }
        // A message is delivered with its entry, and each entry delivers one.
        let is_same = appended == written.delivered;
        written.wrong = written.wrong.or((!is_same).then_some(Wrong::EntryApart));
        written
    }

    fn append(&mut self, seq: u64, update: &IndexedUpdate) {
        self.past.take(seq, update);
        self.entries.insert(seq, update.clone().without_message());
        self.permits += u8::from(update.kind == UpdateKind::PermissionAnswer);
    }

    fn change(&mut self, InputChange { change, seq }: &InputChange, written: &mut Written) {
        let mut change = change.clone();
        let is_known = |id: &MessageId| {
            let named = self.inputs.pending.iter().map(|message| &message.id);
            named.chain(&self.inputs.delivered).chain(&self.inputs.revoked).any(|known| known == id)
        };
        match &mut change {
            MailboxChange::Added(message) => {
                let is_same = *seq < self.next_input || is_known(&message.id);
                written.wrong = written.wrong.or(is_same.then_some(Wrong::SameNumber));
                self.next_input = seq + 1;
                // The store knows no connections and keeps no params.
                message.client = FORMER_CLIENT;
                message.content.params = None;
            }
            MailboxChange::Replaced { content, .. } => content.params = None,
            MailboxChange::Delivered { ids } => self.deliver(ids, written),
            MailboxChange::Revoked { .. } | MailboxChange::Forgotten { .. } => {}
        }
        self.inputs.apply(change);
    }

    /// Notes what messages say that are delivered, all behind none of their mode.
    fn deliver(&self, ids: &[MessageId], written: &mut Written) {
        let mut rest: Vec<_> = self.inputs.pending.iter().collect();
        for id in ids {
            let Some(at) = rest.iter().position(|message| message.id == *id) else {
                written.wrong = written.wrong.or(Some(Wrong::Twice));
                continue;
            };
            let message = rest.remove(at);
            let is_overtaking = rest[..at].iter().any(|before| before.mode == message.mode);
            written.wrong = written.wrong.or(is_overtaking.then_some(Wrong::Order));
            let content = said::read(message.content.content.as_str());
            written.delivered.extend(content.map(|content| (id.clone(), content)));
        }
    }

    /// What a session is told that could not be written.
    pub(super) fn stored(&self) -> StoredState {
        let Self { inputs, next_input, past, .. } = self.clone();
        StoredState { inputs, next_input, past, entries: self.entries.keys().copied().collect() }
    }

    /// How often an entry is there, among those that the core does not know of.
    pub(super) fn times(&self, update: &IndexedUpdate) -> usize {
        self.entries.values().filter(|entry| *entry == update).count()
    }

    pub(super) fn next_input(&self) -> u64 {
        self.next_input
    }

    /// Forgets what can make no difference any more: the core knows of the entries before `on_disk`.
    pub(super) fn forget(&mut self, on_disk: u64) {
        self.entries.retain(|seq, _| *seq >= on_disk);
        self.inputs.delivered.sort();
        self.inputs.revoked.sort();
        self.inputs.keys.sort();
    }
}

/// A message of the user in the transcript.
fn of_user(update: &IndexedUpdate) -> Option<(MessageId, Content)> {
    let id = update.message_id.clone().filter(|_| update.kind == UpdateKind::UserMessage)?;
    Some((id, said::read(update.raw.as_str())?))
}

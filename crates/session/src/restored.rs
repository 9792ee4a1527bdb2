//! How a session comes back into use: what its transcript tells, and what is written before anybody joins.

use std::collections::{BTreeMap, BTreeSet};

use nudge_bridge::{CallProgress, IndexedUpdate, UpdateKind};
use nudge_mailbox::{Mailbox, MailboxChange, SavedMailbox};
use nudge_wire::{RawJson, Version};

use crate::{InputContent, StoreOperation, effect::InputChange, ids::IdMint, own_updates};

/// What a transcript tells of how a session was left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TranscriptPast {
    /// The number of the next entry.
    pub next_seq: u64,
    /// Whether a turn is under way.
    pub is_running: bool,
    /// Whether it tells whether a turn is under way.
    pub has_state: bool,
    /// Tool calls that have not ended, and the version they are written in.
    pub open_tools: BTreeMap<String, Version>,
    /// Terminals that could be cancelled and have not ended.
    pub open_terminals: BTreeSet<String>,
}

impl TranscriptPast {
    /// Takes an entry in.
    pub fn take(&mut self, seq: u64, update: &IndexedUpdate) {
        self.next_seq = seq + 1;
        match &update.kind {
            UpdateKind::StateUpdate => {
                self.has_state = true;
                self.is_running = update.raw.get(&["state"]).is_none_or(|state| state.as_str() != "\"idle\"");
            }
            UpdateKind::TerminalUpdate => self.take_terminal(update),
            kind if kind.is_tool_call() => self.take_tool_call(update),
            _ => {}
        }
    }

    fn take_terminal(&mut self, update: &IndexedUpdate) {
        let member = |path: &[&str]| update.raw.get(path).filter(|value| value.as_str() != "null");
        let Some(id) = member(&["terminalId"]).and_then(|id| id.to::<String>().ok()) else { return };
        if member(&["exitStatus"]).is_some() {
            self.open_terminals.remove(&id);
        } else if member(&["capabilities", "cancel"]).is_some() {
            self.open_terminals.insert(id);
        }
    }

    fn take_tool_call(&mut self, update: &IndexedUpdate) {
        let Some(id) = &update.tool_call_id else { return };
        let status = update.raw.get(&["status"]);
        match CallProgress::of(&update.kind, status.as_ref().map(RawJson::as_str)) {
            Some(CallProgress::Open) => {
                self.open_tools.insert(id.to_string(), update.version);
            }
            Some(CallProgress::Over) => {
                self.open_tools.remove(&**id);
            }
            None => {}
        }
    }
}

/// A session as a crash or a close left it, brought into an order from which it can be used. Nothing of it runs before a
/// client has joined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RestoredSession {
    /// What waits. It is held until somebody comes back.
    pub mailbox: Mailbox<InputContent>,
    /// The number of the next entry.
    pub next_seq: u64,
    /// To be written before it is in use.
    pub operations: Vec<StoreOperation>,
    /// What is said in it of a turn that was cut off.
    pub interruption: Vec<IndexedUpdate>,
}

impl RestoredSession {
    /// From what is on disk. Two of them must not have the same seed.
    pub fn new(inputs: SavedMailbox<InputContent>, past: &TranscriptPast, seed: u64) -> Self {
        let (mailbox, mut operations) = dropped(Mailbox::restore(inputs));
        let mut next_seq = past.next_seq;
        let mut interrupted = Vec::new();
        if past.is_running {
            let id = IdMint::new(seed).message();
            interrupted = interruption(past, &id, "Nudge ended while it ran");
        }
        for update in &interrupted {
            operations.push(StoreOperation::Append { seq: next_seq, update: update.clone() });
            next_seq += 1;
        }
        Self { mailbox, next_seq, operations, interruption: interrupted }
    }
}

/// What a transcript ends with whose turn was cut off.
pub(crate) fn interruption(past: &TranscriptPast, message_id: &str, why: &str) -> Vec<IndexedUpdate> {
    let terminals = past.open_terminals.iter().map(|id| own_updates::terminal_lost(id));
    let tools = past.open_tools.iter().map(|(id, version)| own_updates::tool_call_cancelled(id, *version));
    let mut updates: Vec<_> = terminals.chain(tools).collect();
    updates.push(own_updates::interrupted(message_id, why));
    updates.push(own_updates::idle(Some("cancelled")));
    updates
}

/// A mailbox that was restored, and what it let go of, to be written down.
pub(crate) fn dropped(mut mailbox: Mailbox<InputContent>) -> (Mailbox<InputContent>, Vec<StoreOperation>) {
    let changes = mailbox.take_changes().into_iter();
    let is_drop = |change: &MailboxChange<_>| {
        matches!(change, MailboxChange::Revoked { .. } | MailboxChange::Forgotten { .. })
    };
    let dropped = changes.filter(is_drop);
    let operations = dropped.map(|change| StoreOperation::Input(InputChange { change, seq: 0 })).collect();
    (mailbox, operations)
}

#[cfg(test)]
mod tests {
    use nudge_wire::RawJson;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_ran_when_it_was_cut_off_is_told_to_be_over() {
        let mut past = TranscriptPast::default();
        for (seq, update) in (0..).zip([
            json!({ "sessionUpdate": "state_update", "state": "running" }),
            json!({ "sessionUpdate": "terminal_update", "terminalId": "ended", "capabilities": { "cancel": {} } }),
            json!({ "sessionUpdate": "terminal_update", "terminalId": "ended", "exitStatus": { "exitCode": 0 }, "capabilities": null }),
            json!({ "sessionUpdate": "terminal_update", "terminalId": "open", "capabilities": { "cancel": {} } }),
            json!({ "sessionUpdate": "terminal_update", "terminalId": "of others", "command": "ls" }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "call", "status": "in_progress" }),
        ]) {
            let update = RawJson::of(&update).expect("plain data");
            past.take(seq, &IndexedUpdate::read(&update).expect("an update"));
        }
        let restored = RestoredSession::new(SavedMailbox::default(), &past, 1);
        let told: Vec<Value> =
            restored.interruption.iter().map(|update| update.raw.to().expect("it is JSON")).collect();
        let exit = json!({ "exitCode": null, "signal": null });
        assert_eq!(
            told[..2],
            [
                json!({ "sessionUpdate": "terminal_update", "terminalId": "open", "exitStatus": exit, "capabilities": null }),
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": "call", "status": "cancelled", "capabilities": null }),
            ]
        );
        assert_eq!(told.len(), 4, "{told:#?}");
    }
}

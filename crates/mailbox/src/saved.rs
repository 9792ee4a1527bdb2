//! What a mailbox writes down, and what it is restored from.

use crate::{IdempotencyKey, MailboxMessage, MessageId};

/// Something to write down.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MailboxChange<C> {
    /// A message waits, behind all others of its mode.
    Added(MailboxMessage<C>),
    /// A waiting message says something else now.
    Replaced {
        /// Which message.
        id: MessageId,
        /// What it says now.
        content: C,
    },
    /// A waiting message was taken back.
    Revoked {
        /// Which message.
        id: MessageId,
    },
    /// The sender of a message was told that it was not accepted: one that waits is gone, of any other the key is free.
    Forgotten {
        /// Which message.
        id: MessageId,
    },
    /// Waiting messages became part of the conversation, in this order. The transcript gets them in the same commit.
    Delivered {
        /// Which messages.
        ids: Vec<MessageId>,
    },
}

/// A mailbox as it is kept across restarts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SavedMailbox<C> {
    /// What waits, in the order of acceptance.
    pub pending: Vec<MailboxMessage<C>>,
    /// What was delivered.
    pub delivered: Vec<MessageId>,
    /// What was taken back.
    pub revoked: Vec<MessageId>,
    /// The marks that clients gave, and the messages that they stand for.
    pub keys: Vec<(IdempotencyKey, MessageId)>,
}

impl<C> Default for SavedMailbox<C> {
    fn default() -> Self {
        Self { pending: Vec::new(), delivered: Vec::new(), revoked: Vec::new(), keys: Vec::new() }
    }
}

impl<C> SavedMailbox<C> {
    /// Takes a change in. A store that keeps rows does the same to its rows.
    pub fn apply(&mut self, change: MailboxChange<C>) {
        match change {
            MailboxChange::Added(message) => {
                self.keys.extend(message.key.clone().map(|key| (key, message.id.clone())));
                self.pending.push(message);
            }
            MailboxChange::Replaced { id, content } => {
                if let Some(message) = self.pending.iter_mut().find(|message| message.id == id) {
                    message.content = content;
                }
            }
            MailboxChange::Revoked { id } => {
                let is_it = |message: &MailboxMessage<C>| message.id == id;
                if self.pending.iter().any(|message| is_it(message) && message.dialect.frees_key()) {
                    self.keys.retain(|(_, named)| *named != id);
                }
                self.pending.retain(|message| !is_it(message));
                self.revoked.push(id);
            }
            MailboxChange::Forgotten { id } => {
                self.keys.retain(|(_, named)| *named != id);
                self.pending.retain(|message| message.id != id);
            }
            MailboxChange::Delivered { ids } => {
                self.pending.retain(|message| !ids.contains(&message.id));
                self.delivered.extend(ids);
            }
        }
    }
}

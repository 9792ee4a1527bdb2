//! What comes out of a mailbox: answers, deliveries and refusals.

use crate::{Message, MessageId};

/// A message is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Accepted {
    /// What it is known by.
    pub id: MessageId,
    /// Whether it was added now; if not, it is one that came before.
    pub fresh: bool,
}

/// A message will not be delivered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Revoked<C> {
    /// It was taken out now.
    Now(Message<C>),
    /// It had been taken back before.
    Already,
}

/// What a cancel did to the pending input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cancelled<C> {
    /// What was dropped because its dialect says so, in the order in which it would have been delivered.
    pub dropped: Vec<Message<C>>,
    /// How many messages remain and will be delivered after the turn has ended.
    pub following: usize,
}

/// Messages that become part of the conversation now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Delivery<C> {
    /// They start a turn: one queued message, or all the steers that were left over.
    Turn(Vec<Message<C>>),
    /// They go into the running turn.
    Steer {
        /// All the steers that waited, in the order of acceptance.
        messages: Vec<Message<C>>,
        /// Whether a stream is to be cut off for them.
        interrupt: bool,
    },
}

/// Why a request was not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// It came too late.
    #[error("expected a pending message, got one that was already delivered; send a new message instead")]
    AlreadyDelivered,
    /// There is no such message.
    #[error("expected the id of a pending message, got one that is unknown or revoked; list what is pending")]
    UnknownMessage,
    /// There is nothing to steer.
    #[error("expected a running turn to steer, but the session is idle; queue the message or prompt with it")]
    NoRunningTurn,
}

//! What comes out of a mailbox: answers and refusals.

use crate::{MailboxMessage, MessageId};

/// A message is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AcceptedMessage {
    /// What it is known by.
    pub id: MessageId,
    /// Whether it was added now; if not, it is one that came before.
    pub fresh: bool,
}

/// A message will not be delivered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RevokedMessage<C> {
    /// It was taken out now.
    Now(MailboxMessage<C>),
    /// It had been taken back before.
    Already,
}

/// Why a request was not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MailboxRefusal {
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

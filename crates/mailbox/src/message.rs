//! A user's message and how it came.

use std::sync::Arc;

/// What a message is known by; minted by the caller, never used twice in a session.
pub type MessageId = Arc<str>;

/// What a client repeats with a request that it sends again, so that it counts once.
pub type IdempotencyKey = Arc<str>;

/// The connection that sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// When a message is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeliveryMode {
    /// After the session is idle, as a turn of its own.
    Queue,
    /// Into the running turn, at its next break-point.
    Steer,
}

/// The method a message came by, which decides what a cancel and a restart do to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputDialect {
    /// `session/inject`: answered once it is pending; only a revoke drops it.
    Inject,
    /// `_session/steering`: as durable as an inject.
    Steering,
    /// `session/prompt` of v1: answered at the end of its turn; a cancel drops it while it waits.
    PromptV1,
    /// `session/prompt` of v2: answered when delivered; a cancel or a restart drops it while it waits.
    PromptV2,
}

impl InputDialect {
    /// Whether a message that waits is dropped when the user cancels the running turn.
    pub(crate) fn ends_with_cancel(self) -> bool {
        matches!(self, Self::PromptV1 | Self::PromptV2)
    }

    /// Whether the key of a message that was not delivered may be used again: its sender was told that nothing came of it,
    /// or nothing at all, and sends it again to be heard.
    pub(crate) fn frees_key(self) -> bool {
        matches!(self, Self::PromptV1 | Self::PromptV2)
    }

    /// Whether a message that waits is dropped by a restart: its sender was never told that it is kept.
    pub(crate) fn ends_with_restart(self) -> bool {
        matches!(self, Self::PromptV2)
    }
}

/// A user's message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MailboxMessage<C> {
    /// What revoke and replace name it by.
    pub id: MessageId,
    /// Who sent it.
    pub client: ClientId,
    /// When it is delivered.
    pub mode: DeliveryMode,
    /// How it came.
    pub dialect: InputDialect,
    /// What it says; opaque here.
    pub content: C,
    /// The sender's mark for retries.
    pub key: Option<IdempotencyKey>,
}

/// What became of an accepted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageFate {
    /// It waits, and can be revoked or replaced.
    Pending,
    /// It is part of the conversation.
    Delivered,
    /// It was taken back, by a revoke or because its dialect says so, and will never be delivered.
    Revoked,
}

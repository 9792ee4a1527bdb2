//! Input of a user that waits for its turn, and what became of it.

use std::sync::Arc;

/// The id of a message.
pub type InputId = Arc<str>;

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputState {
    /// It waits.
    Pending,
    /// It is in the transcript.
    Delivered,
    /// It was taken back.
    Revoked,
}

/// One input. It is kept for the session's life, so that a retry or a late revoke gets the right answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredInput {
    /// Its message id, unique in the session.
    pub id: InputId,
    /// Its place in the order in which inputs were accepted.
    pub seq: u64,
    /// The client it came from.
    pub client: u64,
    /// How it wants to be delivered, opaque to the store.
    pub mode: String,
    /// By which method it came, opaque to the store.
    pub dialect: String,
    /// What the client marked it with, so that a retry adds nothing.
    pub key: Option<String>,
    /// What became of it.
    pub state: InputState,
    /// Its content as raw JSON text; dropped once it is no longer pending.
    pub content: Option<String>,
}

//! What the user says, on its way to the agent.

use std::sync::Arc;

use nudge_wire::{RawJson, Version};

/// A message of the user that is part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserMessage {
    /// The message's id in the session.
    pub id: Arc<str>,
    /// An array of content blocks.
    pub content: RawJson,
    /// The params of the `session/prompt` it came in, if it came in one.
    pub params: Option<PromptParams>,
}

/// The params of a `session/prompt` as a client wrote them, which pass unchanged to an agent of the same version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PromptParams {
    /// The version of the client.
    pub version: Version,
    /// As they came.
    pub raw: RawJson,
}

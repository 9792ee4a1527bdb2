//! What a model answers.

use std::time::{Duration, SystemTime};

use nudge_wire::RawJson;

/// A part of an answer as it comes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnswerPiece {
    /// Text for the user, to be appended to what came before.
    Text(String),
    /// Reasoning, likewise.
    Thought(String),
    /// Reasoning as the provider wants it back. Never shown.
    Reasoning(SignedReasoning),
    /// A whole tool call.
    ToolCall(ToolCall),
    /// The plan as it now is.
    Plan(Vec<PlanEntry>),
    /// How full the context is, in tokens.
    Usage {
        /// Tokens in the context.
        used: u64,
        /// Tokens that fit.
        size: u64,
    },
    /// What the provider counted for this answer so far; the last one counts.
    Tokens(TokenCount),
    /// The provider makes us wait.
    Paused,
    /// The provider goes on.
    Resumed,
    /// The answer is over.
    Stop(StopReason),
}

/// What a model wants done. All of it is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The model's own name for this call; the result carries it.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// Its input, meant to be an object.
    pub input: RawJson,
}

/// Reasoning that a provider has signed or encrypted, whole. Only the model that gave it can read it again: to any other it is
/// not sent. It is kept with the session and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedReasoning {
    /// Which model gave it: dialect and model, `anthropic/claude-x`.
    pub model: String,
    /// What it gave, as its dialect reads it.
    pub content: RawJson,
}

impl std::fmt::Debug for SignedReasoning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SignedReasoning({}, {} bytes)", self.model, self.content.as_str().len())
    }
}

/// What a provider counted for one request. What it does not say is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// All that was asked, what was read from or written to a cache included.
    pub input: u64,
    /// All that was answered, reasoning included.
    pub output: u64,
    /// What of the input came from a cache.
    pub cached_read: u64,
    /// What of the input went into a cache.
    pub cached_write: u64,
    /// What of the output was reasoning.
    pub reasoning: u64,
}

/// One point of a plan, in the words of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// `pending`, `in_progress`, `completed` or `cancelled`.
    pub status: String,
}

/// Why an answer is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// All is said, or tools are to be run.
    EndTurn,
    /// The answer became too long.
    MaxTokens,
    /// The model refuses.
    Refusal,
}

/// When a provider takes requests again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderReset {
    /// After this time.
    After(Duration),
    /// At this time.
    At(SystemTime),
}

impl ProviderReset {
    /// How long that is from now.
    pub fn from(self, now: SystemTime) -> Duration {
        match self {
            Self::After(wait) => wait,
            Self::At(time) => time.duration_since(now).unwrap_or_default(),
        }
    }
}

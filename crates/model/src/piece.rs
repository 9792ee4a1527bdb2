//! What a model answers.

use nudge_wire::RawJson;

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerPiece {
    /// Text for the user, to be appended to what came before.
    Text(String),
    /// Reasoning, likewise.
    Thought(String),
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

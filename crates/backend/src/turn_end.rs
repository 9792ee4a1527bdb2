//! How a turn ended.

use nudge_wire::{Error, RawJson};
use serde_json::json;

/// The reason of an error that ends a turn because nobody is signed in: until somebody is, another would end alike. A key that is
/// refused is another reason.
pub const SIGNED_OUT: &str = "auth_required";

/// How a turn ended, in the words of whoever ended it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TurnEnd {
    /// The result of a `session/prompt` of version 1.
    Answered(RawJson),
    /// The `state_update` of version 2 that says idle.
    State(RawJson),
    /// It failed: the agent's own error, or that the agent is gone.
    Failed(Error),
}

impl TurnEnd {
    /// A turn that ended with this stop reason, which both versions know.
    pub fn stopped(stop_reason: &str) -> Self {
        Self::Answered(RawJson::of(&json!({ "stopReason": stop_reason })).expect("it is plain data"))
    }

    /// A turn that the user ended.
    pub fn cancelled() -> Self {
        Self::stopped("cancelled")
    }

    /// Whether it says that the turn was cancelled.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Answered(end) | Self::State(end) => {
                end.get(&["stopReason"]).is_some_and(|reason| reason.as_str() == "\"cancelled\"")
            }
            Self::Failed(_) => false,
        }
    }
}

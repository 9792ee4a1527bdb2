//! A request for suggestions, of either version of the protocol.

use nudge_wire::nes::{Position, Range, SuggestContext, TriggerKind, v1, v2};

/// What is asked.
#[derive(Debug, Clone)]
pub struct SuggestQuestion {
    /// The NES session.
    pub session_id: String,
    /// The document.
    pub uri: String,
    /// Its version.
    pub version: i64,
    /// Where the cursor is.
    pub position: Position,
    /// What is selected.
    pub selection: Option<Range>,
    /// Why it is asked.
    pub trigger: TriggerKind,
    /// What the client attached.
    pub context: SuggestContext,
}

macro_rules! from {
    ($($version:ident)+) => {
        $(impl From<$version::SuggestRequest> for SuggestQuestion {
            fn from(request: $version::SuggestRequest) -> Self {
                Self {
                    session_id: request.session_id,
                    uri: request.uri,
                    version: request.version,
                    position: request.position,
                    selection: request.selection,
                    trigger: request.trigger_kind,
                    context: request.context.unwrap_or_default(),
                }
            }
        })+
    };
}

from! { v1 v2 }

//! What an agent reports.

use std::sync::Arc;

use nudge_bridge::IndexedUpdate;
use nudge_wire::{Error, Message, RawJson};

use crate::{AgentQuestion, QuestionId, TurnEnd};

/// What an agent does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BackendEvent {
    /// A `session/update`.
    Update(IndexedUpdate),
    /// A notification about the session that is no update.
    Notification(Message),
    /// A turn runs that the agent began by itself.
    TurnStarted,
    /// A model answers: it can be steered.
    StreamStarted,
    /// Its answer is over, or was cut off.
    StreamFinished,
    /// A tool call that the turn waits for began.
    ToolStarted(Arc<str>),
    /// It ended, however it ended.
    ToolFinished(Arc<str>),
    /// The model's provider makes the agent wait. Comes within a stream.
    Paused,
    /// It goes on.
    Resumed,
    /// The agent waits for what goes in now; with nothing it goes on, or ends its turn. It waits for
    /// [`Backend::go_on`](crate::Backend::go_on).
    BreakPoint,
    /// Somebody is to answer.
    Question(AgentQuestion),
    /// The agent does not wait for the answer any more.
    QuestionWithdrawn(QuestionId),
    /// The options or the standing permissions changed: to be kept, and given back when the session is taken up again.
    Config(RawJson),
    /// The turn is over.
    TurnEnded(TurnEnd),
    /// The agent is gone. It is started again.
    Lost(Error),
    /// It is back, or the session runs in another process of it from now on.
    Back {
        /// The agent's id of the session.
        id: Arc<str>,
        /// Whether it had to be told what was said so far.
        is_recap: bool,
        /// Whether it was gone.
        was_lost: bool,
    },
}

impl BackendEvent {
    /// Whether it tells how far the agent is with its turn.
    pub fn is_of_turn(&self) -> bool {
        match self {
            Self::TurnStarted
            | Self::StreamStarted
            | Self::StreamFinished
            | Self::ToolStarted(_)
            | Self::ToolFinished(_)
            | Self::Paused
            | Self::Resumed
            | Self::BreakPoint
            | Self::TurnEnded(_) => true,
            Self::Update(_)
            | Self::Notification(_)
            | Self::Question(_)
            | Self::QuestionWithdrawn(_)
            | Self::Config(_)
            | Self::Lost(_)
            | Self::Back { .. } => false,
        }
    }
}

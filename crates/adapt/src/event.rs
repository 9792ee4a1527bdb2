//! What goes into a session of an agent, and what comes out of it.

use std::sync::Arc;

use nudge_bridge::IndexedUpdate;
use nudge_peer::{RawNotification, RawRequest};
use nudge_wire::{Error, RawJson, Version};
use tokio::sync::oneshot;

use crate::{End, pulse::Change};

/// Something the user said.
#[derive(Debug, Clone)]
pub struct UserMessage {
    /// An array of content blocks.
    pub content: RawJson,
    /// The params of the `session/prompt` it came in, and their version, if they can pass as they are.
    pub params: Option<(Version, RawJson)>,
}

/// What an agent does.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A `session/update`.
    Update(IndexedUpdate),
    /// A request about the session.
    Request(RawRequest),
    /// Any other notification about the session.
    Notification(RawNotification),
    /// A turn runs that the agent began by itself.
    TurnStarted,
    /// It can be steered.
    StreamStarted,
    /// A tool call began.
    ToolStarted(Arc<str>),
    /// It ended.
    ToolFinished(Arc<str>),
    /// The agent is between two prompts of one turn: what is answered goes in; with nothing, the turn is over.
    BreakPoint(oneshot::Sender<Vec<UserMessage>>),
    /// The turn is over.
    Ended(End),
    /// The agent is gone. It is started again.
    Lost(Error),
    /// It is back, and knows the session by this id.
    Back {
        /// The agent's id of the session.
        id: Arc<str>,
        /// Its answer.
        result: RawJson,
        /// Whether it had to be told what was said so far.
        is_recap: bool,
    },
}

impl From<Change> for Event {
    fn from(change: Change) -> Self {
        match change {
            Change::Started(id) => Self::ToolStarted(id),
            Change::Finished(id) => Self::ToolFinished(id),
        }
    }
}

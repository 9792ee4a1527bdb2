//! What runs the sessions of a hub: the contract with agents, tied to the messages that connections hand over.

use std::sync::Arc;

use nudge_backend::{AgentSource, PassThrough};
use nudge_peer::PassedMessage;

/// Runs sessions: the built-in agent, or one that is adapted.
pub type SessionSource = Arc<dyn AgentSource<PassedMessage>>;

/// The agent of one session.
pub(crate) type SessionAgent = Box<dyn PassThrough<PassedMessage>>;

//! What an agent is started with.

use std::path::PathBuf;

use nudge_wire::{ClientContext, RawJson};

use crate::Conversation;

/// What the agent needs to know about its session.
#[derive(Debug, Clone, Default)]
pub struct AgentSetup {
    /// The session's id, for requests to the editor.
    pub session_id: String,
    /// Where commands run and what relative paths are relative to. Absolute.
    pub cwd: PathBuf,
    /// Other directories the tools may reach. Absolute.
    pub additional_directories: Vec<PathBuf>,
    /// What [`BackendEvent::Config`](nudge_backend::BackendEvent::Config) last reported.
    pub config: Option<RawJson>,
    /// What counts until a turn begins.
    pub client: ClientContext,
    /// What was said before.
    pub history: Conversation,
}

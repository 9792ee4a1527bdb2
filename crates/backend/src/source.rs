//! Where the agents of sessions come from.

use std::{fmt, sync::Arc};

use nudge_bridge::IndexedUpdate;
use nudge_wire::{ClientContext, Error, RawJson, RequestOrigin, Version};

use crate::{BackendFuture, PassThrough};

/// Tells what was said in a session so far, a paragraph for each message, with who said it in front: `User: …`. Nothing if
/// nothing was said.
pub type SessionRecap = Arc<dyn Fn() -> BackendFuture<'static, Option<String>> + Send + Sync>;

/// What an agent is told of a session that it is to run.
#[derive(Clone)]
pub struct SessionSetup {
    /// The session's id. An agent that names its sessions itself gives another.
    pub session_id: Arc<str>,
    /// The directory it works in.
    pub cwd: String,
    /// Further directories it may work in.
    pub additional_directories: Vec<String>,
    /// What [`BackendEvent::Config`](crate::BackendEvent::Config) last reported.
    pub config: Option<RawJson>,
    /// By which id the agent knows it, if it does.
    pub agent_session_id: Option<String>,
    /// The params of the client's request that brings it into use.
    pub params: RawJson,
    /// The version of the client.
    pub version: Version,
    /// That request, if the client waits for its answer: what the agent asks about it is asked of that client.
    pub origin: Option<RequestOrigin>,
    /// What the session takes over from it until a turn begins.
    pub client: ClientContext,
    /// What was said so far, for an agent that does not remember.
    pub recap: SessionRecap,
}

/// A session that was opened.
pub struct OpenedSession<M> {
    /// Its agent.
    pub backend: Box<dyn PassThrough<M>>,
    /// The agent's id of it, if it names its sessions itself.
    pub agent_session_id: Option<Arc<str>>,
    /// What the agent said of the session before it answered.
    pub replayed: Vec<IndexedUpdate>,
}

/// What an agent does about its sessions itself, rather than leave it to the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct SourceOffers {
    /// `session/list`.
    pub list: bool,
    /// `session/load`.
    pub load: bool,
    /// `session/resume`.
    pub resume: bool,
    /// `session/fork`.
    pub fork: bool,
    /// `session/delete`.
    pub delete: bool,
}

/// Runs sessions: the built-in agent, or a program that is adapted.
pub trait AgentSource<M>: Send + Sync {
    /// What the store calls it.
    fn name(&self) -> &str;

    /// Waits until it is there.
    fn reach(&self) -> BackendFuture<'_, Result<(), Error>>;

    /// What it does about its sessions itself; reaches it if need be.
    fn offers(&self) -> BackendFuture<'_, Result<SourceOffers, Error>>;

    /// Sends a request that is about no session in use, written in the client's version, and gives the answer as it came.
    /// `origin` is the client's own request.
    fn request<'a>(
        &'a self,
        from: Version,
        method: &'a str,
        params: &'a RawJson,
        origin: Option<RequestOrigin>,
    ) -> BackendFuture<'a, Result<RawJson, Error>>;

    /// Opens a session that is new here, by `session/new` or another request that only the agent can answer.
    fn begin(
        &self,
        method: &str,
        setup: SessionSetup,
    ) -> BackendFuture<'static, Result<OpenedSession<M>, Error>>;

    /// Takes up a session that was talked in before.
    fn take_up(&self, setup: SessionSetup) -> Box<dyn SessionRestore<M>>;
}

/// A session that is taken up again.
pub trait SessionRestore<M>: Send {
    /// Whether the agent has to be told what was said.
    fn wants_history(&self) -> bool;

    /// Tells it an update of the history, oldest first.
    fn hear(&mut self, update: &IndexedUpdate);

    /// Takes the session up.
    fn open(self: Box<Self>) -> BackendFuture<'static, Result<OpenedSession<M>, Error>>;
}

impl fmt::Debug for SessionSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSetup").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for OpenedSession<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedSession")
            .field("agent_session_id", &self.agent_session_id)
            .finish_non_exhaustive()
    }
}

//! The agent behind a connection: which it is, and the lane of what only it understands.

use std::{fmt, sync::Arc};

use nudge_adapt::{AdaptedSource, AgentLane, AgentProgram, DownstreamAgent, ListenerGuard};
use nudge_hub::SessionSource;
use nudge_peer::Cx;
use nudge_wire::{
    Error,
    caps::{AgentInit, ClientInit},
};

use crate::Gateway;

/// Finds or makes the agent for a client that said this in `initialize`.
pub type AgentFinder = Arc<dyn Fn(&ClientInit) -> Arc<DownstreamAgent> + Send + Sync>;

/// What runs the sessions that a connection begins, in place of the built-in agent.
#[derive(Clone)]
pub enum ConnectionAgent {
    /// A program that speaks ACP. Connections that want the same share it.
    Program(AgentProgram),
    /// An ACP agent that is reached in another way.
    Found(AgentFinder),
    /// Anything that runs sessions. Nothing of it is seen but its sessions.
    Source(SessionSource),
}

impl fmt::Debug for ConnectionAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(spec) => f.debug_tuple("ConnectionAgent").field(spec).finish(),
            Self::Found(_) => f.write_str("Found"),
            Self::Source(_) => f.write_str("Source"),
        }
    }
}

/// The ACP agent behind a connection.
#[derive(Clone)]
pub(crate) struct AgentBehind {
    agent: Arc<DownstreamAgent>,
    /// What this connection says to it and nobody else understands.
    pub(crate) lane: Arc<AgentLane>,
    /// What the agent says to nobody in particular is for this connection.
    _listening: Arc<ListenerGuard>,
}

impl AgentBehind {
    /// Starts the agent, or finds it running; `None` if no ACP agent is behind the connection.
    pub(crate) async fn start(
        choice: Option<&ConnectionAgent>,
        gateway: &Gateway,
        client: &ClientInit,
        cx: &Cx,
    ) -> Result<Option<Self>, Error> {
        let agent = match choice {
            Some(ConnectionAgent::Program(spec)) => gateway.agents().agent(spec.clone(), client.clone()),
            Some(ConnectionAgent::Found(find)) => find(client),
            Some(ConnectionAgent::Source(_)) | None => return Ok(None),
        };
        agent.init().await?;
        let listening = Arc::new(agent.listen(client.version, cx.clone()));
        let lane = Arc::new(AgentLane::new(Arc::clone(&agent), client.version));
        Ok(Some(Self { agent, lane, _listening: listening }))
    }

    /// What it said to `initialize`.
    pub(crate) async fn init(&self) -> Result<AgentInit, Error> {
        self.agent.init().await
    }

    /// It, as the hub knows it.
    pub(crate) fn source(&self) -> SessionSource {
        Arc::new(AdaptedSource::new(Arc::clone(&self.agent)))
    }
}

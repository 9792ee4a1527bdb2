//! What all connections of a process share.

use std::{fmt, io, sync::Arc};

use nudge_adapt::AgentPool;
use nudge_hub::Hub;
use nudge_nes::NesService;
use nudge_peer::Connect;
use tokio::sync::Notify;

use crate::{ClientConnection, ConnectionOptions, ProgramInfo};

/// What all connections of a process share: next edit suggestions, sessions, and the agents that are running.
///
/// Clones are the same gateway.
#[derive(Clone)]
pub struct Gateway(Arc<Shared>);

struct Shared {
    nes: NesService,
    sessions: Option<Hub>,
    agents: AgentPool,
    program: ProgramInfo,
    stop_asked: Notify,
}

impl Gateway {
    /// A gateway to next edit suggestions, and to sessions if there is a hub; without one all of `session/*` is refused.
    pub fn new(nes: NesService, sessions: Option<Hub>, program: ProgramInfo) -> Self {
        let (agents, stop_asked) = (AgentPool::default(), Notify::new());
        Self(Arc::new(Shared { nes, sessions, agents, program, stop_asked }))
    }

    /// Makes the connection of a client ready to run.
    pub fn connect(
        &self,
        transport: impl Connect,
        options: ConnectionOptions,
    ) -> io::Result<ClientConnection> {
        ClientConnection::open(self.clone(), transport, options)
    }

    /// The sessions, if there are any.
    pub fn sessions(&self) -> Option<&Hub> {
        self.0.sessions.as_ref()
    }

    /// Waits until a client has asked the process to end.
    pub async fn stop_asked(&self) {
        self.0.stop_asked.notified().await;
    }

    /// Asks the process to end, as a client may.
    pub fn ask_to_stop(&self) {
        self.0.stop_asked.notify_one();
    }

    pub(crate) fn nes(&self) -> &NesService {
        &self.0.nes
    }

    pub(crate) fn agents(&self) -> &AgentPool {
        &self.0.agents
    }

    pub(crate) fn program(&self) -> &ProgramInfo {
        &self.0.program
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("program", &self.0.program).finish_non_exhaustive()
    }
}

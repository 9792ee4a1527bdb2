//! The agents of a process: connections that want the same one share it.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use nudge_wire::{ConnectionId, caps::ClientInit};
use parking_lot::Mutex;

use crate::{
    AgentProgram, DownstreamAgent,
    client_agent::{ClientAgent, ClientAgents},
};

/// Agents in use. Their environments are gone with them.
#[derive(Default)]
pub struct AgentPool {
    shared: Mutex<Vec<Weak<DownstreamAgent>>>,
    clients: ClientAgents,
}

impl AgentPool {
    /// The agent for a connection whose client said this in `initialize`. An agent is told that once, so clients that differ in
    /// it do not share one; and nobody shares one that a client has to itself.
    pub fn agent(
        &self,
        spec: AgentProgram,
        client: ClientInit,
        connection: ConnectionId,
    ) -> Arc<ClientAgent> {
        let mut shared = self.shared.lock();
        shared.retain(|agent| agent.strong_count() > 0);
        let same = shared.iter().filter_map(Weak::upgrade).find(|agent| {
            agent.is_started_from(&spec) && agent.greets(&client) && agent.family.join(connection)
        });
        let agent = same.unwrap_or_else(|| {
            let agent = DownstreamAgent::started_as(Arc::new(spec), client);
            agent.family.join(connection);
            shared.push(Arc::downgrade(&agent));
            agent
        });
        ClientAgent::of_connection(agent, connection, &self.clients)
    }

    /// The same with an agent that was found elsewhere.
    pub fn found(&self, agent: Arc<DownstreamAgent>, connection: ConnectionId) -> Arc<ClientAgent> {
        let agent = if agent.family.join(connection) { agent } else { agent.apart(connection) };
        ClientAgent::of_connection(agent, connection, &self.clients)
    }

    /// A user has signed in to the agents that this command starts, on a terminal: the processes that run have not seen it, and give
    /// way to others. Sessions move when they are idle. `by` is what the client is known by that ran it, if that is known.
    pub fn signed_in(&self, program: &str, args: &[String], by: Option<&str>) {
        let by = by.and_then(|token| self.clients.connection_of(token));
        let shared: Vec<_> = self.shared.lock().iter().filter_map(Weak::upgrade).collect();
        for agent in shared.into_iter().chain(self.clients.current()) {
            if agent.is(program, args) {
                agent.family.signed_in_elsewhere(by);
            }
        }
    }
}

impl fmt::Debug for AgentPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentPool").field("agents", &self.shared.lock().len()).finish_non_exhaustive()
    }
}

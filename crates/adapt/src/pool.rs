//! The agents of a process: connections that want the same one share it.

use std::sync::{Arc, Weak};

use nudge_wire::caps::ClientInit;
use parking_lot::Mutex;

use crate::{AgentProgram, DownstreamAgent};

/// Agents in use.
#[derive(Debug, Default)]
pub struct AgentPool(Mutex<Vec<PooledAgent>>);

/// An agent, and what it was made from.
#[derive(Debug)]
struct PooledAgent {
    /// It holds an environment, and so is gone with the agent.
    spec: Weak<AgentProgram>,
    agent: Weak<DownstreamAgent>,
}

impl AgentPool {
    /// The agent for a client that said this in `initialize`. An agent is told that once, so clients that differ in it do
    /// not share one.
    pub fn agent(&self, spec: AgentProgram, client: ClientInit) -> Arc<DownstreamAgent> {
        let mut agents = self.0.lock();
        agents.retain(|pooled| pooled.agent.strong_count() > 0);
        let mut same =
            agents.iter().filter(|pooled| pooled.spec.upgrade().is_some_and(|other| *other == spec));
        if let Some(agent) =
            same.find_map(|pooled| pooled.agent.upgrade().filter(|agent| agent.greets(&client)))
        {
            return agent;
        }
        let spec = Arc::new(spec);
        let agent = DownstreamAgent::started_as(Arc::clone(&spec), client);
        agents.push(PooledAgent { spec: Arc::downgrade(&spec), agent: Arc::downgrade(&agent) });
        agent
    }
}

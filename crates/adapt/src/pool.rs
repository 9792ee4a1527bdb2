//! The agents of a process: connections that want the same one share it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use nudge_wire::caps::ClientInit;

use crate::{Agent, Spec};

/// Agents in use.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<PooledAgent>>);

/// An agent, and what it was made from.
#[derive(Debug)]
struct PooledAgent {
    spec: Spec,
    client: ClientInit,
    agent: Weak<Agent>,
}

impl Pool {
    /// The agent for a client that said this in `initialize`. An agent is told that once, so clients that differ in it do
    /// not share one.
    pub fn agent(&self, spec: Spec, client: ClientInit) -> Arc<Agent> {
        let mut agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        agents.retain(|pooled| pooled.agent.strong_count() > 0);
        let mut same = agents.iter().filter(|pooled| pooled.spec == spec && pooled.client == client);
        if let Some(agent) = same.find_map(|pooled| pooled.agent.upgrade()) {
            return agent;
        }
        let agent = Agent::new(spec.clone(), client.clone());
        agents.push(PooledAgent { spec, client, agent: Arc::downgrade(&agent) });
        agent
    }
}

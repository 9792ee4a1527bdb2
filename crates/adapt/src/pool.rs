//! The agents of a process: connections that want the same one share it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use nudge_wire::caps::ClientInit;

use crate::{Agent, Spec};

/// Agents in use.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<Weak<Agent>>>);

impl Pool {
    /// The agent for a client that said this in `initialize`. An agent is told that once, so clients that differ in it do
    /// not share one.
    pub fn agent(&self, spec: Spec, client: ClientInit) -> Arc<Agent> {
        let mut agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        agents.retain(|agent| agent.strong_count() > 0);
        let mut living = agents.iter().filter_map(Weak::upgrade);
        if let Some(agent) = living.find(|agent| agent.is_for(&spec, &client)) {
            return agent;
        }
        let agent = Agent::new(spec, client);
        agents.push(Arc::downgrade(&agent));
        agent
    }
}

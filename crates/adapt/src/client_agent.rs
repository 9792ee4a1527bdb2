//! The agent of one client: shared with others that want the same, or its own once it has set something of it.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
};

use nudge_peer::Cx;
use nudge_wire::{ClientContext, ConnectionId, Error, Version, caps::AgentInit};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{DownstreamAgent, ListenerGuard};

/// The agent of one client.
///
/// Clients that want the same agent share its process. One that sets a provider or signs in has a process of its own from there on:
/// nobody else sees or uses what was set, and nobody is signed out by somebody else. Nothing changes if it is the only one
/// that has ever used the process. Its sessions that are idle move there at once, the others after their turn.
pub struct ClientAgent {
    name: String,
    connection: Option<ConnectionId>,
    current: Mutex<Arc<DownstreamAgent>>,
    /// Told when the client has another agent.
    changes: watch::Sender<()>,
    listening: Mutex<Option<AgentListening>>,
    clients: ClientAgents,
}

struct AgentListening {
    connection: ConnectionId,
    version: Version,
    cx: Cx,
    /// It is told by its present agent for as long as this is held.
    guard: ListenerGuard,
}

/// The agents of all clients of a process, by their connections.
#[derive(Clone, Default)]
pub(crate) struct ClientAgents(Arc<Mutex<HashMap<ConnectionId, Weak<ClientAgent>>>>);

impl ClientAgents {
    fn add(&self, connection: ConnectionId, agent: &Arc<ClientAgent>) {
        let mut agents = self.0.lock();
        agents.retain(|_, agent| agent.strong_count() > 0);
        agents.insert(connection, Arc::downgrade(agent));
    }

    fn of(&self, client: &ClientContext) -> Option<Arc<ClientAgent>> {
        self.0.lock().get(&client.connection?)?.upgrade()
    }

    /// What all of them have now.
    pub(crate) fn current(&self) -> Vec<Arc<DownstreamAgent>> {
        let agents: Vec<_> = self.0.lock().values().filter_map(Weak::upgrade).collect();
        agents.iter().map(|agent| agent.current()).collect()
    }
}

impl ClientAgent {
    /// That of a client that is not known by a connection and shares its agent with nobody.
    pub fn of(agent: Arc<DownstreamAgent>) -> Arc<Self> {
        Self::new(agent, None, ClientAgents::default())
    }

    /// That of a connection, which uses this one so far.
    pub(crate) fn of_connection(
        agent: Arc<DownstreamAgent>,
        connection: ConnectionId,
        clients: &ClientAgents,
    ) -> Arc<Self> {
        let client = Self::new(agent, Some(connection), clients.clone());
        clients.add(connection, &client);
        client
    }

    fn new(
        agent: Arc<DownstreamAgent>,
        connection: Option<ConnectionId>,
        clients: ClientAgents,
    ) -> Arc<Self> {
        let name = agent.name().to_owned();
        let (current, changes) = (Mutex::new(agent), watch::Sender::new(()));
        Arc::new(Self { name, connection, current, changes, listening: Mutex::default(), clients })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The agent as it is now.
    pub fn current(&self) -> Arc<DownstreamAgent> {
        Arc::clone(&self.current.lock())
    }

    /// The connection of the client, if it is known by one.
    pub(crate) fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// What it says of itself; starts it if need be.
    pub async fn init(&self) -> Result<AgentInit, Error> {
        self.current().init().await
    }

    /// The client is told what the agent says about no session, until [`leave`](Self::leave).
    pub fn listen(&self, connection: ConnectionId, version: Version, cx: Cx) {
        let guard = self.current().listen(connection, version, cx.clone());
        *self.listening.lock() = Some(AgentListening { connection, version, cx, guard });
    }

    /// The client is gone. Its sessions may go on.
    pub fn leave(&self) {
        self.listening.lock().take();
    }

    /// The agent that this client has to itself.
    pub(crate) fn own(&self) -> Arc<DownstreamAgent> {
        let Some(connection) = self.connection else { return self.current() };
        let mut current = self.current.lock();
        if current.family.take(connection) {
            return Arc::clone(&current);
        }
        let own = current.apart(connection);
        *current = Arc::clone(&own);
        drop(current);
        if let Some(listening) = &mut *self.listening.lock() {
            listening.guard = own.listen(listening.connection, listening.version, listening.cx.clone());
        }
        tracing::info!(
            agent = own.name(),
            "a client has set something of the agent and gets a process of its own"
        );
        self.changes.send_replace(());
        own
    }

    /// The home of a session that is opened for this client.
    pub(crate) fn home(self: &Arc<Self>) -> SessionHome {
        let (clients, changes) = (self.clients.clone(), self.changes.subscribe());
        SessionHome { client: Arc::downgrade(self), changes, clients }
    }
}

/// For whom a session was opened, and who else may talk in it.
pub(crate) struct SessionHome {
    client: Weak<ClientAgent>,
    changes: watch::Receiver<()>,
    clients: ClientAgents,
}

impl SessionHome {
    /// Waits until the client has another agent than `present`; that. Safe to drop and call again.
    pub(crate) async fn moved(&mut self, present: &DownstreamAgent) -> Arc<DownstreamAgent> {
        loop {
            if self.changes.changed().await.is_err() {
                // The client is gone, and stays with what it had.
                return std::future::pending().await;
            }
            let current = self.client.upgrade().map(|client| client.current());
            if let Some(current) = current.filter(|current| !current.is_kin_of(present)) {
                return current;
            }
        }
    }

    /// The agent for a turn that this client begins, if it is not the `present` one: a client that has one to itself uses that,
    /// and what another has to itself is not used.
    pub(crate) fn agent_of(
        &self,
        client: &ClientContext,
        present: &DownstreamAgent,
    ) -> Option<Arc<DownstreamAgent>> {
        let theirs = self.clients.of(client)?.current();
        let is_another = theirs.name() == present.name() && !theirs.is_kin_of(present);
        let is_own = theirs.family.is_owned() || present.family.is_owned();
        (is_another && is_own).then_some(theirs)
    }
}

impl fmt::Debug for ClientAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAgent")
            .field("connection", &self.connection)
            .field("current", &self.current())
            .finish_non_exhaustive()
    }
}

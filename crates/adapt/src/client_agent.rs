//! The agent of one client: shared with others that want the same, or its own once it has set something of it.

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, Weak},
};

use nudge_peer::Cx;
use nudge_wire::{
    ClientContext, ConnectionId, Error, Version,
    caps::{AgentInit, ElicitationModes},
};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{DownstreamAgent, ListenerGuard, route::AgentListener};

/// The agent of one client.
///
/// Clients that want the same agent share its process. One that sets a provider or signs in has a process of its own from there on:
/// nobody else sees or uses what was set, and nobody is signed out by somebody else. Nothing changes if it is the only one
/// that has ever used the process. Once the agent has agreed, its sessions that are idle move there, the others after their turn.
pub struct ClientAgent {
    name: String,
    /// By which whoever runs something for this client says so: nobody else knows it.
    token: String,
    connection: Option<ConnectionId>,
    /// Whoever has a session of the client sees when this becomes another.
    current: watch::Sender<Arc<DownstreamAgent>>,
    listening: Mutex<Option<AgentListening>>,
    clients: ClientAgents,
}

struct AgentListening {
    connection: ConnectionId,
    version: Version,
    /// The ways in which the client can be asked something.
    modes: ElicitationModes,
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

    fn of(&self, connection: Option<ConnectionId>) -> Option<Arc<ClientAgent>> {
        self.0.lock().get(&connection?)?.upgrade()
    }

    /// The connection of the client that is known by this.
    pub(crate) fn connection_of(&self, token: &str) -> Option<ConnectionId> {
        let agents: Vec<_> = self.0.lock().values().filter_map(Weak::upgrade).collect();
        agents.iter().find(|agent| agent.token == token)?.connection
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
        // The keys of a `RandomState` come from the operating system.
        let token = format!("{:016x}", RandomState::new().build_hasher().finish());
        Arc::new(Self {
            name,
            token,
            connection,
            current: watch::Sender::new(agent),
            listening: Mutex::default(),
            clients,
        })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// By which this client is known to those alone that were given it.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The agent as it is now.
    pub fn current(&self) -> Arc<DownstreamAgent> {
        Arc::clone(&self.current.borrow())
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
        let current = self.current();
        let modes = current.elicitation_modes();
        let guard = current.listen(connection, version, cx.clone());
        *self.listening.lock() = Some(AgentListening { connection, version, modes, cx, guard });
    }

    /// As long as the guard is held, the client is told what this agent says about no session, too: something is done for it there.
    fn listen_beside(&self, agent: &Arc<DownstreamAgent>) -> Option<ListenerGuard> {
        let listener = self.listening.lock().as_ref()?.as_listener(&self.current());
        Some(agent.listen_as(listener))
    }

    /// The client is gone. Its sessions may go on.
    pub fn leave(&self) {
        self.listening.lock().take();
    }

    /// The agent that this client has to itself.
    pub(crate) fn own(&self) -> Arc<DownstreamAgent> {
        let Some(connection) = self.connection else { return self.current() };
        let mut former = None;
        self.current.send_if_modified(|current| {
            if !current.family.take(connection) {
                let own = current.apart(connection);
                former = Some(std::mem::replace(current, own));
            }
            former.is_some()
        });
        let own = self.current();
        if let Some(former) = former {
            if let Some(listening) = &mut *self.listening.lock() {
                listening.guard = own.listen_as(listening.as_listener(&former));
            }
            tracing::info!(
                agent = own.name(),
                "a client has set something of the agent and gets a process of its own"
            );
        }
        own
    }

    /// The home of a session that is opened for this client.
    pub(crate) fn home(&self) -> SessionHome {
        let current = self.current.subscribe();
        SessionHome { current, next: None, is_client_gone: false, clients: self.clients.clone() }
    }
}

impl AgentListening {
    /// As an agent knows the client that knows it as `present` does.
    fn as_listener(&self, present: &DownstreamAgent) -> AgentListener {
        let Self { connection, version, modes, ref cx, .. } = *self;
        let servers = present.listener_of(connection).map(|known| known.servers).unwrap_or_default();
        AgentListener { number: 0, connection, version, modes, cx: cx.clone(), servers }
    }
}

/// For whom a session was opened, and who else may talk in it.
pub(crate) struct SessionHome {
    /// The agent of the client that it was opened for, also when that is gone.
    current: watch::Receiver<Arc<DownstreamAgent>>,
    /// The agent that the client has by now, while nothing is set of it yet.
    next: Option<Arc<DownstreamAgent>>,
    /// The client is gone, and stays with what it had.
    is_client_gone: bool,
    clients: ClientAgents,
}

impl SessionHome {
    /// Waits until the client has another agent than `present`, and has set something of it; that. Safe to drop and call again.
    pub(crate) async fn moved(&mut self, present: &DownstreamAgent) -> Arc<DownstreamAgent> {
        loop {
            let news = self.next.as_ref().map(|next| next.family.changes());
            if let Some(next) = self.next.take_if(|next| next.family.is_set()) {
                if !next.is_kin_of(present) {
                    return next;
                }
                continue;
            }
            tokio::select! {
                biased;
                changed = self.current.changed(), if !self.is_client_gone => match changed {
                    Ok(()) => self.next = Some(Arc::clone(&self.current.borrow())),
                    Err(_) => self.is_client_gone = true,
                },
                () = any_change(news) => {}
            }
        }
    }

    /// The agent for a turn that this client begins, if it is not the `present` one: a client that has one to itself uses that,
    /// and what another has to itself is not used. A client without such an agent, as one that queues a message from a terminal,
    /// talks as the one does that opened the session.
    pub(crate) fn agent_of(
        &self,
        client: &ClientContext,
        present: &DownstreamAgent,
    ) -> Option<Arc<DownstreamAgent>> {
        let theirs = self.known(client, present).map(|client| client.current());
        let theirs = theirs.unwrap_or_else(|| Arc::clone(&self.current.borrow()));
        let is_own = (theirs.family.is_owned() && theirs.family.is_set()) || present.family.is_owned();
        (is_own && !theirs.is_kin_of(present)).then_some(theirs)
    }

    /// A turn of this client runs in a process of this agent, which may be another's: it is not for somebody to take meanwhile, and
    /// what it says about no session is told to the client as long as the guard is held.
    pub(crate) fn uses(&self, client: &ClientContext, agent: &Arc<DownstreamAgent>) -> Option<ListenerGuard> {
        let known = self.known(client, agent)?;
        agent.family.join(known.connection?);
        known.listen_beside(agent)
    }

    /// The same for a single request of a connection.
    pub(crate) fn hears(
        &self,
        connection: ConnectionId,
        agent: &Arc<DownstreamAgent>,
    ) -> Option<ListenerGuard> {
        self.clients.of(Some(connection))?.listen_beside(agent)
    }

    /// The client, if it has an agent of this kind.
    fn known(&self, client: &ClientContext, agent: &DownstreamAgent) -> Option<Arc<ClientAgent>> {
        self.clients.of(client.connection).filter(|client| client.name() == agent.name())
    }
}

async fn any_change(changes: Option<watch::Receiver<()>>) {
    if let Some(mut changes) = changes
        && changes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

impl fmt::Debug for ClientAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAgent")
            .field("connection", &self.connection)
            .field("current", &self.current())
            .finish_non_exhaustive()
    }
}

//! MCP servers that clients have themselves: an agent reaches them by way of the client that declared them.

use nudge_peer::{InOrder, RawRequest, UnhandledMessage};
use nudge_wire::{ConnectionId, Error, RawJson};

use crate::{
    route::{AgentListener, AgentListeners, SessionRoutes},
    unnamed::word,
};

/// By which an agent of an earlier dialect reaches a server; the answer names the connection to it.
const CONNECT: &str = "mcp/connect";
/// The members by which messages name a server, or a connection to one.
const NAMES: [&str; 3] = ["serverId", "connectionId", "acpId"];
/// Servers that are remembered of one client.
const MOST: usize = 256;
/// The longest name that is remembered, in bytes.
const LONGEST_NAME: usize = 1024;

impl SessionRoutes {
    /// Notes the servers that a client declares as its own in these params of a request that opens a session.
    pub(crate) fn declare_servers(&self, params: &RawJson, connection: Option<ConnectionId>) {
        let servers = params.get(&["mcpServers"]).and_then(|servers| servers.to::<Vec<RawJson>>().ok());
        let of_client = |server: &RawJson| word(server, "type").as_deref() == Some("acp");
        for server in servers.unwrap_or_default().iter().filter(|server| of_client(server)) {
            let named = NAMES.into_iter().chain(["id"]).filter_map(|name| word(server, name));
            named.for_each(|name| note(&self.all_listeners(), connection, name));
        }
    }

    /// The connection that has the server which is named. Where several have one of that name it is that of whom the agent works
    /// for.
    pub(crate) fn who_has_server(&self, params: &RawJson, agent: &InOrder) -> Option<AgentListener> {
        let named: Vec<_> = NAMES.into_iter().filter_map(|name| word(params, name)).collect();
        if named.is_empty() {
            return None;
        }
        let has_it = |listener: &AgentListener| listener.servers.iter().any(|server| named.contains(server));
        let mut owners: Vec<_> = self.listeners().into_iter().filter(has_it).collect();
        if owners.len() > 1
            && let Some(asker) = self.askers(agent).into_iter().find(has_it)
        {
            return Some(asker);
        }
        (!owners.is_empty()).then(|| owners.swap_remove(0))
    }

    /// Passes a request on that opens a connection to a server, and notes what that is called. Gives back all else.
    pub(crate) fn connect_server(
        &self,
        message: UnhandledMessage,
        listener: &AgentListener,
    ) -> Option<UnhandledMessage> {
        let UnhandledMessage::Request(request) = message else { return Some(message) };
        if &**request.method() != CONNECT {
            return Some(UnhandledMessage::Request(request));
        }
        tokio::spawn(connect(request, listener.clone(), self.all_listeners()));
        None
    }
}

async fn connect(request: RawRequest, listener: AgentListener, listeners: AgentListeners) {
    let cancelled = request.cancellation();
    let answer = tokio::select! {
        answer = listener.cx.request_raw(CONNECT, request.params()) => answer.map_err(Error::from),
        () = cancelled.cancelled() => Err(Error::cancelled()),
    };
    if let Some(name) = answer.as_ref().ok().and_then(|answer| word(answer, "connectionId")) {
        note(&listeners, Some(listener.connection), name);
    }
    // The agent may be gone.
    let _ = match answer {
        Ok(result) => request.into_responder().respond_raw(&result).await,
        Err(error) => request.respond::<()>(Err(error)).await,
    };
}

fn note(listeners: &AgentListeners, connection: Option<ConnectionId>, name: String) {
    let mut listeners = listeners.lock();
    let its = listeners.iter_mut().find(|listener| Some(listener.connection) == connection);
    let has_room = |listener: &&mut AgentListener| {
        name.len() <= LONGEST_NAME && listener.servers.len() < MOST && !listener.servers.contains(&name)
    };
    if let Some(listener) = its.filter(has_room) {
        listener.servers.push(name);
    }
}

//! What a session takes over from its clients, such as the environment of commands: from the one whose message is served.
//! Kept in memory alone.

use std::collections::HashMap;

use nudge_mailbox::ClientId;
use nudge_session::FORMER_CLIENT;
use nudge_wire::ClientContext;

/// The contexts of those who have joined, and the one that counts now.
pub(crate) struct SessionContexts {
    now: ClientContext,
    by_client: HashMap<ClientId, ClientContext>,
}

impl SessionContexts {
    /// Of a session that is brought into use by a client with this one.
    pub(crate) fn new(first: ClientContext) -> Self {
        Self { now: first.clone(), by_client: HashMap::from([(FORMER_CLIENT, first)]) }
    }

    /// What counts now.
    pub(crate) fn now(&self) -> &ClientContext {
        &self.now
    }

    /// A client joins.
    pub(crate) fn joins(&mut self, client: ClientId, context: ClientContext) {
        self.by_client.insert(client, context);
    }

    /// A client that has joined takes up what another process left.
    pub(crate) fn resumes(&mut self, client: ClientId) {
        if let Some(context) = self.by_client.get(&client).cloned() {
            self.by_client.insert(FORMER_CLIENT, context);
        }
    }

    /// A message of this client begins a turn.
    pub(crate) fn serve(&mut self, client: ClientId) {
        if let Some(context) = self.by_client.get(&client) {
            self.now.clone_from(context);
        }
    }

    /// Forgets those of clients that nothing will be served for.
    pub(crate) fn retain(&mut self, is_needed: impl Fn(ClientId) -> bool) {
        self.by_client.retain(|client, _| *client == FORMER_CLIENT || is_needed(*client));
    }
}

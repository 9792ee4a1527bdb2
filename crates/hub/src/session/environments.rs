//! Which environment the commands of a session see: that of the client whose message they serve. Kept in memory alone.

use std::collections::HashMap;

use nudge_mailbox::ClientId;
use nudge_session::FORMER_CLIENT;
use nudge_wire::Environment;

/// The environments of those who have joined, and the one that commands see now. `None` stands for that of this process.
pub(crate) struct SessionEnvironments {
    now: Option<Environment>,
    by_client: HashMap<ClientId, Option<Environment>>,
}

impl SessionEnvironments {
    /// Of a session that is brought into use by a client with this one.
    pub(crate) fn new(first: Option<Environment>) -> Self {
        Self { now: first.clone(), by_client: HashMap::from([(FORMER_CLIENT, first)]) }
    }

    /// What commands see.
    pub(crate) fn now(&self) -> Option<&Environment> {
        self.now.as_ref()
    }

    /// A client joins.
    pub(crate) fn joins(&mut self, client: ClientId, environment: Option<Environment>) {
        self.by_client.insert(client, environment);
    }

    /// A client that has joined takes up what another process left.
    pub(crate) fn resumes(&mut self, client: ClientId) {
        if let Some(environment) = self.by_client.get(&client).cloned() {
            self.by_client.insert(FORMER_CLIENT, environment);
        }
    }

    /// A message of this client begins a turn.
    pub(crate) fn serve(&mut self, client: ClientId) {
        if let Some(environment) = self.by_client.get(&client) {
            self.now.clone_from(environment);
        }
    }

    /// Forgets those of clients that nothing will be served for.
    pub(crate) fn retain(&mut self, is_needed: impl Fn(ClientId) -> bool) {
        self.by_client.retain(|client, _| *client == FORMER_CLIENT || is_needed(*client));
    }
}

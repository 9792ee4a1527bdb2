//! What clients have said about providers, each over its own connection. In memory alone.

use std::collections::{BTreeMap, HashMap};

use nudge_wire::{ClientContext, ConnectionId, SecretText};
use parking_lot::Mutex;

use crate::{ModelProvider, ProviderAccess, REHEARSAL};

/// What a client wants of the models, said when it was started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelWish {
    /// The one provider that may be used.
    pub provider: Option<&'static ModelProvider>,
    /// The model that is taken unless another is chosen: `provider/model`, or a model of any provider.
    pub model: Option<String>,
}

impl ModelWish {
    /// Whether it names this provider.
    pub(crate) fn names(&self, provider: &ModelProvider) -> bool {
        let model = self.model.as_deref().and_then(|model| model.split_once('/'));
        self.provider == Some(provider) || model.is_some_and(|(named, _)| named == provider.id)
    }
}

/// What a client has said about a provider.
#[derive(Debug, Clone)]
pub(crate) enum SaidOfProvider {
    Nothing,
    Disabled,
    Set(ProviderAccess),
}

/// What all clients have said.
#[derive(Default)]
pub(crate) struct ClientProviders(Mutex<HashMap<ConnectionId, ConnectionProviders>>);

/// What one has said.
#[derive(Default)]
struct ConnectionProviders {
    wish: ModelWish,
    /// Whether its user has chosen a rehearsal for want of a model.
    rehearses: bool,
    said: BTreeMap<&'static str, SaidOfProvider>,
}

impl ClientProviders {
    /// A client comes that wants this.
    pub(crate) fn connect(&self, connection: ConnectionId, wish: ModelWish) {
        self.0.lock().entry(connection).or_default().wish = wish;
    }

    /// The user of a client chooses a rehearsal, until a model is set up.
    pub(crate) fn rehearse(&self, connection: ConnectionId) {
        self.0.lock().entry(connection).or_default().rehearses = true;
    }

    /// These are set up for everybody: who can use one of them does not rehearse for want of a model.
    pub(crate) fn end_rehearsals(&self, accesses: &[ProviderAccess]) {
        for known in self.0.lock().values_mut() {
            let is_usable =
                |access: &ProviderAccess| known.wish.provider.is_none_or(|pinned| pinned == access.provider);
            known.rehearses &= !accesses.iter().any(is_usable);
        }
    }

    /// A client sets how a provider is reached.
    pub(crate) fn set(&self, client: &ClientContext, access: ProviderAccess) {
        self.put(client, access.provider, SaidOfProvider::Set(access));
    }

    /// A client wants a provider used no more.
    pub(crate) fn disable(&self, client: &ClientContext, provider: &'static ModelProvider) {
        self.put(client, provider, SaidOfProvider::Disabled);
    }

    fn put(&self, client: &ClientContext, provider: &'static ModelProvider, said: SaidOfProvider) {
        if let Some(connection) = client.connection {
            let mut clients = self.0.lock();
            let known = clients.entry(connection).or_default();
            known.rehearses &= matches!(said, SaidOfProvider::Disabled);
            known.said.insert(provider.id, said);
        }
    }

    /// Forgets what a client has set; what it wants stays, and what it wants used no more.
    pub(crate) fn sign_out(&self, connection: ConnectionId) {
        if let Some(known) = self.0.lock().get_mut(&connection) {
            known.said.retain(|_, said| matches!(said, SaidOfProvider::Disabled));
            known.rehearses = false;
        }
    }

    /// Forgets a client; whether it had set anything.
    pub(crate) fn forget(&self, connection: ConnectionId) -> bool {
        self.0.lock().remove(&connection).is_some_and(|known| !known.said.is_empty())
    }

    /// What a client wants; nothing once it is gone.
    pub(crate) fn wish(&self, client: &ClientContext) -> ModelWish {
        let clients = self.0.lock();
        let known = client.connection.and_then(|connection| clients.get(&connection));
        let wish = |known: &ConnectionProviders| {
            let rehearsal = known.rehearses.then(|| REHEARSAL.to_owned());
            ModelWish { model: rehearsal.or_else(|| known.wish.model.clone()), ..known.wish }
        };
        known.map(wish).unwrap_or_default()
    }

    /// What a client has said about a provider.
    pub(crate) fn said(&self, client: &ClientContext, provider: &ModelProvider) -> SaidOfProvider {
        let clients = self.0.lock();
        let said = client.connection.and_then(|connection| clients.get(&connection)?.said.get(provider.id));
        said.cloned().unwrap_or(SaidOfProvider::Nothing)
    }

    /// Every secret that any client has set.
    pub(crate) fn secrets(&self) -> Vec<SecretText> {
        let clients = self.0.lock();
        let said = clients.values().flat_map(|known| known.said.values());
        let secrets = said.filter_map(|said| match said {
            SaidOfProvider::Set(access) => Some(access.secrets()),
            SaidOfProvider::Nothing | SaidOfProvider::Disabled => None,
        });
        secrets.flatten().collect()
    }
}

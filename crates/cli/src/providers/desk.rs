//! All that the commands about providers work with.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use nudge_model::{ModelProvider, ModelWish, PROVIDERS, ProviderModels, ProviderOptions, ProviderState};
use nudge_wire::{ClientContext, ConnectionId, Environment};
use tokio::runtime::{Builder, Runtime};

use super::VaultLogins;
use crate::{daemon::own_environment, data_place::DataPlace};

/// How long an Ollama of this machine may take to show that it is there.
const LOCAL: Duration = Duration::from_secs(1);
/// Stands for the terminal, where others have a connection.
const TERMINAL: ConnectionId = ConnectionId(0);

/// The providers as this process has them: its environment, and what is kept.
pub(super) struct ProviderDesk {
    pub(super) logins: Option<Arc<VaultLogins>>,
    pub(super) models: ProviderModels,
    pub(super) client: ClientContext,
    pub(super) environment: Environment,
    runtime: Option<Runtime>,
}

impl ProviderDesk {
    /// With this model, or with whichever is taken.
    pub(super) fn open(place: &DataPlace, model: Option<String>) -> Result<Self> {
        let runtime =
            Builder::new_current_thread().enable_all().build().context("cannot start the event loop")?;
        let (logins, environment) = (VaultLogins::at(place), Environment::new(own_environment()));
        let models = ProviderModels::new(ProviderOptions {
            environment: Some(environment.clone()),
            rehearsal: None,
            stored: logins.clone().map(|logins| logins as _),
            ..ProviderOptions::default()
        });
        let hold = models.connect(TERMINAL, ModelWish { provider: None, model });
        let client = ClientContext { environment: None, connection: Some(TERMINAL), hold };
        Ok(Self { logins, models, client, environment, runtime: Some(runtime) })
    }

    /// Waits for something.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("it is there until the end").block_on(future)
    }

    /// What is kept, or why there is no place for it.
    pub(super) fn logins(&self) -> Result<&VaultLogins> {
        let logins = self.logins.as_deref();
        logins.context("nothing is kept, as there is no data folder: name one with --data DIR")
    }

    /// Whether an Ollama of this machine answers.
    pub(super) fn has_local(&self) -> bool {
        let asked = self.models.is_ollama_there(&self.client);
        self.wait(async { tokio::time::timeout(LOCAL, asked).await }).unwrap_or(false)
    }

    /// How each provider stands, or the one that is named. An Ollama that answers is one that is reached.
    pub(super) fn states(&self, named: Option<&str>) -> Result<Vec<ProviderState>> {
        let named = named.map(known).transpose()?;
        let mut states = self.models.states(&self.client);
        states.retain(|state| named.is_none_or(|named| state.provider == named));
        let ollama = states.iter_mut().find(|state| state.provider.id == "ollama" && state.access.is_none());
        if let Some(ollama) = ollama.filter(|_| self.has_local()) {
            ollama.access = self.models.local(&self.client);
        }
        Ok(states)
    }
}

impl Drop for ProviderDesk {
    fn drop(&mut self) {
        // A keyring or a command that hangs must not hold up the end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The provider of this id.
pub(super) fn known(id: &str) -> Result<&'static ModelProvider> {
    if let Some(provider) = ModelProvider::named(&id.to_lowercase()) {
        return Ok(provider);
    }
    let ids: Vec<_> = PROVIDERS.iter().map(|provider| provider.id).collect();
    // What was typed is not repeated: it may be a key.
    bail!("there is no such provider; known are {}", ids.join(", "))
}

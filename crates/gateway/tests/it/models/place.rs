//! A process as clients find it: a gateway, its sessions, its models.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use nudge_agent::BuiltInSource;
use nudge_gateway::{ConnectionOptions, Gateway, LoginStore, ProgramInfo};
use nudge_hub::{Environment, Hub, HubOptions};
use nudge_model::{
    ModelWish, ProviderModels, ProviderOptions, RequestLimits, StoredLogins, script::ScriptedModel,
};
use nudge_nes::{NesOptions, NesService};
use nudge_peer::FrameTap;
use nudge_stage::StageProvider;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Client, Dialect, logins::KeptLogins};

/// An address at which nobody listens.
pub(crate) const NOBODY: &str = "http://127.0.0.1:1";

/// A process, and a folder to work in.
pub(crate) struct Place {
    pub(crate) gateway: Gateway,
    pub(crate) logins: Arc<KeptLogins>,
    work: TempDir,
}

/// What is special about a client.
#[derive(Clone, Default)]
pub(crate) struct ClientSetup {
    pub(crate) capabilities: Value,
    /// Beside the way to programs.
    pub(crate) environment: Vec<(&'static str, String)>,
    pub(crate) wish: ModelWish,
    pub(crate) tap: Option<FrameTap>,
}

impl Place {
    /// A process in memory, on a machine without Ollama.
    pub(crate) async fn new() -> Arc<Self> {
        Self::with("memory", NOBODY).await
    }

    /// A process in memory whose pages can be used for this long.
    pub(crate) async fn with_page_lifetime(lifetime: Duration) -> Arc<Self> {
        let limits = RequestLimits::default();
        Self::open("memory", NOBODY, limits, |gateway| gateway.with_page_lifetime(lifetime)).await
    }

    /// A process that keeps sessions there, on a machine whose Ollama would be there.
    pub(crate) async fn with(store: &str, ollama: &str) -> Arc<Self> {
        Self::open(store, ollama, RequestLimits::default(), |gateway| gateway).await
    }

    /// A process in memory whose patience with providers is another.
    pub(crate) async fn limited(limits: RequestLimits) -> Arc<Self> {
        Self::open("memory", NOBODY, limits, |gateway| gateway).await
    }

    async fn open(
        store: &str,
        ollama: &str,
        limits: RequestLimits,
        change: impl FnOnce(Gateway) -> Gateway,
    ) -> Arc<Self> {
        let logins = Arc::new(KeptLogins::default());
        let options = ProviderOptions {
            environment: Some(Environment::new(BTreeMap::new())),
            rehearsal: Some(Arc::new(ScriptedModel::built_in())),
            stored: Some(Arc::clone(&logins) as Arc<dyn StoredLogins>),
            limits,
        };
        let models = ProviderModels::new(options).with_local_ollama(ollama);
        let options = HubOptions {
            store: store.to_owned(),
            owners: None,
            built_in: Arc::new(BuiltInSource::new(Arc::new(models.clone()))),
            linger: Duration::from_secs(30),
            outlives_clients: true,
            observer: None,
        };
        let (hub, _) = Hub::open(options).await.expect("the store can be opened");
        let nes = NesService::new(NesOptions { index: false, ..Default::default() });
        let program = ProgramInfo { version: "test".to_owned(), ..ProgramInfo::default() };
        let gateway = Gateway::new(nes, Some(hub), program);
        let gateway = gateway.with_models(models, Some(Arc::clone(&logins) as Arc<dyn LoginStore>));
        let gateway = change(gateway);
        Arc::new(Self { gateway, logins, work: tempfile::tempdir().expect("a temporary folder") })
    }

    pub(crate) fn cwd(&self) -> String {
        let path = self.work.path().canonicalize().expect("the folder is there");
        path.to_str().expect("its name is text").to_owned()
    }

    /// Writes a file to work with.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.work.path().join(name), text).expect("the folder can be written to");
    }

    /// A client that has said who it is.
    pub(crate) async fn client(&self, version: u64) -> Client {
        self.client_with(version, ClientSetup::default()).await
    }

    pub(crate) async fn client_with(&self, version: u64, setup: ClientSetup) -> Client {
        let ClientSetup { capabilities, environment, wish, tap } = setup;
        let path = std::env::var("PATH").unwrap_or_default();
        let own = environment.into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables: BTreeMap<String, String> = own.chain([("PATH".to_owned(), path)]).collect();
        let options = ConnectionOptions {
            environment: Some(Environment::new(variables)),
            models: wish,
            tap,
            ..ConnectionOptions::default()
        };
        let capabilities = if capabilities.is_null() { json!({}) } else { capabilities };
        Client::connect(&self.gateway, options, version, &capabilities).await
    }

    /// A client with a new session, whose models are those of the stand-in.
    pub(crate) async fn session(&self, version: u64, dialect: Dialect, stage: &StageProvider) -> Client {
        let mut client = self.client(version).await;
        client.ask("providers/set", &dialect.set(stage)).await;
        client.new_session(&self.cwd()).await;
        client
    }
}

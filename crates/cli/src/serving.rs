//! How a process serves its connections: the gateway it opens, and what each connection asks for.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use nudge_adapt::AgentProgram;
use nudge_agent::BuiltInSource;
use nudge_gateway::{ConnectionAgent, ConnectionOptions, Gateway, NesProvider, ProgramInfo};
use nudge_hub::{Environment, Hub, SessionSource};
use nudge_model::{ModelProvider, ModelWish, ProviderModels, ProviderOptions, script::ScriptedModel};
use nudge_nes::NesService;
use nudge_peer::{ConnectionLimits, FrameTap};

use crate::{
    daemon::{make_private, own_environment},
    data_place::DataPlace,
    failpoint,
    providers::VaultLogins,
    version,
};

/// How long a turn may be silent after its client has said its last word, before the answer is not waited for any more.
const DRAIN: Duration = Duration::from_mins(10);

/// How long a session that nobody looks at stays in memory.
const LINGER: Duration = Duration::from_secs(30);

/// What all connections of this process share.
pub(crate) struct ProcessGateway {
    pub(crate) gateway: Gateway,
    /// The sessions behind it.
    pub(crate) hub: Hub,
}

/// How one connection is served.
#[derive(Debug, Default, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct ServingMode {
    /// The file every message is appended to.
    pub(crate) trace: Option<PathBuf>,
    /// The longest message taken.
    pub(crate) max_message: usize,
    /// The agent that runs the sessions; the built-in one unless set.
    #[serde(default)]
    pub(crate) agent: Option<DownstreamCommand>,
    /// Whether next edit suggestions are left to it.
    #[serde(default)]
    pub(crate) nes_by_agent: bool,
    /// What the built-in agent plays in the sessions that this connection brings into use: the text of a rehearsal.
    #[serde(default)]
    pub(crate) rehearsal: Option<String>,
    /// The model that is asked unless a session chooses another.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// The one provider that may be asked.
    #[serde(default)]
    pub(crate) provider: Option<String>,
    /// How many seconds the daemon is to stay from now on with nothing attached and nothing running.
    #[serde(default)]
    pub(crate) linger: Option<u64>,
}

/// An agent behind Nudge, as the command line names it. Its arguments may hold keys.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct DownstreamCommand {
    pub(crate) name: String,
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    /// Variables beside those of the editor.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: PathBuf,
    pub(crate) isolate: bool,
    /// Seconds in which it has to stop when a turn is cancelled.
    pub(crate) patience: u64,
    /// Seconds in which it has to answer `initialize`.
    #[serde(default = "start_timeout")]
    pub(crate) start_timeout: u64,
}

/// For a greeting of a version that had no such setting. Some agents are downloaded when they are started.
pub(crate) const fn start_timeout() -> u64 {
    300
}

impl std::fmt::Debug for DownstreamCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DownstreamCommand").field("name", &self.name).finish_non_exhaustive()
    }
}

impl DownstreamCommand {
    /// The agent to be started, as if the editor had started it.
    pub(crate) fn spec(&self, environment: Option<Environment>) -> AgentProgram {
        let Self { name, program, args, env, cwd, isolate, patience, start_timeout } = self.clone();
        let (patience, start_timeout) = (Duration::from_secs(patience), Duration::from_secs(start_timeout));
        AgentProgram { name, program, args, env, cwd, environment, isolate, patience, start_timeout }
    }
}

/// Opens the store and makes a gateway to it.
pub(crate) async fn open_gateway(
    place: &DataPlace,
    rehearsal: Option<&str>,
    is_daemon: bool,
) -> Result<ProcessGateway> {
    // Where there can be no folder, whatever has to be kept says so.
    if let Some(dir) = place.data_dir()
        && let Err(error) = make_private(&dir)
        && dir.exists()
    {
        return Err(error);
    }
    let logins = VaultLogins::at(place);
    let models = ProviderModels::new(ProviderOptions {
        environment: Some(Environment::new(own_environment())),
        rehearsal: Some(Arc::new(ScriptedModel::built_in())),
        stored: logins.clone().map(|logins| logins as _),
        ..ProviderOptions::default()
    });
    let built_in = match rehearsal {
        Some(text) => BuiltInSource::of_model(Arc::new(ScriptedModel::parse(text)?)),
        None => BuiltInSource::new(Arc::new(models.clone())),
    };
    let options = nudge_hub::HubOptions {
        store: place.store_url(),
        owners: place.owners(),
        built_in: Arc::new(built_in),
        linger: LINGER,
        outlives_clients: is_daemon,
        observer: failpoint::observer(),
    };
    let (hub, set_aside) = Hub::open(options).await.context("cannot open the store of sessions")?;
    if let Some(path) = set_aside {
        tracing::error!("the store was damaged; it was set aside as {} and a new one begun", path.display());
    }
    let nes = NesService::new(nudge_nes::NesOptions { data_dir: place.data_dir(), ..Default::default() });
    let program = ProgramInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: version::BUILD.to_owned(),
        is_daemon,
    };
    let gateway = Gateway::new(nes, Some(hub.clone()), program);
    // Where all play the same, there is nothing to sign in to.
    let gateway = if rehearsal.is_some() {
        gateway
    } else {
        gateway.with_models(models, logins.map(|logins| logins as _))
    };
    Ok(ProcessGateway { gateway, hub })
}

impl ServingMode {
    /// How the gateway serves such a connection.
    pub(crate) fn options(
        &self,
        tap: Option<FrameTap>,
        environment: Option<Environment>,
    ) -> Result<ConnectionOptions> {
        let agent =
            self.agent.as_ref().map(|agent| ConnectionAgent::Program(agent.spec(environment.clone())));
        Ok(ConnectionOptions {
            limits: ConnectionLimits {
                max_message: self.max_message,
                drain: DRAIN,
                ..ConnectionLimits::default()
            },
            tap,
            environment,
            agent,
            built_in: rehearsed(self)?,
            models: self.wish()?,
            nes: if self.nes_by_agent { NesProvider::Agent } else { NesProvider::Nudge },
            nes_clock: None,
        })
    }
}

impl ServingMode {
    /// A provider that is not known is not left out: then any could be asked.
    fn wish(&self) -> Result<ModelWish> {
        let known = |id: &str| {
            ModelProvider::named(id)
                .with_context(|| format!("the daemon that runs knows no provider `{id}`; try `nudge stop`"))
        };
        let provider = self.provider.as_deref().map(known).transpose()?;
        Ok(ModelWish { provider, model: self.model.clone() })
    }
}

/// Opens the file that every message is appended to, if one is wanted.
pub(crate) fn open_tap(serving: &ServingMode) -> Result<Option<FrameTap>> {
    let Some(path) = &serving.trace else { return Ok(None) };
    let opened = FrameTap::to_file(path);
    Ok(Some(opened.with_context(|| format!("cannot write the trace to {}", path.display()))?))
}

/// What the built-in agent is to play for a connection, if it wants something of its own.
pub(crate) fn rehearsed(serving: &ServingMode) -> Result<Option<SessionSource>> {
    let Some(text) = &serving.rehearsal else { return Ok(None) };
    Ok(Some(Arc::new(BuiltInSource::of_model(Arc::new(ScriptedModel::parse(text)?)))))
}

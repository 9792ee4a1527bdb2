//! What a process offers to each of its connections: next edit suggestions and sessions.

use std::{
    future::Future,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use anyhow::{Context, Result};
use nudge_adapt::{AdaptedSource, Agent, Lane, Listening, Pool, Spec, merged};
use nudge_agent::BuiltInSource;
use nudge_hub::{Edge, Environment, Hub, Source};
use nudge_model::script::Script;
use nudge_nes::Service;
use nudge_peer::{Closed, Connect, Cx, InOrder, Limits, Peer, Tap, Unhandled};
use nudge_wire::{
    Error, RawJson, Request, Version, acp,
    caps::{AgentInit, ClientInit},
};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{daemon::make_private, failpoint, nes::Nes, place::Place, version};

/// How long a turn may be silent after its client has said its last word, before the answer is not waited for any more.
const DRAIN: Duration = Duration::from_mins(10);

/// How long a session that nobody looks at stays in memory.
const LINGER: Duration = Duration::from_secs(30);

/// What all connections of a process share.
pub(crate) struct House {
    pub(crate) hub: Hub,
    /// Somebody wants the daemon to end.
    pub(crate) stop: Notify,
    nes: Service,
    agents: Pool,
    is_daemon: bool,
}

/// How one connection is served.
#[derive(Debug, Default, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Serving {
    /// The file every message is appended to.
    pub(crate) trace: Option<PathBuf>,
    /// The longest message taken.
    pub(crate) max_message: usize,
    /// The agent that runs the sessions; the built-in one unless set.
    #[serde(default)]
    pub(crate) agent: Option<Downstream>,
    /// Whether next edit suggestions are left to it.
    #[serde(default)]
    pub(crate) nes_by_agent: bool,
    /// What the built-in agent plays in the sessions that this connection brings into use: the text of a rehearsal.
    #[serde(default)]
    pub(crate) rehearsal: Option<String>,
    /// How many seconds the daemon is to stay from now on with nothing attached and nothing running.
    #[serde(default)]
    pub(crate) linger: Option<u64>,
}

/// An agent behind Nudge, as the command line names it. Its arguments may hold keys.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Downstream {
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

impl std::fmt::Debug for Downstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Downstream").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Downstream {
    /// The agent to be started, as if the editor had started it.
    pub(crate) fn spec(&self, environment: Option<Environment>) -> Spec {
        let Self { name, program, args, env, cwd, isolate, patience, start_timeout } = self.clone();
        let (patience, start_timeout) = (Duration::from_secs(patience), Duration::from_secs(start_timeout));
        Spec { name, program, args, env, cwd, environment, isolate, patience, start_timeout }
    }
}

impl House {
    /// Opens the store and makes ready.
    pub(crate) async fn open(place: &Place, rehearsal: Option<&str>, is_daemon: bool) -> Result<Self> {
        // Where there can be no folder, whatever has to be kept says so.
        if let Some(dir) = place.data_dir()
            && let Err(error) = make_private(&dir)
            && dir.exists()
        {
            return Err(error);
        }
        let model = match rehearsal {
            Some(text) => Script::parse(text)?,
            None => Script::built_in(),
        };
        let options = nudge_hub::Options {
            store: place.store_url(),
            owners: place.owners(),
            built_in: Arc::new(BuiltInSource::new(Arc::new(model))),
            linger: LINGER,
            outlives_clients: is_daemon,
            observer: failpoint::observer(),
        };
        let (hub, set_aside) = Hub::open(options).await.context("cannot open the store of sessions")?;
        if let Some(path) = set_aside {
            tracing::error!(
                "the store was damaged; it was set aside as {} and a new one begun",
                path.display()
            );
        }
        let nes = Service::new(nudge_nes::Options { data_dir: place.data_dir(), ..Default::default() });
        Ok(Self { hub, nes, agents: Pool::default(), is_daemon, stop: Notify::new() })
    }

    /// Makes one connection ready to run.
    pub(crate) fn serve(
        self: &Arc<Self>,
        transport: impl Connect,
        tap: Option<Tap>,
        environment: Option<Environment>,
        serving: &Serving,
    ) -> Result<Served> {
        let limits = Limits { max_message: serving.max_message, drain: DRAIN, ..Limits::default() };
        let desk = Arc::new(Desk {
            house: Arc::clone(self),
            nes: Nes::new(self.nes.clone()),
            cx: OnceLock::new(),
            environment,
            downstream: serving.agent.clone(),
            built_in: rehearsed(serving)?,
            nes_by_agent: serving.nes_by_agent,
            edge: Mutex::default(),
            agent: Mutex::default(),
        });
        let peer = Peer::agent().limits(limits).tap(tap);
        let peer = if serving.nes_by_agent { peer } else { desk.nes.handlers(peer) };
        let (at_initialize, at_unknown) = (Arc::clone(&desk), Arc::clone(&desk));
        let connection = peer
            .on_request(move |Initialize(params), _| {
                let desk = Arc::clone(&at_initialize);
                async move { desk.initialize(&params).await }
            })
            .on_unknown(move |message, _: InOrder| {
                let desk = Arc::clone(&at_unknown);
                async move { desk.take(message).await }
            })
            .connect(transport)
            .context("cannot open the connection")?;
        let _ = desk.cx.set(connection.cx());
        Ok(Served { connection, desk })
    }
}

/// Opens the file that every message is appended to, if one is wanted.
pub(crate) fn open_tap(serving: &Serving) -> Result<Option<Tap>> {
    let Some(path) = &serving.trace else { return Ok(None) };
    let opened = Tap::to_file(path);
    Ok(Some(opened.with_context(|| format!("cannot write the trace to {}", path.display()))?))
}

/// A connection that is ready to run.
pub(crate) struct Served {
    pub(crate) connection: nudge_peer::Connection,
    desk: Arc<Desk>,
}

impl Served {
    /// Runs the connection to its end; its client has left its sessions then.
    pub(crate) async fn run(self) -> Result<(), Closed> {
        self.run_until(std::future::pending()).await
    }

    /// As [`run`](Self::run), but ends at once when the client is `gone`: what it has asked for goes on, and is answered to
    /// nobody.
    pub(crate) async fn run_until(self, gone: impl Future<Output = ()>) -> Result<(), Closed> {
        let Self { connection, desk } = self;
        let ended = tokio::select! {
            // What it has said before it went is taken first.
            biased;
            ended = connection.serve() => ended,
            () = gone => Ok(()),
        };
        desk.edge.lock().take();
        desk.agent.lock().take();
        ended
    }
}

/// One connection.
struct Desk {
    house: Arc<House>,
    nes: Arc<Nes>,
    cx: OnceLock<Cx>,
    environment: Option<Environment>,
    downstream: Option<Downstream>,
    built_in: Option<Source>,
    nes_by_agent: bool,
    edge: Mutex<Option<Arc<Edge>>>,
    agent: Mutex<Option<Behind>>,
}

/// The agent behind a connection.
#[derive(Clone)]
struct Behind {
    agent: Arc<Agent>,
    /// What this connection says to it.
    lane: Arc<Lane>,
    /// What the agent says to nobody in particular is for this connection.
    _listening: Arc<Listening>,
}

impl Desk {
    async fn initialize(&self, params: &RawJson) -> Result<RawJson, Error> {
        if !params.as_str().starts_with('{') {
            return Err(Error::invalid_params("Invalid params for initialize: expected an object"));
        }
        let requested = params.get(&["protocolVersion"]).and_then(|version| version.to::<Value>().ok());
        let version = Version::negotiate(requested.as_ref());
        tracing::info!(?version, "initialized");
        let client = nudge_bridge::client_init(version, params.clone());
        let behind = self.start_agent(&client).await?;
        let agent = if let Some(behind) = &behind {
            Ok(merged(&behind.agent.init().await?, version, env!("CARGO_PKG_VERSION")))
        } else {
            let agent = AgentInit::new(version, capabilities(version));
            agent.with_inject(&nudge_hub::inject()).and_then(|agent| agent.with_steering(true))
        };
        let answer =
            agent.and_then(
                |agent| {
                    if self.nes_by_agent { Ok(agent) } else { self.nes.initialize(&client, agent) }
                },
            );
        let answer = answer.map_err(|_| {
            Error::internal("The agent's answer to `initialize` has capabilities that are no objects")
        })?;
        if let Some(cx) = self.cx.get() {
            let adapted = |behind: &Behind| AdaptedSource::new(Arc::clone(&behind.agent));
            let agent = behind.as_ref().map(|behind| Arc::new(adapted(behind)) as Source);
            let edge = self.house.hub.connect(
                cx.clone(),
                &client,
                self.environment.clone(),
                agent,
                self.built_in.clone(),
            );
            *self.edge.lock() = Some(Arc::new(edge));
        }
        *self.agent.lock() = behind;
        Ok(with_agent_info(version, answer.result))
    }

    /// Starts the agent behind the connection, or finds it running.
    async fn start_agent(&self, client: &ClientInit) -> Result<Option<Behind>, Error> {
        let (Some(downstream), Some(cx)) = (&self.downstream, self.cx.get()) else { return Ok(None) };
        let spec = downstream.spec(self.environment.clone());
        let agent = self.house.agents.agent(spec, client.clone());
        agent.init().await?;
        let listening = Arc::new(agent.listen(client.version, cx.clone()));
        let lane = Arc::new(Lane::new(Arc::clone(&agent), client.version));
        Ok(Some(Behind { agent, lane, _listening: listening }))
    }

    /// Takes what is said to the daemon itself; gives back all else.
    async fn control(&self, message: Unhandled) -> Option<Unhandled> {
        let Unhandled::Request(request) = message else { return Some(message) };
        let result = match &**request.method() {
            "_nudge/status" => {
                let status = self.house.hub.status().await;
                let program = std::env::current_exe().ok();
                Ok(json!({
                    "pid": std::process::id(), "version": env!("CARGO_PKG_VERSION"), "build": version::BUILD,
                    "program": program.map(|path| path.to_string_lossy().into_owned()), "sessions": status.sessions,
                }))
            }
            "_nudge/settle" => self.house.hub.settle().await.map(|()| json!({})),
            "_nudge/questions" => Ok(json!({ "questions": self.house.hub.questions().await })),
            "_nudge/answer" => {
                let answered = self.house.hub.answer(request.params()).await;
                answered.map(|answered| json!({ "answered": answered }))
            }
            "_nudge/stop" if self.house.is_daemon => {
                self.house.stop.notify_one();
                Ok(json!({}))
            }
            _ => return Some(Unhandled::Request(request)),
        };
        // Whoever asked may be gone.
        let _ = request.respond(result).await;
        None
    }

    async fn take(&self, message: Unhandled) -> Result<(), Closed> {
        let message = if self.nes_by_agent { Some(message) } else { self.nes.take(message).await };
        let Some(message) = message else { return Ok(()) };
        let Some(message) = self.control(message).await else { return Ok(()) };
        let edge = self.edge.lock().clone();
        match (edge, message) {
            (Some(edge), message) => match edge.handle(message).await {
                Some(message) => self.pass(message).await,
                None => Ok(()),
            },
            (None, Unhandled::Request(request)) if request.method().starts_with("session/") => {
                request
                    .respond::<()>(Err(Error::invalid_request("Invalid request: `initialize` comes first")))
                    .await
            }
            (None, message) => message.refuse().await,
        }
    }
}

impl Desk {
    /// What nobody here understands may be understood by the agent.
    async fn pass(&self, message: Unhandled) -> Result<(), Closed> {
        let behind = self.agent.lock().clone();
        match behind {
            Some(behind) => {
                behind.lane.push(message).await;
                Ok(())
            }
            None => message.refuse().await,
        }
    }
}

/// What the built-in agent is to play for a connection, if it wants something of its own.
pub(crate) fn rehearsed(serving: &Serving) -> Result<Option<Source>> {
    let Some(text) = &serving.rehearsal else { return Ok(None) };
    Ok(Some(Arc::new(BuiltInSource::new(Arc::new(Script::parse(text)?)))))
}

/// `initialize` of either version, read leniently: what version it asks for decides what it is.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Initialize(RawJson);

impl Request for Initialize {
    const METHOD: &'static str = "initialize";
    type Response = RawJson;
}

/// What the built-in agent offers, suggestions and mid-turn input aside.
fn capabilities(version: Version) -> RawJson {
    let (name, release) = ("nudge", env!("CARGO_PKG_VERSION"));
    match version {
        Version::V1 => {
            let info = acp::v1::Implementation::new(name, release).title("Nudge".to_owned());
            with(
                &acp::v1::InitializeResponse::new(acp::ProtocolVersion::V1).agent_info(info),
                "agentCapabilities",
                json!({
                    "loadSession": true,
                    "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
                    "sessionCapabilities": {
                        "list": {}, "resume": {}, "close": {}, "fork": {}, "delete": {}, "additionalDirectories": {},
                    },
                }),
            )
        }
        Version::V2 => {
            let info = acp::v2::Implementation::new(name, release).title("Nudge".to_owned());
            with(
                &acp::v2::InitializeResponse::new(acp::ProtocolVersion::V2, info),
                "capabilities",
                json!({
                    "session": {
                        "prompt": { "embeddedContext": {} },
                        "fork": {}, "delete": {}, "additionalDirectories": {}, "steering": {},
                    },
                }),
            )
        }
    }
}

/// Who answers, also under the name that some pages of the draft of version 2 have for it.
fn with_agent_info(version: Version, result: RawJson) -> RawJson {
    let info =
        result.get(&["info"]).filter(|_| version == Version::V2 && result.get(&["agentInfo"]).is_none());
    info.and_then(|info| result.with(&["agentInfo"], &info).ok()).unwrap_or(result)
}

fn with(answer: &impl Serialize, name: &str, capabilities: Value) -> RawJson {
    let mut answer = serde_json::to_value(answer).expect("the answer is plain data with string keys");
    answer[name] = capabilities;
    RawJson::of(&answer).expect("the answer is plain data with string keys")
}

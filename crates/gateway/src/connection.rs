//! The connection of a client: each message goes to who answers it.

use std::{
    fmt, io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use nudge_hub::{Environment, SessionApi, SessionSource};
use nudge_model::{ModelWish, ProviderModels};
use nudge_peer::{Connect, ConnectionClosed, ConnectionLimits, Cx, FrameTap, Peer, UnhandledMessage};
use nudge_wire::{ClientContext, ConnectionId, ContextHold, Error, RawJson};
use parking_lot::Mutex;

use crate::{
    ConnectionAgent, Gateway, NesClock, NesProvider,
    agent_behind::{AgentBehind, is_for_agent},
    control,
    initialize::{InitializeParams, initialize},
    nes_methods::NesMethods,
    sign_in::ClientSignIn,
};

/// How many connections there have been.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// How one connection is served.
#[derive(Default, Clone)]
pub struct ConnectionOptions {
    /// How much may wait, how long a message may be, and how long the end may take.
    pub limits: ConnectionLimits,
    /// Where every message is written down.
    pub tap: Option<FrameTap>,
    /// The environment in which commands of the client's sessions run; that of the process unless set.
    pub environment: Option<Environment>,
    /// What runs the sessions that it begins; the built-in agent unless set.
    pub agent: Option<ConnectionAgent>,
    /// The built-in agent of the sessions that it brings into use; that of the gateway unless set.
    pub built_in: Option<SessionSource>,
    /// What the client wants of the models of the built-in agent.
    pub models: ModelWish,
    /// Who makes next edit suggestions.
    pub nes: NesProvider,
    /// What tells the time of document events; the clock of the machine unless set.
    pub nes_clock: Option<NesClock>,
}

impl fmt::Debug for ConnectionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionOptions")
            .field("agent", &self.agent)
            .field("nes", &self.nes)
            .finish_non_exhaustive()
    }
}

/// The connection of a client, ready to run.
pub struct ClientConnection {
    connection: nudge_peer::Connection,
    routes: Arc<ClientRoutes>,
}

impl ClientConnection {
    pub(crate) fn open(
        gateway: Gateway,
        transport: impl Connect,
        options: ConnectionOptions,
    ) -> io::Result<Self> {
        let nes = NesMethods::new(gateway.nes().clone(), options.nes_clock.clone());
        let peer = Peer::agent().limits(options.limits.clone()).tap(options.tap.clone());
        let peer = match options.nes {
            NesProvider::Nudge => nes.handlers(peer),
            NesProvider::Agent => peer,
        };
        let id = ConnectionId(CONNECTIONS.fetch_add(1, Ordering::Relaxed));
        let hold = gateway.providers().map(|providers| providers.connect(id, options.models.clone()));
        let routes = Arc::new(ClientRoutes {
            id,
            hold: hold.unwrap_or_default(),
            gateway,
            options,
            nes,
            cx: OnceLock::new(),
            sessions: Mutex::default(),
            sign_in: Mutex::default(),
            agent: Mutex::default(),
        });
        let connection = peer
            .with(Arc::clone(&routes))
            .on_request(async |routes, InitializeParams(params), _| routes.initialize(&params).await)
            .on_unknown(async |routes, message, _| routes.route(message).await)
            .connect(transport)?;
        let _ = routes.cx.set(connection.cx());
        Ok(Self { connection, routes })
    }

    /// A handle to the client.
    pub fn cx(&self) -> Cx {
        self.connection.cx()
    }

    /// Runs the connection to its end; its client has left its sessions then.
    pub async fn run(self) -> Result<(), ConnectionClosed> {
        self.run_until(std::future::pending()).await
    }

    /// As [`run`](Self::run), but ends at once when the client is `gone`: what it has asked for goes on, and is answered to
    /// nobody.
    pub async fn run_until(self, gone: impl Future<Output = ()>) -> Result<(), ConnectionClosed> {
        let Self { connection, routes } = self;
        let ended = tokio::select! {
            // What it has said before it went is taken first.
            biased;
            ended = connection.serve() => ended,
            () = gone => Ok(()),
        };
        routes.leave();
        ended
    }
}

impl fmt::Debug for ClientConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConnection").field("connection", &self.connection).finish_non_exhaustive()
    }
}

/// Who answers what a client says.
pub(crate) struct ClientRoutes {
    pub(crate) id: ConnectionId,
    /// Keeps what the client says about models, for its turns as well.
    hold: ContextHold,
    pub(crate) gateway: Gateway,
    pub(crate) options: ConnectionOptions,
    pub(crate) nes: Arc<NesMethods>,
    cx: OnceLock<Cx>,
    sessions: Mutex<Option<Arc<SessionApi>>>,
    /// How the models of the built-in agent are reached and signed in to, if it is that agent.
    sign_in: Mutex<Option<Arc<ClientSignIn>>>,
    agent: Mutex<Option<AgentBehind>>,
}

impl ClientRoutes {
    pub(crate) fn cx(&self) -> Result<&Cx, Error> {
        self.cx.get().ok_or_else(|| Error::internal("The connection is not open yet"))
    }

    /// What sessions take over from the client.
    pub(crate) fn context(&self) -> ClientContext {
        let (environment, hold) = (self.options.environment.clone(), self.hold.clone());
        ClientContext { environment, connection: Some(self.id), hold }
    }

    /// How the models of the built-in agent are reached, if it is that agent.
    pub(crate) fn providers(&self) -> Option<&ProviderModels> {
        let is_built_in = self.options.agent.is_none() && self.options.built_in.is_none();
        self.gateway.providers().filter(|_| is_built_in)
    }

    async fn initialize(&self, params: &RawJson) -> Result<RawJson, Error> {
        let initialized = initialize(self, params).await?;
        *self.sessions.lock() = initialized.sessions.map(Arc::new);
        *self.agent.lock() = initialized.agent;
        *self.sign_in.lock() = initialized.sign_in;
        Ok(initialized.answer)
    }

    /// Gives a message that no typed handler took to who answers it.
    async fn route(&self, message: UnhandledMessage) -> Result<(), ConnectionClosed> {
        let message = match self.options.nes {
            NesProvider::Nudge => self.nes.take(message).await,
            NesProvider::Agent => Some(message),
        };
        let Some(message) = message else { return Ok(()) };
        let Some(message) = control::answer(&self.gateway, message).await else { return Ok(()) };
        let (sessions, sign_in) = (self.sessions.lock().clone(), self.sign_in.lock().clone());
        let message = match sign_in {
            Some(sign_in) => sign_in.take(sessions.as_ref(), message).await,
            None => Some(message),
        };
        let Some(message) = message else { return Ok(()) };
        if self.agent.lock().is_some() && is_for_agent(&message) {
            return self.forward(message).await;
        }
        let message = match (sessions, message) {
            (Some(sessions), message) => sessions.handle(message).await,
            (None, UnhandledMessage::Request(request)) if self.wants_initialize(request.method()) => {
                let error = Error::invalid_request("Invalid request: `initialize` comes first");
                return request.respond::<()>(Err(error)).await;
            }
            (None, message) => Some(message),
        };
        match message {
            Some(message) => self.forward(message).await,
            None => Ok(()),
        }
    }

    /// Whether a method is about sessions, which are there once the client has said who it is.
    fn wants_initialize(&self, method: &str) -> bool {
        self.gateway.sessions().is_some() && method.starts_with("session/")
    }

    /// Forwards what nobody here understands to the agent, which may.
    async fn forward(&self, message: UnhandledMessage) -> Result<(), ConnectionClosed> {
        let agent = self.agent.lock().clone();
        match agent {
            Some(agent) => {
                agent.push(message).await;
                Ok(())
            }
            None => message.refuse().await,
        }
    }

    /// The client leaves its sessions, and its agent if nobody else uses it.
    fn leave(&self) {
        self.sessions.lock().take();
        self.sign_in.lock().take();
        self.agent.lock().take();
    }
}

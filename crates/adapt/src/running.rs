//! One process of an agent, from its start to its end.

use std::{collections::HashSet, sync::Arc, time::Duration};

use nudge_bridge::{client_to_v1, client_to_v2};
use nudge_peer::{
    CallError, CancellationToken, ConnectionClosed, ConnectionLimits, Cx, Peer, PendingResponse,
};
use nudge_wire::{
    Error, RawJson, Version,
    caps::{AgentInit, ClientInit},
};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    AgentOffers, AgentSettings, LaunchAgent, SteerTier,
    open_requests::{OpenRequestGuard, RequestPurpose},
    route::{AgentListeners, SessionRoutes},
    terminal_sign_in::has_terminal_sign_in,
    turn_so_far,
};

/// How often the log says that it is still waited for.
const PROGRESS: Duration = Duration::from_secs(10);

/// A process that has answered `initialize`. Dropping it ends the process.
pub(crate) struct RunningAgent {
    pub(crate) cx: Cx,
    pub(crate) init: AgentInit,
    pub(crate) offers: AgentOffers,
    pub(crate) tier: SteerTier,
    /// Whether it does not remember a turn that was cut off.
    pub(crate) forgets: bool,
    pub(crate) routes: Arc<SessionRoutes>,
    pub(crate) since: Instant,
    /// Cancelled when another process has taken its place.
    pub(crate) retired: CancellationToken,
    /// The numbers of the settings that it has agreed to.
    agreed: Mutex<HashSet<u64>>,
}

impl RunningAgent {
    /// Starts the agent and greets it as the client greeted us.
    pub(crate) async fn start(
        launch: &dyn LaunchAgent,
        settings: &AgentSettings,
        client: &ClientInit,
        listeners: &AgentListeners,
    ) -> Result<Self, Error> {
        let first = Self::greet(launch, settings, params(client), listeners).await?;
        if client.version == Version::V1 && first.init.version == Version::V2 {
            // It speaks version 2 alone, and was told nothing of the client in words it knows.
            return Self::greet(launch, settings, client_to_v2(&client.params), listeners).await;
        }
        Ok(first)
    }

    async fn greet(
        launch: &dyn LaunchAgent,
        settings: &AgentSettings,
        params: RawJson,
        listeners: &AgentListeners,
    ) -> Result<Self, Error> {
        let routes = SessionRoutes::new(Arc::clone(listeners));
        let taking = Arc::clone(&routes);
        let peer = Peer::client().name(&settings.name).limits(limits()).on_unknown(move |message, agent| {
            let later = taking.take(message, &agent);
            async move {
                match later {
                    Some(later) => later.await,
                    None => Ok(()),
                }
            }
        });
        let not_reached = |error: std::io::Error| Error::internal(error.to_string());
        let connection =
            launch.launch().and_then(|transport| peer.connect(transport)).map_err(not_reached)?;
        let cx = connection.cx();
        let (ending, name) = (Arc::clone(&routes), settings.name.clone());
        tokio::spawn(async move {
            match connection.serve().await {
                Ok(()) => tracing::info!(agent = name, "the agent has ended"),
                Err(error) => tracing::warn!(agent = name, %error, "the agent has ended"),
            }
            ending.end();
        });
        let guard = CloseOnDrop(Some(cx.clone()));
        let result = answer(&cx, settings, &params).await?;
        guard.keep_open();
        let version = version(&result);
        routes.set_version(version);
        let init = AgentInit::new(version, result);
        let (offers, tier) = (AgentOffers::of(&init), SteerTier::of(&init));
        tracing::info!(
            agent = settings.name,
            version = version.number(),
            tier = tier.number(),
            "the agent is ready"
        );
        routes.auth_status.set_given(offers.auth_status);
        let forgets = turn_so_far::forgets(&init);
        let (since, retired) = (Instant::now(), CancellationToken::new());
        Ok(Self { cx, init, offers, tier, forgets, routes, since, retired, agreed: Mutex::default() })
    }

    /// It has agreed to the setting of this number, which need not be said to it again.
    pub(crate) fn note_agreed(&self, number: u64) {
        self.agreed.lock().insert(number);
    }

    pub(crate) fn has_agreed(&self, number: u64) -> bool {
        self.agreed.lock().contains(&number)
    }

    /// Whether users can sign in to it beside the protocol.
    pub(crate) fn has_terminal_sign_in(&self) -> bool {
        has_terminal_sign_in(&self.init)
    }

    /// Sends a request, and notes what for: until the answer is there, what the agent asks about it is asked of whoever wants
    /// it.
    pub(crate) fn request_for(
        &self,
        purpose: Option<RequestPurpose>,
        method: &str,
        params: &RawJson,
    ) -> impl Future<Output = Result<RawJson, CallError>> + Send + use<> {
        let (response, noted) = self.send_for(purpose, method, params);
        async move {
            let answer = response.await;
            drop(noted);
            answer
        }
    }

    /// As [`request_for`](Self::request_for); the answer is there once all that came before it was handled.
    pub(crate) fn request_in_order_for(
        &self,
        purpose: Option<RequestPurpose>,
        method: &str,
        params: &RawJson,
    ) -> impl Future<Output = Result<RawJson, CallError>> + Send + use<> {
        let (response, noted) = self.send_for(purpose, method, params);
        async move {
            let answer = response.in_order().await;
            drop(noted);
            answer
        }
    }

    /// Sends a request, and notes what for as long as the guard is there.
    pub(crate) fn send_for(
        &self,
        purpose: Option<RequestPurpose>,
        method: &str,
        params: &RawJson,
    ) -> (PendingResponse<RawJson>, Option<OpenRequestGuard>) {
        let send = || self.cx.request_raw(method, Some(params));
        let Some(purpose) = purpose else { return (send(), None) };
        let (response, noted) = self.routes.requests.send(purpose, send);
        (response, Some(noted))
    }

    /// Whether the process has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.cx.is_over()
    }

    /// Why it ended, as an error for whoever waits for it.
    pub(crate) async fn why(&self) -> Error {
        lost(&self.cx.closed().await)
    }
}

impl Drop for RunningAgent {
    fn drop(&mut self) {
        self.cx.close();
    }
}

/// Ends a process that is not waited for any more.
struct CloseOnDrop(Option<Cx>);

impl CloseOnDrop {
    fn keep_open(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(cx) = &self.0 {
            cx.close();
        }
    }
}

/// The error for what an agent did not answer because it is gone.
pub(crate) fn lost(closed: &ConnectionClosed) -> Error {
    Error::internal(format!("The agent is gone: {closed}")).reason("agent_gone")
}

fn limits() -> ConnectionLimits {
    // A client that does not read makes the agent wait for as long as it takes.
    let patient = Duration::from_hours(24);
    let mib = 1024 * 1024;
    ConnectionLimits {
        inbound_soft: mib,
        inbound_hard: 4 * mib,
        give_up: patient,
        drain: Duration::from_secs(2),
        ..ConnectionLimits::default()
    }
}

async fn answer(cx: &Cx, settings: &AgentSettings, params: &RawJson) -> Result<RawJson, Error> {
    let mut answer = std::pin::pin!(cx.request_raw("initialize", Some(params)));
    let began = Instant::now();
    let deadline = began + settings.start_timeout;
    while Instant::now() < deadline {
        let look = deadline.min(Instant::now() + PROGRESS);
        match tokio::time::timeout_at(look, &mut answer).await {
            Ok(Ok(result)) if result.as_str().starts_with('{') => return Ok(result),
            Ok(Ok(_)) => return Err(Error::internal("The agent's answer to `initialize` is not an object")),
            Ok(Err(CallError::Rpc(error))) => return Err(error),
            Ok(Err(CallError::Closed(closed))) => return Err(lost(&closed)),
            Ok(Err(error)) => return Err(Error::internal(format!("The agent did not start: {error}"))),
            Err(_) => {
                let (agent, seconds) = (&settings.name, began.elapsed().as_secs());
                tracing::warn!(agent, seconds, "still waiting for the agent to answer `initialize`");
            }
        }
    }
    Err(late(settings.start_timeout))
}

fn late(timeout: Duration) -> Error {
    let what = format!(
        "The agent did not answer `initialize` within {} seconds and was ended. See in a terminal whether it starts and \
         speaks ACP, or give it more time with --start-timeout",
        timeout.as_secs()
    );
    Error::internal(what).reason("agent_start_timeout")
}

/// The version an answer is written in. Some agents repeat whatever number they were asked for and go on in version 1, so
/// the answer has to look like version 2 as well.
fn version(result: &RawJson) -> Version {
    let number = result.get(&["protocolVersion"]).and_then(|version| version.to::<u64>().ok());
    let is_v2 = result.get(&["capabilities"]).is_some() || result.get(&["info"]).is_some();
    if number == Some(2) && is_v2 { Version::V2 } else { Version::V1 }
}

/// The params of `initialize` for the agent. A version 2 client is introduced in the words of both versions, because only
/// the answer tells which one the agent reads. Files and terminals are not offered in its name: agents have their own, and
/// some handle those of a client worse. One that asks all the same is served.
fn params(client: &ClientInit) -> RawJson {
    if client.version == Version::V1 {
        return client.params.clone();
    }
    let v1 = client_to_v1(&client.params);
    ["clientCapabilities", "clientInfo"].into_iter().fold(client.params.clone(), |params, name| {
        let Some(value) = v1.get(&[name]) else { return params };
        params.with(&[name], &value).unwrap_or(params)
    })
}

//! A program that is started when it is needed, and again when it has died.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::WeakShared};
use nudge_bridge::{MethodCall, request_between};
use nudge_peer::{ConnectionClosed, Cx, UnhandledMessage};
use nudge_wire::{
    Error, RawJson, Version,
    caps::{AgentInit, ClientInit},
};
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::{
    AgentOffers, AgentProgram, AgentSettings, LaunchAgent, SteerTier,
    route::{AgentListener, AgentListeners},
    running::RunningAgent,
};

/// How long a process has to live for its end not to count as a failure to start.
const STABLE: Duration = Duration::from_secs(30);
/// The longest pause before a start.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// For how long a start that has failed counts as tried for what has waited for it.
const FRESH: Duration = Duration::from_secs(1);

/// An agent and its process, if one runs.
pub struct DownstreamAgent {
    launch: Arc<dyn LaunchAgent>,
    settings: AgentSettings,
    client: ClientInit,
    state: Arc<Mutex<State>>,
    listeners: AgentListeners,
    numbers: AtomicU64,
    /// Whether a session has it for itself.
    is_taken: AtomicBool,
    /// How the user signed in: said again to a process that is started anew.
    sign_in: SignIn,
}

/// The method and the params.
type SignIn = Arc<Mutex<Option<(String, RawJson)>>>;

#[derive(Default)]
struct State {
    running: Option<Arc<RunningAgent>>,
    /// The start under way. It belongs to those who wait for it: with the last of them it is given up.
    starting: Option<WeakShared<Start>>,
    /// Starts and short lives since one went well.
    failures: u32,
    last_start: Option<Instant>,
    /// When the last start failed, and why.
    failed: Option<(Instant, Error)>,
}

type Start = Pin<Box<dyn Future<Output = Result<Arc<RunningAgent>, Error>> + Send>>;

impl DownstreamAgent {
    /// A program, for clients that said this in `initialize`. Nothing is started yet.
    pub fn new(spec: AgentProgram, client: ClientInit) -> Arc<Self> {
        Self::started_as(Arc::new(spec), client)
    }

    pub(crate) fn started_as(spec: Arc<AgentProgram>, client: ClientInit) -> Arc<Self> {
        let settings = spec.settings();
        Self::reached_by(spec, settings, client)
    }

    /// Whether it is told what a client has said that said this in `initialize`.
    pub(crate) fn greets(&self, client: &ClientInit) -> bool {
        self.client == *client
    }

    /// An agent that is reached in another way, for clients that said this in `initialize`.
    pub fn reached_by(
        launch: Arc<dyn LaunchAgent>,
        settings: AgentSettings,
        client: ClientInit,
    ) -> Arc<Self> {
        Arc::new(Self {
            launch,
            settings,
            client,
            state: Arc::default(),
            listeners: AgentListeners::default(),
            numbers: AtomicU64::new(0),
            is_taken: AtomicBool::new(false),
            sign_in: Arc::default(),
        })
    }

    /// The agent for one session: this one, or with `isolate` one of its own, but for the first.
    pub(crate) fn for_session(self: &Arc<Self>) -> Arc<Self> {
        if !self.settings.isolate || !self.is_taken.swap(true, Ordering::Relaxed) {
            return Arc::clone(self);
        }
        let own = Self { listeners: Arc::clone(&self.listeners), ..Self::clone_of(self) };
        Arc::new(own)
    }

    fn clone_of(other: &Self) -> Self {
        let sign_in = lock(&other.sign_in).clone();
        Self {
            launch: Arc::clone(&other.launch),
            settings: other.settings.clone(),
            client: other.client.clone(),
            state: Arc::default(),
            listeners: AgentListeners::default(),
            numbers: AtomicU64::new(0),
            is_taken: AtomicBool::new(true),
            sign_in: Arc::new(Mutex::new(sign_in)),
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// How long it may take to stop.
    pub(crate) fn patience(&self) -> Duration {
        self.settings.patience
    }

    /// What it says of itself; starts it if need be.
    pub async fn init(&self) -> Result<AgentInit, Error> {
        Ok(self.running().await?.init.clone())
    }

    /// What it offers and how it is steered; starts it if need be.
    pub(crate) async fn offers(&self) -> Result<(Version, AgentOffers, SteerTier), Error> {
        let running = self.running().await?;
        Ok((running.init.version, running.offers, running.tier))
    }

    /// A connection uses the agent until the guard is dropped: what is about no session goes there.
    pub fn listen(self: &Arc<Self>, version: Version, cx: Cx) -> ListenerGuard {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let modes = self.client.elicitation_modes();
        lock(&self.listeners).push(AgentListener { number, version, modes, cx });
        ListenerGuard { agent: Arc::clone(self), number }
    }

    /// Sends a request that is about no session in use, written in the client's version, and gives the answer as it came.
    pub async fn request(&self, from: Version, method: &str, params: &RawJson) -> Result<RawJson, Error> {
        let running = self.running().await?;
        let call = request_between(from, running.init.version, method, params);
        let (method, params) = call.as_ref().map_or((method, params), |call| (&call.method, &call.params));
        Ok(running.cx.request_raw(method, Some(params)).await?)
    }

    /// Passes a message of a client on as it came, written in the agent's version. The answer goes back by itself.
    async fn pass(&self, message: UnhandledMessage, from: Version) -> Result<(), ConnectionClosed> {
        match self.running_for_waiting().await {
            Ok(running) => self.pass_to(&running, message, from).await,
            Err(error) => refuse(message, error).await,
        }
    }

    /// As [`pass`](Self::pass), to a process that runs.
    pub(crate) async fn pass_to(
        &self,
        running: &RunningAgent,
        message: UnhandledMessage,
        from: Version,
    ) -> Result<(), ConnectionClosed> {
        self.note_sign_in(&message);
        let call = message
            .params()
            .and_then(|params| request_between(from, running.init.version, message.method(), params));
        let passed = match call {
            Some(MethodCall { method, params }) => {
                message.forward_as(&running.cx, &method, Some(&params)).await
            }
            None => message.forward_to(&running.cx).await,
        };
        // Whoever asked was told; the connection of the client goes on.
        passed.or(Ok(()))
    }

    /// As [`pass`](Self::pass), for a message about the session that the agent knows as `id`.
    pub(crate) async fn pass_about(
        &self,
        id: &str,
        message: UnhandledMessage,
        from: Version,
    ) -> Result<(), ConnectionClosed> {
        let named = RawJson::of(id).expect("a string is JSON");
        let is_named = |params: &RawJson| params.get(&["sessionId"]).is_some_and(|other| other == named);
        let params = match message.params() {
            Some(params) if !is_named(params) => params.with(&["sessionId"], &named).ok(),
            _ => None,
        };
        let Some(params) = params else { return self.pass(message, from).await };
        let running = match self.running_for_waiting().await {
            Ok(running) => running,
            Err(error) => return refuse(message, error).await,
        };
        let method = message.method().to_string();
        let call = request_between(from, running.init.version, &method, &params);
        let MethodCall { method, params } = call.unwrap_or(MethodCall { method, params });
        message.forward_as(&running.cx, &method, Some(&params)).await.or(Ok(()))
    }

    fn note_sign_in(&self, message: &UnhandledMessage) {
        let mut sign_in = lock(&self.sign_in);
        match &**message.method() {
            "authenticate" | "auth/login" => {
                *sign_in = message.params().map(|params| (message.method().to_string(), params.clone()));
            }
            "logout" | "auth/logout" => *sign_in = None,
            _ => {}
        }
    }

    /// The process that runs, or a new one. After failures a new one is started only after a pause. All who wait for a
    /// start wait for the same one, and it ends with them: nobody starts a program that nobody wants any more.
    pub(crate) async fn running(&self) -> Result<Arc<RunningAgent>, Error> {
        let starting = {
            let mut state = lock(&self.state);
            if let Some(running) = state.running() {
                return Ok(running);
            }
            let under_way = state.starting.as_ref().and_then(WeakShared::upgrade);
            under_way.unwrap_or_else(|| {
                let starting = self.start(&state).shared();
                state.starting = starting.downgrade();
                starting
            })
        };
        starting.await
    }

    /// As [`running`](Self::running), for one of many that have waited for the same start: if that has just failed, another
    /// for each would make the last wait for ever.
    async fn running_for_waiting(&self) -> Result<Arc<RunningAgent>, Error> {
        let failed = lock(&self.state).failed.clone();
        match failed {
            Some((at, error)) if at.elapsed() < FRESH => Err(error),
            _ => self.running().await,
        }
    }

    /// The process, if it runs and is ready.
    pub(crate) fn there(&self) -> Option<Arc<RunningAgent>> {
        lock(&self.state).running()
    }

    fn start(&self, state: &State) -> Start {
        let may_begin = state.last_start.map(|last| last + pause(state.failures));
        let (launch, settings) = (Arc::clone(&self.launch), self.settings.clone());
        let (client, listeners) = (self.client.clone(), Arc::clone(&self.listeners));
        let (state, sign_in) = (Arc::clone(&self.state), Arc::clone(&self.sign_in));
        Box::pin(async move {
            if let Some(at) = may_begin {
                tokio::time::sleep_until(at).await;
            }
            lock(&state).last_start = Some(Instant::now());
            let started = RunningAgent::start(&*launch, &settings, &client, &listeners).await;
            if let (Ok(running), Some(_)) = (&started, may_begin) {
                sign_in_again(&settings, &sign_in, running).await;
            }
            let mut state = lock(&state);
            state.starting = None;
            match started {
                Ok(running) => {
                    let running = Arc::new(running);
                    state.running = Some(Arc::clone(&running));
                    state.failed = None;
                    Ok(running)
                }
                Err(error) => {
                    state.failures += 1;
                    state.failed = Some((Instant::now(), error.clone()));
                    tracing::warn!(agent = settings.name, error = error.message, "the agent did not start");
                    Err(error)
                }
            }
        })
    }
}

impl State {
    /// The process, unless it has ended.
    fn running(&mut self) -> Option<Arc<RunningAgent>> {
        let running = self.running.take_if(|running| running.is_over());
        if let Some(over) = running {
            self.failures = if over.since.elapsed() > STABLE { 0 } else { self.failures + 1 };
        }
        self.running.clone()
    }
}

async fn sign_in_again(settings: &AgentSettings, sign_in: &SignIn, running: &RunningAgent) {
    let Some((_, params)) = lock(sign_in).clone() else { return };
    let method = match running.init.version {
        Version::V1 => "authenticate",
        Version::V2 => "auth/login",
    };
    let answered =
        tokio::time::timeout(settings.start_timeout, running.cx.request_raw(method, Some(&params)));
    let what = "the agent did not take the sign-in again";
    match answered.await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(agent = settings.name, %error, what),
        Err(late) => tracing::warn!(agent = settings.name, %late, what),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock()
}

pub(crate) async fn refuse(message: UnhandledMessage, error: Error) -> Result<(), ConnectionClosed> {
    match message {
        UnhandledMessage::Request(request) => request.respond::<()>(Err(error)).await,
        UnhandledMessage::Notification(_) => Ok(()),
    }
}

/// How long after the last start the next may follow.
fn pause(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        n => LONGEST_PAUSE.min(Duration::from_millis(250) * 2_u32.saturating_pow(n - 1)),
    }
}

/// A connection uses an agent.
#[derive(Debug)]
pub struct ListenerGuard {
    agent: Arc<DownstreamAgent>,
    number: u64,
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        let mut listeners = lock(&self.agent.listeners);
        listeners.retain(|listener| listener.number != self.number);
    }
}

impl std::fmt::Debug for DownstreamAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DownstreamAgent").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_growing() {
        let pauses: Vec<_> = (0..5).map(|failures| pause(failures).as_millis()).collect();
        assert_eq!(pauses, [0, 250, 500, 1000, 2000]);
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
    }
}

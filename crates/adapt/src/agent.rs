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
use nudge_bridge::request_between;
use nudge_peer::Cx;
use nudge_wire::{
    ConnectionId, Error, RawJson, RequestOrigin, Version,
    caps::{AgentInit, ClientInit, ElicitationModes},
};
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::{
    AgentOffers, AgentProgram, AgentSettings, LaunchAgent, SteerTier,
    family::AgentFamily,
    open_requests::RequestPurpose,
    remembered::SIGN_IN_NOT_REPEATED,
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
    /// What is launched, if it is a program.
    program: Option<Arc<AgentProgram>>,
    client: ClientInit,
    state: Arc<Mutex<ProcessState>>,
    pub(crate) family: Arc<AgentFamily>,
    listeners: AgentListeners,
    /// Counts those that listen, for all that share them.
    numbers: Arc<AtomicU64>,
    /// Whether a session has it for itself.
    is_taken: AtomicBool,
}

/// Where the process stands.
#[derive(Default)]
pub(crate) struct ProcessState {
    running: Option<Arc<RunningAgent>>,
    /// The process that runs has not taken what was set before: nobody but who sets it anew may use it.
    unsettled: Option<Unsettled>,
    /// The start under way. It belongs to those who wait for it: with the last of them it is given up.
    starting: Option<WeakShared<Start>>,
    /// Starts and short lives since one went well.
    failures: u32,
    last_start: Option<Instant>,
    /// When the last start failed, and why.
    failed: Option<(Instant, Error)>,
    /// How often all processes that were started by then were to give way to others.
    replacements: u64,
}

/// Why a process cannot be used, and when that is looked at again: at once when something is set, by itself only what needs no user.
struct Unsettled {
    error: Error,
    retry_at: Option<Instant>,
}

type Start = Pin<Box<dyn Future<Output = Result<Arc<RunningAgent>, Error>> + Send>>;

impl DownstreamAgent {
    /// A program, for clients that said this in `initialize`. Nothing is started yet.
    pub fn new(spec: AgentProgram, client: ClientInit) -> Arc<Self> {
        Self::started_as(Arc::new(spec), client)
    }

    pub(crate) fn started_as(spec: Arc<AgentProgram>, client: ClientInit) -> Arc<Self> {
        let (settings, launch) = (spec.settings(), Arc::clone(&spec) as _);
        Arc::new(Self::of(launch, Some(spec), settings, client, Arc::default()))
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
        Arc::new(Self::of(launch, None, settings, client, Arc::default()))
    }

    fn of(
        launch: Arc<dyn LaunchAgent>,
        program: Option<Arc<AgentProgram>>,
        settings: AgentSettings,
        client: ClientInit,
        family: Arc<AgentFamily>,
    ) -> Self {
        let state = Arc::default();
        family.add(&state);
        let (listeners, numbers, is_taken) = Default::default();
        Self { launch, settings, program, client, state, family, listeners, numbers, is_taken }
    }

    /// The agent for one session: this one, or with `isolate` one of its own, but for the first.
    pub(crate) fn for_session(self: &Arc<Self>) -> Arc<Self> {
        if !self.settings.isolate || !self.is_taken.swap(true, Ordering::Relaxed) {
            return Arc::clone(self);
        }
        let is_taken = AtomicBool::new(true);
        let (listeners, numbers) = (Arc::clone(&self.listeners), Arc::clone(&self.numbers));
        let own = Self { listeners, numbers, is_taken, ..self.another(&self.family) };
        Arc::new(own)
    }

    /// The same agent with a process of its own, for this connection alone. Nothing is set in it yet.
    pub(crate) fn apart(&self, connection: ConnectionId) -> Arc<Self> {
        let family = Arc::default();
        let apart = Arc::new(self.another(&family));
        family.join(connection);
        family.take(connection);
        apart
    }

    fn another(&self, family: &Arc<AgentFamily>) -> Self {
        let (launch, program) = (Arc::clone(&self.launch), self.program.clone());
        Self::of(launch, program, self.settings.clone(), self.client.clone(), Arc::clone(family))
    }

    /// Whether what is set of one is set of the other.
    pub(crate) fn is_kin_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.family, &other.family)
    }

    /// Whether this is what it runs.
    pub(crate) fn is(&self, program: &str, args: &[String]) -> bool {
        self.program.as_ref().is_some_and(|own| own.program == program && own.args == args)
    }

    /// Whether it is started from this.
    pub(crate) fn is_started_from(&self, spec: &AgentProgram) -> bool {
        self.program.as_deref() == Some(spec)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// How long it may take to stop.
    pub(crate) fn patience(&self) -> Duration {
        self.settings.patience
    }

    /// Which ways of asking the user it is told of.
    pub(crate) fn elicitation_modes(&self) -> ElicitationModes {
        self.client.elicitation_modes()
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
    pub fn listen(self: &Arc<Self>, connection: ConnectionId, version: Version, cx: Cx) -> ListenerGuard {
        let modes = self.client.elicitation_modes();
        self.listen_as(AgentListener { number: 0, connection, version, modes, cx, servers: Vec::new() })
    }

    /// As [`listen`](Self::listen), for a client that is like this, whatever its number.
    pub(crate) fn listen_as(self: &Arc<Self>, listener: AgentListener) -> ListenerGuard {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        lock(&self.listeners).push(AgentListener { number, ..listener });
        ListenerGuard { agent: Arc::clone(self), number }
    }

    /// Sends a request that is about no session in use, written in the client's version, and gives the answer as it came.
    /// What the agent asks about it is asked of whoever it is made for.
    pub async fn request(
        &self,
        from: Version,
        method: &str,
        params: &RawJson,
        origin: Option<RequestOrigin>,
    ) -> Result<RawJson, Error> {
        let running = self.running().await?;
        let call = request_between(from, running.init.version, method, params);
        let (method, params) = call.as_ref().map_or((method, params), |call| (&call.method, &call.params));
        Ok(running.request_for(origin.map(RequestPurpose::Client), method, params).await?)
    }

    /// The process that runs, or a new one. After failures a new one is started only after a pause. All who wait for a
    /// start wait for the same one, and it ends with them: nobody starts a program that nobody wants any more. What was set of
    /// the process before it is set again first; one that does not take it is used by nobody.
    pub(crate) async fn running(&self) -> Result<Arc<RunningAgent>, Error> {
        let starting = {
            let mut state = lock(&self.state);
            let running = state.running();
            match (running.clone(), &state.unsettled) {
                (Some(running), None) => return Ok(running),
                (Some(_), Some(Unsettled { error, retry_at }))
                    if retry_at.is_none_or(|at| Instant::now() < at) =>
                {
                    return Err(error.clone());
                }
                _ => {}
            }
            let under_way = state.starting.as_ref().and_then(WeakShared::upgrade);
            under_way.unwrap_or_else(|| {
                let starting = self.start(&state, running).shared();
                state.starting = starting.downgrade();
                starting
            })
        };
        starting.await
    }

    /// As [`running`](Self::running), also if the process has not taken what was set before: for who sets it anew.
    pub(crate) async fn running_to_be_set(&self) -> Result<Arc<RunningAgent>, Error> {
        if let Some(running) = self.there_to_be_set() {
            return Ok(running);
        }
        let started = self.running().await;
        started.or_else(|error| self.there_to_be_set().ok_or(error))
    }

    /// As [`running`](Self::running), for one of many that have waited for the same start: if that has just failed, another
    /// for each would make the last wait for ever.
    pub(crate) async fn running_for_waiting(&self) -> Result<Arc<RunningAgent>, Error> {
        let failed = lock(&self.state).failed.clone();
        match failed {
            Some((at, error)) if at.elapsed() < FRESH => Err(error),
            _ => self.running().await,
        }
    }

    /// The process, if it runs and is ready.
    pub(crate) fn there(&self) -> Option<Arc<RunningAgent>> {
        let mut state = lock(&self.state);
        state.running().filter(|_| state.unsettled.is_none())
    }

    /// As [`there`](Self::there), also if it has not taken what was set before.
    pub(crate) fn there_to_be_set(&self) -> Option<Arc<RunningAgent>> {
        lock(&self.state).running()
    }

    /// Its state, by which its family knows it.
    pub(crate) fn state(&self) -> &Arc<Mutex<ProcessState>> {
        &self.state
    }

    /// Nobody is signed in in this process; if a user can sign in beside it, another process will see that. One with sessions
    /// stays.
    pub(crate) fn wants_sign_in(&self, running: &Arc<RunningAgent>) {
        if running.has_terminal_sign_in() && running.routes.is_idle() {
            let mut state = lock(&self.state);
            if state.running.as_ref().is_some_and(|current| Arc::ptr_eq(current, running)) {
                state.retire();
            }
        }
    }

    /// Somebody does not use it any more. A process that one client has to itself ends with the last use of it; what was set of it
    /// is said again to the next.
    pub(crate) fn rest(&self) {
        if !self.family.is_owned() || !lock(&self.listeners).is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        let is_starting = state.starting.as_ref().is_some_and(|starting| starting.upgrade().is_some());
        let unused = state.running.take_if(|running| !is_starting && running.routes.is_idle());
        drop(state);
        drop(unused);
    }

    /// A client that listens, as the agent knows it.
    pub(crate) fn listener_of(&self, connection: ConnectionId) -> Option<AgentListener> {
        lock(&self.listeners).iter().find(|listener| listener.connection == connection).cloned()
    }

    /// Starts a process, or sees whether `running` is ready by now.
    fn start(&self, state: &ProcessState, running: Option<Arc<RunningAgent>>) -> Start {
        let may_begin = state.last_start.map(|last| last + pause(state.failures));
        let (launch, settings) = (Arc::clone(&self.launch), self.settings.clone());
        let (client, listeners) = (self.client.clone(), Arc::clone(&self.listeners));
        let (state, family) = (Arc::clone(&self.state), Arc::clone(&self.family));
        let mut present = running;
        Box::pin(async move {
            loop {
                let replacements = lock(&state).replacements;
                let running = if let Some(running) = present.take() {
                    running
                } else {
                    if let Some(at) = may_begin {
                        tokio::time::sleep_until(at).await;
                    }
                    lock(&state).last_start = Some(Instant::now());
                    let started = RunningAgent::start(&*launch, &settings, &client, &listeners).await;
                    Arc::new(started.inspect_err(|error| lock(&state).start_failed(&settings.name, error))?)
                };
                let (settled, times) = settle(&family, &running, &settings).await;
                let mut state = lock(&state);
                if running.retired.is_cancelled() || state.replacements != replacements {
                    // It gives way to the next already.
                    running.retired.cancel();
                    continue;
                }
                if settled.is_err() && running.is_over() {
                    // That is no refusal.
                    let gone = settled.map(|()| running);
                    return gone.inspect_err(|error| state.start_failed(&settings.name, error));
                }
                if settled.is_err() && family.times() != times {
                    present = Some(running);
                    continue;
                }
                return state.started(running, settled);
            }
        })
    }
}

/// Says to a process what was set of those before it. What is set meanwhile counts instead. Also gives how often something was set by
/// then.
async fn settle(
    family: &AgentFamily,
    running: &RunningAgent,
    settings: &AgentSettings,
) -> (Result<(), Error>, u64) {
    let mut changes = family.changes();
    loop {
        changes.mark_unchanged();
        let (remembered, times) = family.remembered();
        let repeated = tokio::select! {
            biased;
            repeated = remembered.repeat(running, settings.start_timeout) => repeated,
            Ok(()) = changes.changed() => continue,
        };
        if repeated.is_ok() && family.times() != times {
            continue;
        }
        if let Err(error) = &repeated {
            tracing::warn!(agent = settings.name, error = error.message, "the agent cannot be used");
        }
        return (repeated, times);
    }
}

impl ProcessState {
    /// The process, unless it has ended.
    fn running(&mut self) -> Option<Arc<RunningAgent>> {
        let running = self.running.take_if(|running| running.is_over());
        if let Some(over) = running {
            self.unsettled = None;
            self.failures = if over.since.elapsed() > STABLE { 0 } else { self.failures + 1 };
        }
        self.running.clone()
    }

    /// A process was started, or looked at again: whether it may be used.
    fn started(
        &mut self,
        running: Arc<RunningAgent>,
        settled: Result<(), Error>,
    ) -> Result<Arc<RunningAgent>, Error> {
        (self.starting, self.failed) = (None, None);
        self.running = Some(Arc::clone(&running));
        self.unsettled = settled.err().map(|error| {
            // Who signs in may be asked for something each time.
            let is_for_user = error.get_reason().as_deref() == Some(SIGN_IN_NOT_REPEATED);
            let retry_at = (!is_for_user).then(|| Instant::now() + FRESH);
            Unsettled { error, retry_at }
        });
        match &self.unsettled {
            Some(Unsettled { error, .. }) => Err(error.clone()),
            None => Ok(running),
        }
    }

    fn start_failed(&mut self, name: &str, error: &Error) {
        self.starting = None;
        self.failures += 1;
        self.failed = Some((Instant::now(), error.clone()));
        tracing::warn!(agent = name, error = error.message, "the agent did not start");
    }

    /// This process has agreed to something: if it is the one that runs it may be ready now. One that took its place meanwhile was
    /// not told of it.
    pub(crate) fn agreed(&mut self, by: &Arc<RunningAgent>) {
        if self.running.as_ref().is_some_and(|running| !Arc::ptr_eq(running, by)) {
            self.retire();
        } else if let Some(unsettled) = &mut self.unsettled {
            unsettled.retry_at = Some(Instant::now());
        }
    }

    /// The process gives way to another: whoever uses it now goes on with it and leaves it when it can.
    pub(crate) fn retire(&mut self) {
        self.unsettled = None;
        if let Some(running) = self.running.take() {
            running.retired.cancel();
        }
    }

    /// The process gives way to another, also if it is just being started: it has not seen what the user did.
    pub(crate) fn replace(&mut self) {
        self.replacements += 1;
        self.retire();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock()
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
        lock(&self.agent.listeners).retain(|listener| listener.number != self.number);
        self.agent.rest();
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

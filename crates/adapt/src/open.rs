//! How a session of an agent is opened: made new, taken up by the agent itself, or begun anew with a recap.

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures_util::FutureExt;
use nudge_backend::{SessionRecap, SessionSetup};
use nudge_bridge::{IndexedUpdate, UpdateKind, request_between};
use nudge_peer::CallError;
use nudge_wire::{Error, ErrorCode, RawJson, Version};
use tokio::time::Instant;

use crate::{
    AdaptedSession, ClientAgent, DownstreamAgent,
    chosen_options::{ChosenOptions, RepeatedOptions},
    client_agent::SessionHome,
    late_replay::LateReplay,
    open_requests::RequestPurpose,
    route::{SessionInbox, SessionMessage},
    routed::RoutedMessage,
    running::{RunningAgent, lost},
};

/// The most that is taken over of what an agent replays of a session that it had without us, in bytes.
const MOST_REPLAYED: usize = 128 * 1024 * 1024;
/// What an update costs beside its text.
const OVERHEAD: usize = 256;

/// A session that was opened.
pub struct AgentSessionOpened {
    /// What the agent said of the session before it answered.
    pub replayed: Vec<IndexedUpdate>,
    /// The session.
    pub session: AdaptedSession,
}

impl fmt::Debug for AgentSessionOpened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSessionOpened").field("session", &self.session).finish_non_exhaustive()
    }
}

/// What a session is opened with: the params of `session/new`.
#[derive(Clone)]
pub(crate) struct OpenBase {
    params: RawJson,
    /// In which they are written.
    version: Version,
}

impl OpenBase {
    fn of(params: &RawJson, version: Version) -> Self {
        let mut members: BTreeMap<String, RawJson> = params.to().unwrap_or_default();
        for name in ["sessionId", "replayFrom", "_meta"] {
            members.remove(name);
        }
        let members: Vec<(&str, &RawJson)> = members.iter().map(|(name, value)| (&**name, value)).collect();
        Self { params: RawJson::object(&members), version }
    }

    /// As an agent of this version is told of a session of this id, or of a new one.
    fn params(&self, session: Option<&str>, version: Version) -> RawJson {
        let told = request_between(self.version, version, "session/new", &self.params);
        let params = told.map_or_else(|| self.params.clone(), |call| call.params);
        match session.map(|id| RawJson::of(id).expect("a string is JSON")) {
            Some(id) => params.with(&["sessionId"], &id).expect("it is an object"),
            None => params,
        }
    }
}

/// A process and what it says of one session.
pub(crate) struct SessionLink {
    pub(crate) running: Arc<RunningAgent>,
    pub(crate) inbox: SessionInbox,
}

/// A session as an agent has opened it.
pub(crate) struct OpenedLink {
    pub(crate) link: SessionLink,
    /// The agent's id of it.
    pub(crate) id: Arc<str>,
    /// The agent's answer, in the agent's version.
    pub(crate) result: RawJson,
}

/// What an agent knows of a session that was taken up.
pub(crate) struct TakenUp {
    pub(crate) link: SessionLink,
    pub(crate) id: Arc<str>,
    pub(crate) result: RawJson,
    /// What was said so far, if the agent has to be told.
    pub(crate) recap: Option<String>,
    /// What it said before it answered, history aside.
    pub(crate) news: Vec<IndexedUpdate>,
    /// Whether it may still replay what was said.
    pub(crate) replay: Option<LateReplay>,
    /// What came of choosing again what was chosen.
    pub(crate) options: RepeatedOptions,
}

/// A session as an agent has opened it, and for whom.
pub(crate) struct OpenedFor {
    pub(crate) agent: Arc<DownstreamAgent>,
    pub(crate) home: SessionHome,
    pub(crate) opened: OpenedLink,
}

impl TakenUp {
    /// Has the agent choose again what was chosen in the session, and takes what it says meanwhile.
    pub(crate) async fn choose_again(&mut self, chosen: ChosenOptions) {
        let Self { link: SessionLink { running, inbox }, id, result, news, replay, .. } = self;
        let is_known = replay.is_some();
        let mut heard = Replay { updates: std::mem::take(news), is_known, ..Replay::default() };
        let mut take = |update: Option<IndexedUpdate>| {
            let is_history = heard.take(update);
            if let Some(replay) = replay.as_mut().filter(|_| is_history) {
                replay.goes_on(Instant::now());
            }
        };
        let mut repeating = std::pin::pin!(chosen.repeat(running, id, result));
        let options = loop {
            tokio::select! {
                biased;
                options = &mut repeating => break options,
                Some(incoming) = inbox.recv() => take(update_in(incoming).await),
            }
        };
        while let Ok(incoming) = inbox.try_recv() {
            take(update_in(incoming).await);
        }
        // What it said before it agreed is not how it stands.
        heard.updates.retain(|update| !options.outdates(&update.kind));
        (*news, self.options) = (heard.updates, options);
    }
}

impl AdaptedSession {
    /// Opens a session that only the agent knows, by `session/new`, `session/fork`, `session/load` or `session/resume`. The
    /// params are in the client's version.
    pub async fn begin(
        client: &Arc<ClientAgent>,
        method: &str,
        setup: &SessionSetup,
    ) -> Result<AgentSessionOpened, Error> {
        let (params, recap) = (&setup.params, Arc::clone(&setup.recap));
        let purpose = setup.origin.clone().map(RequestPurpose::Client);
        let (home, agent) = (client.home(), client.current().for_session());
        let running = agent.running().await?;
        running.routes.declare_servers(params, setup.client.connection);
        let call = request_between(setup.version, running.init.version, method, params);
        let (method, params) = call.as_ref().map_or((method, params), |call| (&call.method, &call.params));
        let base = OpenBase::of(params, running.init.version);
        let named = matches!(method, "session/load" | "session/resume")
            .then(|| string(params, "sessionId"))
            .flatten();
        let opening = running.routes.opening();
        let asked = if let Some(id) = named {
            let loaded = load(&running, purpose, method, params, &id, Replay::default()).await;
            loaded.map_err(|error| refused(&agent, &running, error))?
        } else {
            let result = match request(&running, purpose, method, params).await {
                Err(error) => {
                    drop(opening);
                    return Err(refused(&agent, &running, error));
                }
                Ok(result) => result,
            };
            let id = session_of(&result, method)?;
            let inbox = running.routes.claim(&id)?;
            Asked { id: id.into(), inbox, result, replay: Replay::default(), is_replayed: false }
        };
        drop(opening);
        let Asked { id, inbox, result, replay, .. } = asked;
        let opened = OpenedLink { link: SessionLink { running, inbox }, id, result };
        let mut session = AdaptedSession::new(OpenedFor { agent, home, opened }, base, recap);
        // Dropping the session lets go of it.
        let replayed = replay.all()?;
        for update in &replayed {
            session.standing.hear(update);
        }
        Ok(AgentSessionOpened { replayed, session })
    }

    /// Takes up a session that was talked in before: the agent knows it as `id`, if it does. The params are those of the
    /// client's request, in the client's version.
    pub(crate) async fn take_up(
        client: &Arc<ClientAgent>,
        setup: &SessionSetup,
    ) -> Result<AgentSessionOpened, Error> {
        let (params, recap) = (&setup.params, Arc::clone(&setup.recap));
        let (home, agent) = (client.home(), client.current().for_session());
        let running = agent.running().await?;
        running.routes.declare_servers(params, setup.client.connection);
        let base = OpenBase::of(params, setup.version);
        let (id, purpose) =
            (setup.agent_session_id.as_deref(), setup.origin.clone().map(RequestPurpose::Client));
        let taken_up = take_up(&agent, purpose, id, &base, &recap).await;
        let taken_up = taken_up.map_err(|error| refused(&agent, &running, error))?;
        let TakenUp { link, id, result, recap: text, news, replay, .. } = taken_up;
        let opened = OpenedLink { link, id, result };
        let mut session = AdaptedSession::new(OpenedFor { agent, home, opened }, base, recap);
        session.set_past(text, replay);
        for update in &news {
            session.standing.hear(update);
        }
        Ok(AgentSessionOpened { replayed: news, session })
    }
}

/// Makes a running agent know a session: by its own memory if it has one, else by a recap.
pub(crate) async fn take_up(
    agent: &Arc<DownstreamAgent>,
    purpose: Option<RequestPurpose>,
    id: Option<&str>,
    base: &OpenBase,
    recap: &SessionRecap,
) -> Result<TakenUp, Error> {
    let running = agent.running().await?;
    let ways = [("session/resume", running.offers.resume), ("session/load", running.offers.load)];
    let ways = ways.into_iter().filter(|(method, has)| *has && has_method(method, running.init.version));
    for (method, _) in ways {
        let Some(id) = id else { break };
        let replay = Replay { is_known: true, ..Replay::default() };
        match load(
            &running,
            purpose.clone(),
            method,
            &base.params(Some(id), running.init.version),
            id,
            replay,
        )
        .await
        {
            Ok(Asked { id, inbox, result, replay: heard, is_replayed }) => {
                let may_replay = method == "session/load" && !is_replayed;
                let replay = may_replay.then(|| LateReplay::new(heard.has_history, Instant::now()));
                let link = SessionLink { running, inbox };
                let options = RepeatedOptions::default();
                return Ok(TakenUp { link, id, result, recap: None, news: heard.updates, replay, options });
            }
            Err(error) if running.is_over() => return Err(error),
            Err(error) => {
                tracing::warn!(
                    agent = agent.name(),
                    method,
                    error = error.message,
                    "the agent does not remember the session"
                );
            }
        }
    }
    let opening = running.routes.opening();
    let result = request(&running, purpose, "session/new", &base.params(None, running.init.version)).await?;
    let id = session_of(&result, "session/new")?;
    let inbox = running.routes.claim(&id)?;
    drop(opening);
    let recap = recap().await;
    let link = SessionLink { running, inbox };
    let options = RepeatedOptions::default();
    Ok(TakenUp { link, id: id.into(), result, recap, news: Vec::new(), replay: None, options })
}

/// Version 2 has no `session/load`: a resume without a replay is what is wanted.
fn has_method(method: &str, version: Version) -> bool {
    version == Version::V1 || method != "session/load"
}

struct Asked {
    id: Arc<str>,
    inbox: SessionInbox,
    result: RawJson,
    /// What came before the answer, and with it.
    replay: Replay,
    /// Whether history is sure to have come before it.
    is_replayed: bool,
}

/// What an agent says of a session while it opens it.
#[derive(Default)]
struct Replay {
    updates: Vec<IndexedUpdate>,
    bytes: usize,
    /// Whether there was history in it.
    has_history: bool,
    /// Whether the history is known here: then it is not kept.
    is_known: bool,
}

impl Replay {
    /// Takes what the agent says; whether it is history.
    fn take(&mut self, update: Option<IndexedUpdate>) -> bool {
        let Some(update) = update else { return false };
        let is_history = !update.kind.is_state();
        self.has_history |= is_history;
        if is_history && self.is_known {
            return true;
        }
        self.bytes += update.raw.as_str().len() + OVERHEAD;
        if self.bytes <= MOST_REPLAYED {
            self.updates.push(update);
        } else {
            self.updates = Vec::new();
        }
        is_history
    }

    /// All of it, unless that is too much.
    fn all(self) -> Result<Vec<IndexedUpdate>, Error> {
        if self.bytes > MOST_REPLAYED {
            let what = format!(
                "The session is too large to be taken over: the agent replays more than {MOST_REPLAYED} bytes"
            );
            return Err(Error::internal(what).reason("replay_too_large"));
        }
        Ok(self.updates)
    }
}

/// Has a session loaded or resumed, and takes what the agent says meanwhile.
async fn load(
    running: &Arc<RunningAgent>,
    purpose: Option<RequestPurpose>,
    method: &str,
    params: &RawJson,
    id: &str,
    mut replay: Replay,
) -> Result<Asked, Error> {
    let mut inbox = running.routes.claim(id)?;
    let mut is_replayed = false;
    let mut answer = std::pin::pin!(running.request_in_order_for(purpose, method, params));
    let result = loop {
        tokio::select! {
            biased;
            answer = &mut answer => break answer,
            Some(incoming) = inbox.recv() => {
                let is_history = replay.take(update_in(incoming).await);
                // If the answer is here by now, it may have been the first of the two.
                match answer.as_mut().now_or_never() {
                    Some(answer) => break answer,
                    None => is_replayed |= is_history,
                }
            }
        }
    };
    while let Ok(incoming) = inbox.try_recv() {
        replay.take(update_in(incoming).await);
    }
    match result {
        Ok(result) => Ok(Asked { id: id.into(), inbox, result, replay, is_replayed }),
        Err(error) => {
            running.routes.release(id);
            Err(failed(error))
        }
    }
}

/// An update; but how an agent stood is not how it stands: who owns the session tells that. A request is refused: nobody is
/// there to be asked.
async fn update_in(incoming: SessionMessage) -> Option<IndexedUpdate> {
    match incoming.message {
        RoutedMessage::Update(update) => Some(update).filter(|update| update.kind != UpdateKind::StateUpdate),
        // A notification needs no answer.
        RoutedMessage::Other(other) => {
            let _ = other.refuse().await;
            None
        }
    }
}

async fn request(
    running: &RunningAgent,
    purpose: Option<RequestPurpose>,
    method: &str,
    params: &RawJson,
) -> Result<RawJson, Error> {
    running.request_in_order_for(purpose, method, params).await.map_err(failed)
}

/// Why no session could be opened. Where nobody is signed in, the next process sees whether somebody is.
fn refused(agent: &DownstreamAgent, running: &Arc<RunningAgent>, error: Error) -> Error {
    if error.code == ErrorCode::AUTH_REQUIRED {
        agent.wants_sign_in(running);
    }
    error
}

/// An agent's error as it came, or why there is no answer.
pub(crate) fn failed(error: CallError) -> Error {
    match error {
        CallError::Closed(closed) => lost(&closed),
        other => other.into(),
    }
}

fn session_of(result: &RawJson, method: &str) -> Result<String, Error> {
    let id = string(result, "sessionId");
    id.ok_or_else(|| Error::internal(format!("The agent's answer to {method} names no session")))
}

fn string(json: &RawJson, name: &str) -> Option<String> {
    json.get(&[name])?.to().ok()
}

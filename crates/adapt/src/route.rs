//! Where the messages of an agent go: to the session they are about, or to the connections that use the agent.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    pin::Pin,
    sync::Arc,
};

use nudge_backend::{CREATE_ELICITATION, REQUEST_PERMISSION};
use nudge_bridge::{MethodCall, request_between};
use nudge_peer::{ConnectionClosed, Cx, InOrder, UnhandledMessage};
use nudge_wire::{ConnectionId, Error, RawJson, Version, caps::ElicitationModes};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::{
    agent_messages::refuse,
    auth_status::{AUTH_STATUS_UPDATE, AuthStatus},
    open_requests::OpenRequests,
    routed::RoutedMessage,
    unnamed::{OpenPages, PageOwner, UnnamedRoute},
};

/// Bytes of messages that may wait for one session; past that the agent is not read.
const ROOM: usize = 1024 * 1024;
/// What a message costs beside its text.
const OVERHEAD: usize = 256;
/// Bytes of messages kept for sessions that are just being opened. The agent has to be read until it has answered, so a
/// session of which it says more before that cannot be opened.
const STRAYS: usize = 16 * 1024 * 1024;
/// Sessions remembered of which the agent has said too much.
const LOST: usize = 64;
/// Sessions remembered that went over to another process.
const LEFT: usize = 256;

/// A message on its way to a session.
pub(crate) struct SessionMessage {
    pub(crate) message: RoutedMessage,
    _room: Option<OwnedSemaphorePermit>,
}

/// What a session receives.
pub(crate) type SessionInbox = mpsc::UnboundedReceiver<SessionMessage>;

#[derive(Clone)]
struct Sink {
    queue: mpsc::UnboundedSender<SessionMessage>,
    room: Arc<Semaphore>,
}

impl Sink {
    /// Gives a message to the session; gives it back if nobody takes it any more.
    fn give(&self, message: RoutedMessage, room: Option<OwnedSemaphorePermit>) -> Option<RoutedMessage> {
        let refused = self.queue.send(SessionMessage { message, _room: room }).err()?;
        Some(refused.0.message)
    }

    /// As [`give`](Self::give), within the room there is; gives back what takes time.
    fn take(self, message: RoutedMessage) -> Option<DeferredRoute> {
        let size = u32::try_from((message.size() + OVERHEAD).min(ROOM)).unwrap_or(u32::MAX);
        match Arc::clone(&self.room).try_acquire_many_owned(size) {
            Ok(room) => {
                self.give(message, Some(room)).map(|refused| Box::pin(refused.refuse()) as DeferredRoute)
            }
            Err(_) => Some(Box::pin(async move {
                // It is never closed.
                let room = Arc::clone(&self.room).acquire_many_owned(size).await.ok();
                match self.give(message, room) {
                    Some(refused) => refused.refuse().await,
                    None => Ok(()),
                }
            })),
        }
    }
}

/// The rest of what is done with a message, which takes time.
pub(crate) type DeferredRoute = Pin<Box<dyn Future<Output = Result<(), ConnectionClosed>> + Send>>;

/// A connection that uses the agent.
#[derive(Debug, Clone)]
pub(crate) struct AgentListener {
    pub(crate) number: u64,
    pub(crate) connection: ConnectionId,
    pub(crate) version: Version,
    /// Whether it shows forms and pages.
    pub(crate) modes: ElicitationModes,
    pub(crate) cx: Cx,
    /// By which names the agent knows MCP servers that the client has, and connections to them.
    pub(crate) servers: Vec<String>,
}

/// The connections that use an agent, newest last. They outlive its process.
pub(crate) type AgentListeners = Arc<Mutex<Vec<AgentListener>>>;

/// The sessions of one process.
pub(crate) struct SessionRoutes {
    version: std::sync::OnceLock<Version>,
    listeners: AgentListeners,
    /// What the agent works on, and for whom.
    pub(crate) requests: Arc<OpenRequests>,
    /// Whether the user is signed in, as the agent tells it.
    pub(crate) auth_status: AuthStatus,
    pages: Mutex<OpenPages>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    sinks: HashMap<String, Sink>,
    /// What came for sessions nobody has claimed yet, while some are being opened.
    strays: HashMap<String, Vec<RoutedMessage>>,
    /// How long those are.
    bytes: usize,
    /// Sessions of which too much came to be kept.
    lost: HashSet<String>,
    /// Sessions that went over to another process: what is still said of them is nobody's.
    left: VecDeque<String>,
    opening: usize,
    is_over: bool,
}

impl SessionRoutes {
    pub(crate) fn new(listeners: AgentListeners) -> Arc<Self> {
        Arc::new(Self {
            version: std::sync::OnceLock::new(),
            listeners,
            requests: Arc::default(),
            auth_status: AuthStatus::default(),
            pages: Mutex::default(),
            inner: Mutex::default(),
        })
    }

    /// The version the agent has agreed to.
    pub(crate) fn set_version(&self, version: Version) {
        let _ = self.version.set(version);
    }

    /// Takes one message that came over the agent's connection; gives back what takes time. Most does not, and costs no more than
    /// its way here.
    pub(crate) fn take(
        self: &Arc<Self>,
        message: UnhandledMessage,
        agent: &InOrder,
    ) -> Option<DeferredRoute> {
        match self.find(RoutedMessage::new(message, self.version.get().copied())) {
            Found::Kept => None,
            Found::Sink(sink, message) => sink.take(message),
            Found::Left(message) => Some(Box::pin(message.refuse())),
            Found::Unnamed(message) => self.take_unnamed(message.into_unhandled()?, no_session, agent),
            Found::Nobody(message) => self.take_unnamed(message.into_unhandled()?, unknown_session, agent),
        }
    }

    /// Who takes a message. It is kept if nobody does yet, but may soon.
    fn find(&self, message: RoutedMessage) -> Found {
        let Some(session) = message.session() else { return Found::Unnamed(message) };
        self.note_page(&session, &message);
        let mut inner = self.inner();
        let sink = inner.sinks.get(&*session).cloned();
        if sink.is_none() && inner.left.iter().any(|left| *left == *session) {
            return Found::Left(message);
        }
        let unclaimed = (sink.is_none() && inner.opening > 0).then(|| session.into_owned());
        match (sink, unclaimed) {
            (Some(sink), _) => Found::Sink(sink, message),
            (None, Some(session)) => {
                inner.keep(&session, message);
                Found::Kept
            }
            (None, None) => Found::Nobody(message),
        }
    }

    /// Passes on what is about no session that is known here, but for what only makes sense in one.
    fn take_unnamed(
        self: &Arc<Self>,
        message: UnhandledMessage,
        why: fn(&str) -> Option<Error>,
        agent: &InOrder,
    ) -> Option<DeferredRoute> {
        if let (Some(error), UnhandledMessage::Request(_)) = (why(message.method()), &message) {
            return Some(Box::pin(refuse(message, error)));
        }
        let routes = Arc::clone(self);
        match self.unnamed_route(&message, agent) {
            UnnamedRoute::Session(session) => match self.sink_of(&session) {
                Some(sink) => {
                    let message = RoutedMessage::Other(message);
                    self.note_page(&session, &message);
                    sink.take(message)
                }
                None => Some(Box::pin(refuse(message, Error::not_found("unknown_session")))),
            },
            UnnamedRoute::Connection(listener, params) => {
                let message = self.connect_server(message, &listener)?;
                let message = self.ask_listener(message, params.as_ref(), &listener)?;
                Some(Box::pin(async move { routes.pass(message, params, &listener).await.or(Ok(())) }))
            }
            UnnamedRoute::Connections(listeners) => {
                let status = self.auth_status.hear(&message);
                Some(Box::pin(async move { routes.tell(message, listeners, status).await }))
            }
            UnnamedRoute::Refused(error) => Some(Box::pin(refuse(message, error))),
        }
    }

    /// Passes a notification on, and what else is to be told because of it.
    async fn tell(
        &self,
        message: UnhandledMessage,
        listeners: Vec<AgentListener>,
        status: Option<RawJson>,
    ) -> Result<(), ConnectionClosed> {
        let UnhandledMessage::Notification(note) = message else { return message.refuse().await };
        for listener in listeners {
            // One that is gone needs no news.
            let _ = self.pass(UnhandledMessage::Notification(note.clone()), None, &listener).await;
            if let Some(status) = &status {
                let _ = listener.cx.notify_raw(AUTH_STATUS_UPDATE, Some(status)).await;
            }
        }
        Ok(())
    }

    /// Passes a message on, with these params if not with its own.
    async fn pass(
        &self,
        message: UnhandledMessage,
        params: Option<RawJson>,
        listener: &AgentListener,
    ) -> Result<(), ConnectionClosed> {
        let method = message.method().clone();
        let said = params.as_ref().or(message.params());
        let translated = said.and_then(|said| self.told(listener, &method, said));
        match (translated, params) {
            (Some(call), _) => message.forward_as(&listener.cx, &call.method, Some(&call.params)).await,
            (None, Some(params)) => message.forward_as(&listener.cx, &method, Some(&params)).await,
            (None, None) => message.forward_to(&listener.cx).await,
        }
    }

    /// What the agent says, as this connection is told of it; nothing if that is the same.
    pub(crate) fn told(&self, listener: &AgentListener, method: &str, said: &RawJson) -> Option<MethodCall> {
        let from = self.version.get().copied().unwrap_or(listener.version);
        request_between(from, listener.version, method, said)
    }

    /// The connections that use the agent, newest last, each once.
    pub(crate) fn listeners(&self) -> Vec<AgentListener> {
        let mut seen = HashSet::new();
        let listeners = self.listeners.lock();
        let is_there = |listener: &&AgentListener| !listener.cx.is_over() && seen.insert(listener.connection);
        listeners.iter().filter(is_there).cloned().collect()
    }

    /// Where they are kept.
    pub(crate) fn all_listeners(&self) -> AgentListeners {
        Arc::clone(&self.listeners)
    }

    /// The listener that is this connection.
    pub(crate) fn listener_of(&self, connection: ConnectionId) -> Option<AgentListener> {
        self.listeners().into_iter().find(|listener| listener.connection == connection)
    }

    /// The pages that are open.
    pub(crate) fn pages(&self) -> MutexGuard<'_, OpenPages> {
        self.pages.lock()
    }

    /// Notes whose page is asked for, if one is.
    fn note_page(&self, session: &str, message: &RoutedMessage) {
        if let RoutedMessage::Other(UnhandledMessage::Request(request)) = message
            && &**request.method() == CREATE_ELICITATION
            && let Some(params) = request.params()
        {
            self.pages().note(params, PageOwner::Session(session.to_owned()));
        }
    }

    fn sink_of(&self, session: &str) -> Option<Sink> {
        self.inner().sinks.get(session).cloned()
    }

    /// Says that a session is being opened whose id is not known yet: what comes for unknown ones is kept meanwhile.
    pub(crate) fn opening(self: &Arc<Self>) -> SessionOpening {
        self.inner().opening += 1;
        SessionOpening(Arc::clone(self))
    }

    /// What comes for this session, from now on and while it was being opened; an error if that was too much to be kept.
    pub(crate) fn claim(&self, session: &str) -> Result<SessionInbox, Error> {
        let (queue, inbox) = mpsc::unbounded_channel();
        let mut inner = self.inner();
        if inner.lost.remove(session) {
            let what = format!("The agent said more than {STRAYS} bytes of the session before it was opened");
            return Err(Error::internal(what));
        }
        if inner.is_over {
            return Ok(inbox);
        }
        inner.left.retain(|left| left != session);
        for message in inner.take_strays(session) {
            let _ = queue.send(SessionMessage { message, _room: None });
        }
        inner.sinks.insert(session.to_owned(), Sink { queue, room: Arc::new(Semaphore::new(ROOM)) });
        Ok(inbox)
    }

    /// Whether there is no session, and none is being opened.
    pub(crate) fn is_idle(&self) -> bool {
        let inner = self.inner();
        inner.sinks.is_empty() && inner.opening == 0
    }

    /// Nobody takes what comes for this session any more.
    pub(crate) fn release(&self, session: &str) {
        self.inner().sinks.remove(session);
    }

    /// The session goes over to another process: nobody is told what this one still says of it.
    pub(crate) fn leave(&self, session: &str) {
        let mut inner = self.inner();
        inner.sinks.remove(session);
        if inner.left.len() == LEFT {
            inner.left.pop_front();
        }
        inner.left.push_back(session.to_owned());
    }

    /// The process has ended and all it said is here: each session learns of it behind what it has not taken yet.
    pub(crate) fn end(&self) {
        let mut inner = self.inner();
        inner.is_over = true;
        inner.sinks.clear();
        inner.forget_strays();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing panics while it holds this.
        self.inner.lock()
    }
}

impl Inner {
    /// Keeps a message for a session that is being opened. If it is too much, all that was kept for that is dropped.
    fn keep(&mut self, session: &str, message: RoutedMessage) {
        let size = message.size() + OVERHEAD;
        if self.lost.contains(session) {
            return;
        }
        if self.bytes + size > STRAYS {
            self.take_strays(session);
            if self.lost.len() < LOST {
                self.lost.insert(session.to_owned());
            }
            return;
        }
        self.bytes += size;
        self.strays.entry(session.to_owned()).or_default().push(message);
    }

    fn take_strays(&mut self, session: &str) -> Vec<RoutedMessage> {
        let strays = self.strays.remove(session).unwrap_or_default();
        self.bytes -= strays.iter().map(|message| message.size() + OVERHEAD).sum::<usize>();
        strays
    }

    fn forget_strays(&mut self) {
        // Dropping a request answers it.
        self.strays.clear();
        self.lost.clear();
        self.bytes = 0;
    }
}

/// What a client is asked for on behalf of a session. The protocol's own, so an extension is none of it.
fn is_of_session(method: &str) -> bool {
    method == REQUEST_PERMISSION || method.starts_with("fs/") || method.starts_with("terminal/")
}

fn is_form(method: &str) -> bool {
    method.starts_with("elicitation/")
}

/// The error for a request that has to name a session and does not.
fn no_session(method: &str) -> Option<Error> {
    let expected = "expected an object with `sessionId`";
    is_of_session(method).then(|| Error::invalid_params(format!("Invalid params for {method}: {expected}")))
}

/// The error for a request about a session that is not known: no client could tell what it is about.
fn unknown_session(method: &str) -> Option<Error> {
    (is_of_session(method) || is_form(method)).then(|| Error::not_found("unknown_session"))
}

enum Found {
    Sink(Sink, RoutedMessage),
    /// The session runs in another process by now.
    Left(RoutedMessage),
    Kept,
    /// It names no session.
    Unnamed(RoutedMessage),
    /// It names one that is not known.
    Nobody(RoutedMessage),
}

/// A session is being opened.
pub(crate) struct SessionOpening(Arc<SessionRoutes>);

impl Drop for SessionOpening {
    fn drop(&mut self) {
        let mut inner = self.0.inner();
        inner.opening -= 1;
        if inner.opening == 0 {
            inner.forget_strays();
        }
    }
}

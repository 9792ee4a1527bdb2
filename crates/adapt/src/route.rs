//! Where the messages of an agent go: to the session they are about, or to the connections that use the agent.

use std::{
    collections::{HashMap, HashSet},
    pin::Pin,
    sync::Arc,
};

use nudge_backend::REQUEST_PERMISSION;
use nudge_bridge::request_between;
use nudge_peer::{ConnectionClosed, Cx, UnhandledMessage};
use nudge_wire::{Error, RawJson, Version, caps::ElicitationModes};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::routed::RoutedMessage;

/// Bytes of messages that may wait for one session; past that the agent is not read.
const ROOM: usize = 1024 * 1024;
/// What a message costs beside its text.
const OVERHEAD: usize = 256;
/// Bytes of messages kept for sessions that are just being opened. The agent has to be read until it has answered, so a
/// session of which it says more before that cannot be opened.
const STRAYS: usize = 16 * 1024 * 1024;
/// Sessions remembered of which the agent has said too much.
const LOST: usize = 64;

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
}

/// The rest of what is done with a message, which takes time.
pub(crate) type DeferredRoute = Pin<Box<dyn Future<Output = Result<(), ConnectionClosed>> + Send>>;

/// A connection that uses the agent.
#[derive(Debug, Clone)]
pub(crate) struct AgentListener {
    pub(crate) number: u64,
    pub(crate) version: Version,
    /// Whether it shows forms and pages.
    pub(crate) modes: ElicitationModes,
    pub(crate) cx: Cx,
}

/// The connections that use an agent, newest last. They outlive its process.
pub(crate) type AgentListeners = Arc<Mutex<Vec<AgentListener>>>;

/// The sessions of one process.
pub(crate) struct SessionRoutes {
    version: std::sync::OnceLock<Version>,
    listeners: AgentListeners,
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
    opening: usize,
    is_over: bool,
}

impl SessionRoutes {
    pub(crate) fn new(listeners: AgentListeners) -> Arc<Self> {
        Arc::new(Self { version: std::sync::OnceLock::new(), listeners, inner: Mutex::default() })
    }

    /// The version the agent has agreed to.
    pub(crate) fn set_version(&self, version: Version) {
        let _ = self.version.set(version);
    }

    /// Takes one message of the agent; gives back what takes time. Most does not, and costs no more than its way here.
    pub(crate) fn take(self: &Arc<Self>, message: UnhandledMessage) -> Option<DeferredRoute> {
        let message = RoutedMessage::new(message, self.version.get().copied());
        let (sink, message) = match self.find(message) {
            Found::Kept => return None,
            Found::Unnamed(message) => return Some(self.tell_later(message, no_session)),
            Found::Nobody(message) => return Some(self.tell_later(message, unknown_session)),
            Found::Sink(sink, message) => (sink, message),
        };
        let size = u32::try_from((message.size() + OVERHEAD).min(ROOM)).unwrap_or(u32::MAX);
        match Arc::clone(&sink.room).try_acquire_many_owned(size) {
            Ok(room) => {
                sink.give(message, Some(room)).map(|refused| Box::pin(refused.refuse()) as DeferredRoute)
            }
            Err(_) => Some(Box::pin(async move {
                // It is never closed.
                let room = Arc::clone(&sink.room).acquire_many_owned(size).await.ok();
                match sink.give(message, room) {
                    Some(refused) => refused.refuse().await,
                    None => Ok(()),
                }
            })),
        }
    }

    fn tell_later(self: &Arc<Self>, message: RoutedMessage, why: fn(&str) -> Option<Error>) -> DeferredRoute {
        let routes = Arc::clone(self);
        Box::pin(async move { routes.tell_or_refuse(message, why).await })
    }

    /// Who takes a message. It is kept if nobody does yet, but may soon.
    fn find(&self, message: RoutedMessage) -> Found {
        let Some(session) = message.session() else { return Found::Unnamed(message) };
        let mut inner = self.inner();
        let sink = inner.sinks.get(&*session).cloned();
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
    async fn tell_or_refuse(
        &self,
        message: RoutedMessage,
        why: fn(&str) -> Option<Error>,
    ) -> Result<(), ConnectionClosed> {
        let Some(message) = message.into_unhandled() else { return Ok(()) };
        match (why(message.method()), message) {
            (Some(error), UnhandledMessage::Request(request)) => request.respond::<()>(Err(error)).await,
            (_, message) => self.tell(message).await,
        }
    }

    /// Passes on: requests to the connection that came last, notifications to all.
    async fn tell(&self, message: UnhandledMessage) -> Result<(), ConnectionClosed> {
        let (method, empty) = (message.method(), RawJson::written("{}"));
        let params = message.params().unwrap_or(&empty);
        let is_able = |modes: ElicitationModes| !is_form(method) || modes.has(method, params);
        let mut listeners = self.listeners.lock().clone();
        listeners.retain(|listener| !listener.cx.is_over() && is_able(listener.modes));
        match message {
            UnhandledMessage::Notification(note) => {
                for listener in listeners {
                    // One that is gone needs no news.
                    let _ = self.pass(UnhandledMessage::Notification(note.clone()), &listener).await;
                }
                Ok(())
            }
            request @ UnhandledMessage::Request(_) => match listeners.last() {
                Some(listener) => self.pass(request, listener).await.or(Ok(())),
                None => request.refuse().await,
            },
        }
    }

    async fn pass(
        &self,
        message: UnhandledMessage,
        listener: &AgentListener,
    ) -> Result<(), ConnectionClosed> {
        let from = self.version.get().copied().unwrap_or(listener.version);
        let translated = |params| request_between(from, listener.version, message.method(), params);
        match message.params().and_then(translated) {
            Some(call) => message.forward_as(&listener.cx, &call.method, Some(&call.params)).await,
            None => message.forward_to(&listener.cx).await,
        }
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
        for message in inner.take_strays(session) {
            let _ = queue.send(SessionMessage { message, _room: None });
        }
        inner.sinks.insert(session.to_owned(), Sink { queue, room: Arc::new(Semaphore::new(ROOM)) });
        Ok(inbox)
    }

    /// Nobody takes what comes for this session any more.
    pub(crate) fn release(&self, session: &str) {
        self.inner().sinks.remove(session);
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

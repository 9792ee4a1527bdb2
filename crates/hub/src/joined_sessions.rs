//! The sessions a client has joined, and what it says about one that is still being opened for it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use nudge_peer::RequestResponder;
use nudge_session::unknown_session;
use nudge_wire::Error;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    client::{ClientMessage, ConnectedClient},
    hub::HubShared,
    session::{InUseRequest, SessionCommand},
};

/// What may wait for one session to be opened.
const MOST: usize = 64;
/// Bytes of it, unless it is a single one.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What a client says about a session.
pub(crate) enum SessionCall {
    Request(InUseRequest, RequestResponder),
    Close(RequestResponder),
    Cancel,
}

impl SessionCall {
    fn size(&self) -> usize {
        match self {
            Self::Request(request, _) => request.size(),
            Self::Close(_) | Self::Cancel => 0,
        }
    }
}

/// The way of one client into its sessions.
#[derive(Clone)]
pub(crate) struct JoinedSessions {
    pub(crate) shared: Arc<HubShared>,
    pub(crate) client: Arc<ConnectedClient>,
    sessions: Arc<Mutex<Sessions>>,
}

#[derive(Default)]
struct Sessions {
    joined: HashSet<String>,
    /// What was said about those that are being opened, oldest first.
    opening: HashMap<String, VecDeque<SessionCall>>,
}

impl JoinedSessions {
    pub(crate) fn new(shared: Arc<HubShared>, client: Arc<ConnectedClient>) -> Self {
        Self { shared, client, sessions: Arc::default() }
    }

    pub(crate) fn has_joined(&self, id: &str) -> bool {
        self.sessions().joined.contains(id)
    }

    pub(crate) fn joins(&self, id: &str) {
        self.sessions().joined.insert(id.to_owned());
    }

    pub(crate) fn leaves(&self, id: &str) {
        self.sessions().joined.remove(id);
    }

    /// All it had joined.
    pub(crate) fn leaves_all(&self) -> HashSet<String> {
        std::mem::take(&mut self.sessions().joined)
    }

    /// From now on what is said about a session waits until it is opened; `None` if that is so already.
    pub(crate) fn opens(&self, id: &str) -> Option<OpeningGuard> {
        let mut sessions = self.sessions();
        if sessions.opening.contains_key(id) {
            return None;
        }
        sessions.opening.insert(id.to_owned(), VecDeque::new());
        Some(OpeningGuard { joined_sessions: self.clone(), id: id.to_owned() })
    }

    /// Passes on what is said about a session, in the order in which it is said.
    pub(crate) async fn enter(&self, id: String, session_call: SessionCall) {
        if let Some(session_call) = self.wait(&id, session_call) {
            self.enter_now(&id, session_call).await;
        }
    }

    /// Gives back what need not wait.
    fn wait(&self, id: &str, session_call: SessionCall) -> Option<SessionCall> {
        let mut sessions = self.sessions();
        let Some(waiting) = sessions.opening.get_mut(id) else { return Some(session_call) };
        let bytes: usize = waiting.iter().map(SessionCall::size).sum();
        let fits = waiting.len() < MOST && bytes + session_call.size() <= MOST_BYTES;
        if waiting.is_empty() || fits {
            waiting.push_back(session_call);
        } else if let SessionCall::Request(_, responder) | SessionCall::Close(responder) = session_call {
            let what = "Too much was asked of a session that is still being opened";
            let error = Error::invalid_request(what).reason("session_opening");
            self.client.push(ClientMessage::Answer(responder, Err(error)));
        }
        None
    }

    async fn enter_now(&self, id: &str, session_call: SessionCall) {
        let handle = if self.has_joined(id) { self.shared.live(id) } else { None };
        let command = match session_call {
            SessionCall::Cancel => SessionCommand::Cancel,
            SessionCall::Request(request, responder) => self.request(request, responder),
            SessionCall::Close(responder) => {
                self.leaves(id);
                let closing = ClosingSession { joined_sessions: self.clone(), session: id.to_owned() };
                self.request(InUseRequest::Close(closing), responder)
            }
        };
        let left = match handle {
            Some(handle) => handle.send(command).await.err(),
            None => Some(command),
        };
        if let Some(SessionCommand::Request { responder, .. }) = left {
            self.client.push(ClientMessage::Answer(responder, Err(unknown_session())));
        }
    }

    fn request(&self, request: InUseRequest, responder: RequestResponder) -> SessionCommand {
        SessionCommand::Request { client: Arc::clone(&self.client), request, responder }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // Nothing panics while it holds this.
        self.sessions.lock()
    }
}

/// A session that a client has left in order to close it.
pub(crate) struct ClosingSession {
    joined_sessions: JoinedSessions,
    session: String,
}

impl ClosingSession {
    pub(crate) fn client(&self) -> &ConnectedClient {
        &self.joined_sessions.client
    }

    /// It cannot be closed: the client has it as before.
    pub(crate) fn refuse(self, responder: RequestResponder, error: &Error) {
        self.joined_sessions.joins(&self.session);
        self.client().push(ClientMessage::Answer(responder, Err(error.clone())));
    }
}

impl std::fmt::Debug for ClosingSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClosingSession").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A session that is being opened. If this is dropped, what waits for it is refused.
pub(crate) struct OpeningGuard {
    joined_sessions: JoinedSessions,
    id: String,
}

impl OpeningGuard {
    /// It was opened, or cannot be: what has waited goes on.
    pub(crate) async fn open(self) {
        while let Some(session_call) = self.next() {
            self.joined_sessions.enter_now(&self.id, session_call).await;
        }
    }

    /// The next that has waited; after the last, nobody waits any more.
    fn next(&self) -> Option<SessionCall> {
        let mut sessions = self.joined_sessions.sessions();
        let next = sessions.opening.get_mut(&self.id)?.pop_front();
        if next.is_none() {
            sessions.opening.remove(&self.id);
        }
        next
    }
}

impl Drop for OpeningGuard {
    fn drop(&mut self) {
        // Requests are answered when they are dropped, which is not done under the lock.
        let waiting = self.joined_sessions.sessions().opening.remove(&self.id);
        drop(waiting);
    }
}

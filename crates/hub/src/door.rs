//! The sessions a client has joined, and what it says about one that is still being opened for it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use nudge_peer::Responder;
use nudge_session::unknown_session;
use nudge_wire::Error;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    client::{Client, Out},
    hub::Shared,
    session::{Command, Request},
};

/// What may wait for one session to be opened.
const MOST: usize = 64;
/// Bytes of it, unless it is a single one.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What a client says about a session.
pub(crate) enum Visit {
    Request(Request, Responder),
    Close(Responder),
    Cancel,
}

impl Visit {
    fn size(&self) -> usize {
        match self {
            Self::Request(request, _) => request.size(),
            Self::Close(_) | Self::Cancel => 0,
        }
    }
}

/// The way of one client into its sessions.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Arc<Client>,
    sessions: Arc<Mutex<Sessions>>,
}

#[derive(Default)]
struct Sessions {
    joined: HashSet<String>,
    /// What was said about those that are being opened, oldest first.
    opening: HashMap<String, VecDeque<Visit>>,
}

impl Door {
    pub(crate) fn new(shared: Arc<Shared>, client: Arc<Client>) -> Self {
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
    pub(crate) fn opens(&self, id: &str) -> Option<Ajar> {
        let mut sessions = self.sessions();
        if sessions.opening.contains_key(id) {
            return None;
        }
        sessions.opening.insert(id.to_owned(), VecDeque::new());
        Some(Ajar { door: self.clone(), id: id.to_owned() })
    }

    /// Passes on what is said about a session, in the order in which it is said.
    pub(crate) async fn enter(&self, id: String, visit: Visit) {
        if let Some(visit) = self.wait(&id, visit) {
            self.enter_now(&id, visit).await;
        }
    }

    /// Gives back what need not wait.
    fn wait(&self, id: &str, visit: Visit) -> Option<Visit> {
        let mut sessions = self.sessions();
        let Some(waiting) = sessions.opening.get_mut(id) else { return Some(visit) };
        let bytes: usize = waiting.iter().map(Visit::size).sum();
        let fits = waiting.len() < MOST && bytes + visit.size() <= MOST_BYTES;
        if waiting.is_empty() || fits {
            waiting.push_back(visit);
        } else if let Visit::Request(_, responder) | Visit::Close(responder) = visit {
            let what = "Too much was asked of a session that is still being opened";
            let error = Error::invalid_request(what).reason("session_opening");
            self.client.push(Out::Answer(responder, Err(error)));
        }
        None
    }

    async fn enter_now(&self, id: &str, visit: Visit) {
        let handle = if self.has_joined(id) { self.shared.live(id) } else { None };
        let command = match visit {
            Visit::Cancel => Command::Cancel,
            Visit::Request(request, responder) => self.request(request, responder),
            Visit::Close(responder) => {
                self.leaves(id);
                let closing = Closing { door: self.clone(), session: id.to_owned() };
                self.request(Request::Close(closing), responder)
            }
        };
        let left = match handle {
            Some(handle) => handle.send(command).await.err(),
            None => Some(command),
        };
        if let Some(Command::Request { responder, .. }) = left {
            self.client.push(Out::Answer(responder, Err(unknown_session())));
        }
    }

    fn request(&self, request: Request, responder: Responder) -> Command {
        Command::Request { client: Arc::clone(&self.client), request, responder }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // Nothing panics while it holds this.
        self.sessions.lock()
    }
}

/// A session that a client has left in order to close it.
pub(crate) struct Closing {
    door: Door,
    session: String,
}

impl Closing {
    pub(crate) fn client(&self) -> &Client {
        &self.door.client
    }

    /// It cannot be closed: the client has it as before.
    pub(crate) fn refuse(self, responder: Responder, error: &Error) {
        self.door.joins(&self.session);
        self.client().push(Out::Answer(responder, Err(error.clone())));
    }
}

impl std::fmt::Debug for Closing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Closing").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A session that is being opened. If this is dropped, what waits for it is refused.
pub(crate) struct Ajar {
    door: Door,
    id: String,
}

impl Ajar {
    /// It was opened, or cannot be: what has waited goes on.
    pub(crate) async fn open(self) {
        while let Some(visit) = self.next() {
            self.door.enter_now(&self.id, visit).await;
        }
    }

    /// The next that has waited; after the last, nobody waits any more.
    fn next(&self) -> Option<Visit> {
        let mut sessions = self.door.sessions();
        let next = sessions.opening.get_mut(&self.id)?.pop_front();
        if next.is_none() {
            sessions.opening.remove(&self.id);
        }
        next
    }
}

impl Drop for Ajar {
    fn drop(&mut self) {
        // Requests are answered when they are dropped, which is not done under the lock.
        let waiting = self.door.sessions().opening.remove(&self.id);
        drop(waiting);
    }
}

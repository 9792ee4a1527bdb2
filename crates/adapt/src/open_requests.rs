//! What an agent works on, and for whom: whoever asked it is asked what it wants to know about that.

use std::sync::Arc;

use nudge_peer::PendingResponse;
use nudge_wire::{ConnectionId, RawJson, RequestOrigin};
use parking_lot::Mutex;

/// What a request to the agent was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestPurpose {
    /// A request of a client, which waits for its answer.
    Client(RequestOrigin),
    /// The turn of the session that the agent knows by this id; the client is the one that began it.
    Turn { session: Arc<str>, client: Option<ConnectionId> },
}

impl RequestPurpose {
    /// Over which connection it was asked for.
    fn connection(&self) -> Option<ConnectionId> {
        match self {
            Self::Client(origin) => Some(origin.connection),
            Self::Turn { client, .. } => *client,
        }
    }
}

/// What was asked of an agent on behalf of clients and is not done yet. What was passed on as it came is known to the agent's
/// connection.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    open: Vec<OpenRequest>,
    /// Who asked last, whether or not it is done.
    last: Option<ConnectionId>,
}

#[derive(Debug)]
struct OpenRequest {
    /// By which id the agent knows it.
    number: u64,
    is_answered: bool,
    purpose: RequestPurpose,
}

impl OpenRequests {
    /// Sends a request, and notes what for until what comes with it is dropped.
    pub(crate) fn send(
        self: &Arc<Self>,
        purpose: RequestPurpose,
        send: impl FnOnce() -> PendingResponse<RawJson>,
    ) -> (PendingResponse<RawJson>, OpenRequestGuard) {
        // The agent may ask before this returns; it is looked up after it is noted.
        let mut inner = self.0.lock();
        let response = send();
        let number = response.number();
        inner.last = purpose.connection().or(inner.last);
        inner.open.push(OpenRequest { number, is_answered: false, purpose });
        (response, OpenRequestGuard { requests: Arc::clone(self), number })
    }

    /// What the request was made for that the agent knows by this id and has not answered.
    pub(crate) fn purpose(&self, number: u64) -> Option<RequestPurpose> {
        let inner = self.0.lock();
        let mut open = inner.open.iter().filter(|request| !request.is_answered);
        open.find(|request| request.number == number).map(|request| request.purpose.clone())
    }

    /// Over which connections it was asked for what is not done yet, each with the id of the request.
    pub(crate) fn askers(&self) -> Vec<(u64, ConnectionId)> {
        let inner = self.0.lock();
        let asked =
            inner.open.iter().filter_map(|request| Some((request.number, request.purpose.connection()?)));
        asked.collect()
    }

    /// Over which connection it was asked for something last.
    pub(crate) fn last_asker(&self) -> Option<ConnectionId> {
        self.0.lock().last
    }
}

/// Something the agent works on. It is done when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenRequestGuard {
    requests: Arc<OpenRequests>,
    number: u64,
}

impl OpenRequestGuard {
    /// The agent has answered, and may go on working on it.
    pub(crate) fn answered(&self) {
        let mut inner = self.requests.0.lock();
        if let Some(request) = inner.open.iter_mut().find(|request| request.number == self.number) {
            request.is_answered = true;
        }
    }
}

impl Drop for OpenRequestGuard {
    fn drop(&mut self) {
        self.requests.0.lock().open.retain(|request| request.number != self.number);
    }
}

//! A connection as sessions see it: one ordered way out that never makes a session wait.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use nudge_bridge::V1Client;
use nudge_mailbox::ClientId;
use nudge_peer::{CallError, CancellationToken, Cx, RawNotification, RequestResponder};
use nudge_session::ClientOffers;
use nudge_wire::{ClientContext, Error, Id, RawJson, RequestOrigin, Version, caps::ClientInit};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::{
    boundary::{BoundaryObserver, DurableBoundary, crossed},
    sources::SessionSource,
};

/// Bytes waiting for a client, past which what can wait does: a history, and the backend if nobody else listens.
const SOFT: usize = 1024 * 1024;
/// Bytes waiting for a client that shares a session, past which it is cut off.
const HARD: usize = 32 * 1024 * 1024;
/// What a message costs beside its text.
const OVERHEAD: usize = 256;

/// One connected client.
pub(crate) struct ConnectedClient {
    pub(crate) id: ClientId,
    pub(crate) version: Version,
    pub(crate) offers: ClientOffers,
    /// Whether it wants to be told what waits to be delivered.
    pub(crate) hears_pending: bool,
    /// What a client of version 1 understands beside the plain protocol.
    pub(crate) v1: Option<V1Client>,
    /// What its turns, and the sessions that it brings into use, take over from it.
    pub(crate) context: ClientContext,
    /// What runs the sessions that it begins; the built-in agent unless set.
    pub(crate) agent: Option<SessionSource>,
    /// Its own built-in agent; that of the process unless set.
    pub(crate) built_in: Option<SessionSource>,
    cx: Cx,
    queue: mpsc::UnboundedSender<ClientMessage>,
    waiting: Arc<Waiting>,
    is_cut_off: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    bytes: AtomicUsize,
    /// The largest message there has been.
    largest: AtomicUsize,
    fewer: Notify,
}

/// What is sent to a client.
pub(crate) enum ClientMessage {
    /// `session/update`, with these params.
    Update(RawJson),
    /// A notification as it came from the agent.
    Note(RawNotification),
    /// A notification of the agent, written anew for the client.
    Notify(String, RawJson),
    /// The answer to a request.
    Answer(RequestResponder, Result<RawJson, Error>),
    /// A request; nobody is told of its answer once `withdrawn`.
    Ask(ClientRequest),
}

/// A request to a client.
pub(crate) struct ClientRequest {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: RawJson,
    pub(crate) answer: oneshot::Sender<Result<RawJson, CallError>>,
    pub(crate) withdrawn: CancellationToken,
}

impl ClientMessage {
    fn size(&self) -> usize {
        OVERHEAD
            + match self {
                Self::Update(params)
                | Self::Ask(ClientRequest { params, .. })
                | Self::Answer(_, Ok(params)) => params.as_str().len(),
                Self::Note(note) => note.size(),
                Self::Notify(method, params) => method.len() + params.as_str().len(),
                Self::Answer(_, Err(error)) => error.message.len(),
            }
    }
}

impl ConnectedClient {
    /// A client and the task that sends what it is to get. The task ends with the connection.
    pub(crate) fn start(
        id: ClientId,
        init: &ClientInit,
        context: ClientContext,
        agent: Option<SessionSource>,
        built_in: Option<SessionSource>,
        cx: Cx,
        observer: Option<BoundaryObserver>,
    ) -> Arc<Self> {
        let version = init.version;
        let v1 = (version == Version::V1).then(|| V1Client::of(&init.params));
        let offers = ClientOffers::of(init);
        let hears_pending = init.hears_pending();
        let (queue, outs) = mpsc::unbounded_channel();
        let waiting = Arc::new(Waiting::default());
        tokio::spawn(send_all(cx.clone(), outs, Arc::clone(&waiting), observer));
        let is_cut_off = AtomicBool::new(false);
        Arc::new(Self {
            id,
            version,
            offers,
            hears_pending,
            v1,
            context,
            agent,
            built_in,
            cx,
            queue,
            waiting,
            is_cut_off,
        })
    }

    /// Its request of this id, as others name it.
    pub(crate) fn origin(&self, id: &Id) -> Option<RequestOrigin> {
        self.context.connection.map(|connection| RequestOrigin { connection, id: id.clone() })
    }

    /// Queues `out`.
    pub(crate) fn push(&self, out: ClientMessage) {
        let size = out.size();
        self.waiting.bytes.fetch_add(size, Ordering::AcqRel);
        self.waiting.largest.fetch_max(size, Ordering::AcqRel);
        if !self.is_cut_off.load(Ordering::Acquire) {
            // The task is gone only when the connection is.
            let _ = self.queue.send(out);
        }
    }

    /// As [`ConnectedClient::push`], but waits for room first.
    pub(crate) async fn push_when_room(&self, out: ClientMessage) {
        self.room().await;
        self.push(out);
    }

    /// Whether it is so far behind that nobody should wait for it. A single large message does not count.
    pub(crate) fn is_hopeless(&self) -> bool {
        let largest = self.waiting.largest.load(Ordering::Acquire);
        self.waiting.bytes.load(Ordering::Acquire) > HARD + largest
    }

    /// Ends its connection: it can come back and resume.
    pub(crate) fn cut_off(&self) {
        if !self.is_cut_off.swap(true, Ordering::AcqRel) {
            let what = "the client does not read its updates and is disconnected; it can resume the session";
            tracing::warn!(client = self.id.0, what);
            self.cx.close();
        }
    }

    /// Whether it is behind.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting.bytes.load(Ordering::Acquire) > SOFT && !self.cx.is_over()
    }

    /// Waits until it is not behind, or is gone.
    pub(crate) async fn room(&self) {
        while self.is_behind() {
            let fewer = self.waiting.fewer.notified();
            if !self.is_behind() {
                return;
            }
            tokio::select! {
                () = fewer => {}
                _ = self.cx.closed() => return,
            }
        }
    }

    /// Waits until its connection is over.
    pub(crate) async fn gone(&self) {
        self.cx.closed().await;
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is_cut_off.load(Ordering::Acquire) || self.cx.is_over()
    }
}

async fn send_all(
    cx: Cx,
    mut outs: mpsc::UnboundedReceiver<ClientMessage>,
    waiting: Arc<Waiting>,
    observer: Option<BoundaryObserver>,
) {
    loop {
        let out = tokio::select! {
            biased;
            _ = cx.closed() => return,
            out = outs.recv() => out,
        };
        let Some(out) = out else { return };
        let size = out.size();
        send(&cx, out, observer.as_ref()).await;
        let before = waiting.bytes.fetch_sub(size, Ordering::AcqRel);
        if before > SOFT && before - size <= SOFT {
            waiting.fewer.notify_waiters();
        }
    }
}

async fn send(cx: &Cx, out: ClientMessage, observer: Option<&BoundaryObserver>) {
    // That the connection is over is seen by the loop.
    match out {
        ClientMessage::Update(params) => {
            crossed(observer, DurableBoundary::BeforeUpdate);
            let _ = cx.notify_raw("session/update", Some(&params)).await;
            crossed(observer, DurableBoundary::AfterUpdate);
        }
        ClientMessage::Notify(method, params) => {
            let _ = cx.notify_raw(&method, Some(&params)).await;
        }
        ClientMessage::Note(note) => {
            crossed(observer, DurableBoundary::BeforeUpdate);
            let _ = note.send_to(cx).await;
            crossed(observer, DurableBoundary::AfterUpdate);
        }
        ClientMessage::Answer(responder, outcome) => {
            crossed(observer, DurableBoundary::BeforeAnswer);
            let _ = match outcome {
                Ok(result) => responder.respond_raw(&result).await,
                Err(error) => responder.respond::<()>(Err(error)).await,
            };
            crossed(observer, DurableBoundary::AfterAnswer);
        }
        ClientMessage::Ask(ClientRequest { method, params, answer, withdrawn }) => {
            let requested = cx.request_raw(&method, Some(&params));
            tokio::spawn(async move {
                tokio::select! {
                    () = withdrawn.cancelled() => {}
                    answered = requested => { let _ = answer.send(answered); }
                }
            });
        }
    }
}

impl std::fmt::Debug for ConnectedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectedClient")
            .field("id", &self.id)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

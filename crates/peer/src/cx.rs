//! What a handler or a caller can do with a connection.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use nudge_wire::{Error, Id, Notification, RawJson, Request, Version, error::expectation, write};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{
    CallError, ConnectionClosed, ForwardedRequest,
    call::CallState,
    pending::{CallAnswer, PendingWaiter},
    shared::ConnectionShared,
    version::is_initialize,
};

/// What a handler or a caller can do. `Cx` alone is the context of code that runs beside the queue and can do
/// everything; [`InOrder`] is that of a handler that runs in order.
pub struct Cx<P = Beside> {
    pub(crate) shared: Arc<ConnectionShared>,
    pub(crate) call: Option<Arc<CallState>>,
    place: PhantomData<fn() -> P>,
}

/// The context of a handler that runs in order: it can send but has no way to await a response, which could only
/// arrive after the messages behind it in the queue.
pub type InOrder = Cx<Ordered>;

/// Marks what runs beside the queue.
#[derive(Debug)]
pub enum Beside {}

/// Marks what runs in order.
#[derive(Debug)]
pub enum Ordered {}

/// Where code runs: [`Beside`] the queue or [`Ordered`].
pub trait HandlerPlace: sealed::Sealed + 'static {
    /// Whether the queue waits for it.
    const IN_ORDER: bool;
}

impl HandlerPlace for Beside {
    const IN_ORDER: bool = false;
}

impl HandlerPlace for Ordered {
    const IN_ORDER: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Beside {}
    impl Sealed for super::Ordered {}
}

impl<P: HandlerPlace> Cx<P> {
    pub(crate) fn new(shared: Arc<ConnectionShared>, call: Option<Arc<CallState>>) -> Self {
        Self { shared, call, place: PhantomData }
    }

    /// Sends a notification, waiting for room. In order, the queue waits with it.
    pub async fn notify<N: Notification>(&self, params: N) -> Result<(), CallError> {
        Ok(self.send(encode(&params)?).await?)
    }

    /// Sends a notification whose params are JSON text; see [`Cx::notify`].
    pub async fn notify_raw(&self, method: &str, params: Option<&RawJson>) -> Result<(), ConnectionClosed> {
        self.send(write::raw_call(None, method, params)).await
    }

    async fn send(&self, frame: Vec<u8>) -> Result<(), ConnectionClosed> {
        if P::IN_ORDER { self.shared.send_in_order(frame).await } else { self.shared.send(frame).await }
    }

    /// Runs a task beside the queue, where responses can be awaited. It ends with the connection, which does not wait
    /// for it.
    pub fn spawn<F, Fut>(&self, task: F)
    where
        F: FnOnce(Cx) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        spawn(&self.shared, task(Cx::new(Arc::clone(&self.shared), None)));
    }

    /// As [`Cx::spawn`], but the task begins when the handler's answer to the request has been queued: what it sends
    /// comes after the answer. It does not begin if the request ends without that answer, by a cancellation for one.
    pub fn after_answer<F, Fut>(&self, task: F)
    where
        F: FnOnce(Cx) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let task = task(Cx::new(Arc::clone(&self.shared), None));
        match &self.call {
            Some(call) => call.after(Box::pin(task)),
            None => spawn(&self.shared, task),
        }
    }

    /// The id of the request that is being handled, if one is.
    pub fn id(&self) -> Option<&Id> {
        self.call.as_ref().map(|call| &call.id)
    }

    /// The version of the protocol that the answer to `initialize` says, once it has been given, by either side.
    pub fn version(&self) -> Option<Version> {
        self.shared.version.get()
    }

    /// The requests of other connections that were passed on to this one and are not answered yet, oldest first.
    pub fn forwarded(&self) -> Vec<ForwardedRequest> {
        self.shared.pending.forwarded()
    }

    /// Whether both are handles to the same connection.
    pub fn is_same<Q>(&self, other: &Cx<Q>) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The token that tells of a cancellation of the request being handled. A handler that takes it decides itself how
    /// to answer; one that does not is dropped where it stands, and the answer is -32800.
    pub fn cancellation(&self) -> CancellationToken {
        self.call.as_ref().map_or_else(|| self.shared.over.child_token(), |call| call.token())
    }
}

impl Cx {
    /// Sends a request. It is sent at once if there is room, otherwise when the future is polled and room has come.
    /// Dropping the future before the answer is there sends `$/cancel_request`.
    ///
    /// The answer is there as soon as it has been read, even if messages that came before it still wait to be handled;
    /// see [`PendingResponse::in_order`].
    #[allow(clippy::needless_pass_by_value, reason = "`cx.request(Params::new(…))` reads best")]
    pub fn request<R: Request>(&self, params: R) -> PendingResponse<R::Response> {
        let id = self.shared.pending.next_id();
        let frame = write::request(&Id::from(id), R::METHOD, &params);
        let frame = frame.map_err(|_| CallError::Encode { method: R::METHOD.to_owned() });
        PendingResponse::new(&self.shared, id, R::METHOD.to_owned(), frame)
    }

    /// Sends a request whose params are JSON text; see [`Cx::request`].
    pub fn request_raw(&self, method: &str, params: Option<&RawJson>) -> PendingResponse<RawJson> {
        let id = self.shared.pending.next_id();
        let frame = write::raw_call(Some(&Id::from(id)), method, params);
        PendingResponse::new(&self.shared, id, method.to_owned(), Ok(frame))
    }

    /// Sends a small notification without waiting for room: what is sent later comes behind it.
    pub fn notify_now(&self, method: &str, params: Option<&RawJson>) {
        self.shared.force(write::raw_call(None, method, params));
    }

    /// Ends the connection after what is queued has been written.
    pub fn close(&self) {
        self.shared.begin_closing();
    }

    /// Waits until the other side will say nothing more and all it has said was handed over. What it has asked for may
    /// still be answered.
    pub async fn input_ended(&self) {
        tokio::select! {
            () = self.shared.input_over.cancelled() => {}
            () = self.shared.over.cancelled() => {}
        }
    }

    /// Whether the connection is over.
    pub fn is_over(&self) -> bool {
        self.shared.over.is_cancelled()
    }

    /// Waits until the connection is over and tells why.
    pub async fn closed(&self) -> ConnectionClosed {
        self.shared.over.cancelled().await;
        self.shared.closed().unwrap_or(ConnectionClosed::Local)
    }
}

impl<P> Clone for Cx<P> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), call: self.call.clone(), place: PhantomData }
    }
}

fn encode<N: Notification>(params: &N) -> Result<Vec<u8>, CallError> {
    write::notification(N::METHOD, params).map_err(|_| CallError::Encode { method: N::METHOD.to_owned() })
}

pub(crate) fn spawn<F>(shared: &Arc<ConnectionShared>, task: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let over = shared.over.clone();
    tokio::spawn(async move {
        tokio::select! {
            biased;
            () = over.cancelled() => {}
            () = task => {}
        }
    });
}

/// The answer to a request, to be awaited. Dropping it sends `$/cancel_request`.
#[must_use = "the request is cancelled when its future is dropped"]
pub struct PendingResponse<T> {
    method: String,
    number: u64,
    shared: Arc<ConnectionShared>,
    inner: Pin<Box<dyn Future<Output = CallAnswer> + Send>>,
    answer: PhantomData<fn() -> T>,
}

impl<T> PendingResponse<T> {
    fn new(
        shared: &Arc<ConnectionShared>,
        id: u64,
        method: String,
        frame: Result<Vec<u8>, CallError>,
    ) -> Self {
        if is_initialize(&method) {
            shared.version.asked(id);
        }
        let (sender, receiver) = oneshot::channel();
        let mut guard = Guard { shared: Arc::clone(shared), id, sent: false };
        let unsent = frame.and_then(|frame| {
            shared.pending.insert(id, PendingWaiter::Caller(sender));
            let unsent = shared.try_send(frame)?;
            guard.sent = unsent.is_none();
            if unsent.is_some() {
                // Now that somebody waits for an answer, it may be right to read on.
                shared.waker.wake();
            }
            Ok(unsent)
        });
        let answer = async move {
            if let Some(frame) = unsent? {
                guard.shared.send(frame).await?;
                guard.sent = true;
            }
            match receiver.await {
                Ok(answer) => Ok(answer),
                Err(_) => Err(guard.shared.closed().unwrap_or(ConnectionClosed::Local).into()),
            }
        };
        let inner = Box::pin(async move { answer.await.unwrap_or_else(CallAnswer::failed) });
        Self { method, number: id, shared: Arc::clone(shared), inner, answer: PhantomData }
    }

    /// The id of the request.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits until everything that came before the answer has been handled: the updates of a turn before its end.
    ///
    /// The queue must be able to move meanwhile: a handler in order that waits for whoever awaits this would wait
    /// forever.
    pub fn in_order(self) -> Self {
        let Self { method, number, shared, inner, answer } = self;
        let waiting = Arc::clone(&shared);
        let inner = Box::pin(async move {
            let answer = inner.await;
            waiting.handled_up_to(answer.after).await;
            answer
        });
        Self { method, number, shared, inner, answer }
    }
}

impl<T: DeserializeOwned> Future for PendingResponse<T> {
    type Output = Result<T, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(cx).map(|answer| {
            answer.outcome?.to().map_err(|error| CallError::Decode {
                method: std::mem::take(&mut self.method),
                expectation: expectation(&error),
            })
        })
    }
}

/// Cancels a request whose future is dropped before the answer is there.
struct Guard {
    shared: Arc<ConnectionShared>,
    id: u64,
    sent: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.shared.pending.remove(self.id).is_some() && self.sent {
            self.shared.force(write::cancel_request(self.id));
        }
    }
}

impl<P> fmt::Debug for Cx<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.call.as_ref().map(|call| &call.id);
        f.debug_struct("Cx").field("connection", &self.shared.name).field("id", &id).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for PendingResponse<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingResponse").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Reads params as a `T`; absent ones as an empty object.
pub(crate) fn decode<T: DeserializeOwned>(method: &str, params: Option<&RawJson>) -> Result<T, Error> {
    let text = params.map_or("{}", RawJson::as_str);
    serde_json::from_str(text).map_err(|error| Error::bad_params(method, &error))
}

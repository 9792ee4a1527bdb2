//! What a handler or a caller can do with a connection.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use nudge_wire::{Error, Id, Notification, RawJson, Request, error::expectation, write};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{CallError, Closed, call::Call, pending::Waiting, shared::Shared};

/// The context of code that runs beside the queue: it can do everything.
#[derive(Clone)]
pub struct Cx {
    pub(crate) shared: Arc<Shared>,
    pub(crate) call: Option<Arc<Call>>,
}

/// The context of a handler that runs in order: it can send but has no way to await a response, which could only
/// arrive after the messages behind it in the queue.
#[derive(Clone)]
pub struct InOrder {
    pub(crate) shared: Arc<Shared>,
    pub(crate) call: Option<Arc<Call>>,
}

impl Cx {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, call: None }
    }

    /// Sends a request. It is sent at once if there is room, otherwise when the future is polled and room has come.
    /// Dropping the future before the answer is there sends `$/cancel_request`.
    #[allow(clippy::needless_pass_by_value, reason = "`cx.request(Params::new(…))` reads best")]
    pub fn request<R: Request>(&self, params: R) -> Requested<R::Response> {
        let id = self.shared.pending.next_id();
        let frame = write::request(&Id::from(id), R::METHOD, &params);
        let frame = frame.map_err(|_| CallError::Encode { method: R::METHOD.to_owned() });
        Requested::new(&self.shared, id, R::METHOD.to_owned(), frame)
    }

    /// Sends a request whose params are JSON text; see [`Cx::request`].
    pub fn request_raw(&self, method: &str, params: Option<&RawJson>) -> Requested<RawJson> {
        let id = self.shared.pending.next_id();
        let frame = write::raw_call(Some(&Id::from(id)), method, params);
        Requested::new(&self.shared, id, method.to_owned(), Ok(frame))
    }

    /// Sends a notification, waiting for room.
    pub async fn notify<N: Notification>(&self, params: N) -> Result<(), CallError> {
        Ok(self.shared.send(encode(&params)?).await?)
    }

    /// Sends a notification whose params are JSON text, waiting for room.
    pub async fn notify_raw(&self, method: &str, params: Option<&RawJson>) -> Result<(), Closed> {
        self.shared.send(write::raw_call(None, method, params)).await
    }

    /// Runs a task that ends with the connection.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        spawn(&self.shared, task);
    }

    /// The id of the request that is being handled, if one is.
    pub fn id(&self) -> Option<&Id> {
        self.call.as_ref().map(|call| &call.id)
    }

    /// The token that tells of a cancellation of the request being handled. A handler that takes it decides itself how
    /// to answer; one that does not is dropped where it stands, and the answer is -32800.
    pub fn cancellation(&self) -> CancellationToken {
        token(self.call.as_ref(), &self.shared)
    }

    /// Ends the connection after what is queued has been written.
    pub fn close(&self) {
        self.shared.begin_closing();
    }

    /// Waits until the connection is over and tells why.
    pub async fn closed(&self) -> Closed {
        self.shared.over.cancelled().await;
        self.shared.closed().unwrap_or(Closed::Local)
    }
}

impl InOrder {
    /// Sends a notification, waiting for room. The queue waits with it.
    pub async fn notify<N: Notification>(&self, params: N) -> Result<(), CallError> {
        Ok(self.shared.send_in_order(encode(&params)?).await?)
    }

    /// Sends a notification whose params are JSON text, waiting for room. The queue waits with it.
    pub async fn notify_raw(&self, method: &str, params: Option<&RawJson>) -> Result<(), Closed> {
        self.shared.send_in_order(write::raw_call(None, method, params)).await
    }

    /// Goes on beside the queue, where a response can be awaited. The task ends with the connection.
    pub fn spawn<F, Fut>(&self, task: F)
    where
        F: FnOnce(Cx) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let cx = Cx { shared: Arc::clone(&self.shared), call: self.call.clone() };
        spawn(&self.shared, task(cx));
    }

    /// The id of the request that is being handled, if one is.
    pub fn id(&self) -> Option<&Id> {
        self.call.as_ref().map(|call| &call.id)
    }

    /// See [`Cx::cancellation`].
    pub fn cancellation(&self) -> CancellationToken {
        token(self.call.as_ref(), &self.shared)
    }
}

fn encode<N: Notification>(params: &N) -> Result<Vec<u8>, CallError> {
    write::notification(N::METHOD, params).map_err(|_| CallError::Encode { method: N::METHOD.to_owned() })
}

fn token(call: Option<&Arc<Call>>, shared: &Shared) -> CancellationToken {
    call.map_or_else(|| shared.over.clone(), |call| call.token())
}

pub(crate) fn spawn<F>(shared: &Arc<Shared>, task: F)
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
pub struct Requested<T> {
    method: String,
    inner: Pin<Box<dyn Future<Output = Result<RawJson, CallError>> + Send>>,
    answer: PhantomData<fn() -> T>,
}

impl<T> Requested<T> {
    fn new(shared: &Arc<Shared>, id: u64, method: String, frame: Result<Vec<u8>, CallError>) -> Self {
        let (sender, receiver) = oneshot::channel();
        let mut guard = Guard { shared: Arc::clone(shared), id, sent: false };
        let unsent = frame.and_then(|frame| {
            shared.pending.insert(id, Waiting::Caller(sender));
            let unsent = shared.try_send(frame)?;
            guard.sent = unsent.is_none();
            Ok(unsent)
        });
        let inner = Box::pin(async move {
            if let Some(frame) = unsent? {
                guard.shared.send(frame).await?;
                guard.sent = true;
            }
            match receiver.await {
                Ok(outcome) => outcome,
                Err(_) => Err(guard.shared.closed().unwrap_or(Closed::Local).into()),
            }
        });
        Self { method, inner, answer: PhantomData }
    }
}

impl<T: DeserializeOwned> Future for Requested<T> {
    type Output = Result<T, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(cx).map(|outcome| {
            outcome?.to().map_err(|error| CallError::Decode {
                method: std::mem::take(&mut self.method),
                expectation: expectation(&error),
            })
        })
    }
}

/// Cancels a request whose future is dropped before the answer is there.
struct Guard {
    shared: Arc<Shared>,
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

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx")
            .field("connection", &self.shared.name)
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for InOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InOrder")
            .field("connection", &self.shared.name)
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Requested<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requested").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Reads params as a `T`; absent ones as an empty object.
pub(crate) fn decode<T: DeserializeOwned>(method: &str, params: Option<&RawJson>) -> Result<T, Error> {
    let text = params.map_or("{}", RawJson::as_str);
    serde_json::from_str(text).map_err(|error| Error::bad_params(method, &error))
}

//! Handlers while they run: in order or beside the queue, with panics and cancellations caught.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use nudge_wire::{Error, Id, Message, write};

use crate::{
    RequestResponder,
    call::{CallState, ResponseBatch},
    router::{HandlerDelivery, HandlerFuture, MethodHandler},
    shared::{BesideSlot, ConnectionShared},
};

/// A handler that runs in order.
pub(crate) struct CurrentHandler {
    running: HandlerFuture,
    call: Option<Arc<CallState>>,
}

impl CurrentHandler {
    pub(crate) fn new(running: HandlerFuture, call: Option<Arc<CallState>>) -> Self {
        Self { running, call }
    }

    /// The answer to a message that could not be taken, sent in its turn; `None` while its batch waits for more.
    pub(crate) fn refusal(
        shared: &Arc<ConnectionShared>,
        id: &Id,
        error: &Error,
        batch: Option<&Arc<ResponseBatch>>,
    ) -> Option<Self> {
        let frame = write::error(id, error);
        let frame = match batch {
            Some(batch) => batch.add(frame, shared)?,
            None => frame,
        };
        let shared = Arc::clone(shared);
        Some(Self::new(Box::pin(async move { drop(shared.answer_in_order(frame).await) }), None))
    }

    /// The answer to a request without a handler.
    pub(crate) fn unknown(shared: &Arc<ConnectionShared>, message: &Message, call: Arc<CallState>) -> Self {
        let responder = RequestResponder::new(Arc::clone(shared), Arc::clone(&call));
        let error = Error::method_not_found(message.method().map_or("", |method| method));
        let running = Box::pin(async move { drop(responder.respond_in_order::<()>(Err(error)).await) });
        Self::new(running, Some(call))
    }

    /// The answer of another connection, passed on in its turn.
    pub(crate) fn passing(message: Message, responder: RequestResponder) -> Self {
        Self::new(Box::pin(async move { drop(responder.pass_on(&message).await) }), None)
    }

    /// Runs the handler on; a panic or a cancellation ends it.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, shared: &Arc<ConnectionShared>) -> Poll<()> {
        poll_caught(&mut self.running, self.call.as_ref(), shared, cx)
    }
}

/// A handler that runs beside the queue.
struct Beside {
    running: HandlerFuture,
    call: Option<Arc<CallState>>,
    shared: Arc<ConnectionShared>,
    _seat: BesideSlot,
}

impl Future for Beside {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(call) = &this.call {
            call.waker.register(cx.waker());
        }
        poll_caught(&mut this.running, this.call.as_ref(), &this.shared, cx)
    }
}

/// Begins a handler at once, so that handlers begin in order, and lets it go on beside the queue.
pub(crate) fn run_beside(
    cx: &mut Context<'_>,
    shared: &Arc<ConnectionShared>,
    running: HandlerFuture,
    call: Option<Arc<CallState>>,
    bytes: usize,
) {
    let mut beside = Beside { running, call, shared: Arc::clone(shared), _seat: shared.seat(bytes) };
    if Pin::new(&mut beside).poll(cx).is_pending() {
        crate::cx::spawn(shared, beside);
    }
}

/// Calls a handler; a panic in it is answered.
pub(crate) fn start(
    handler: &MethodHandler,
    delivery: HandlerDelivery,
    call: Option<&Arc<CallState>>,
    shared: &Arc<ConnectionShared>,
) -> Option<HandlerFuture> {
    let started = catch_unwind(AssertUnwindSafe(|| handler(delivery))).ok();
    if started.is_none() {
        panicked(call, shared);
    }
    started
}

fn poll_caught(
    running: &mut HandlerFuture,
    call: Option<&Arc<CallState>>,
    shared: &Arc<ConnectionShared>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx))) {
        Ok(Poll::Ready(())) => Poll::Ready(()),
        // Cancelled: the answer is out, and the rest of the work would be for nothing.
        Ok(Poll::Pending) if call.is_some_and(|call| call.is_aborted()) => Poll::Ready(()),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => {
            panicked(call, shared);
            Poll::Ready(())
        }
    }
}

fn panicked(call: Option<&Arc<CallState>>, shared: &Arc<ConnectionShared>) {
    tracing::error!(connection = shared.name, "a handler panicked; the connection goes on");
    if let Some(call) = call {
        shared
            .answer_now(call, |id| write::error(id, &Error::internal("The handler of this request failed")));
    }
}

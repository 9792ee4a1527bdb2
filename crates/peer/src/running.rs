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
    Responder,
    call::{Batch, Call},
    router::{Delivery, Handler, Running},
    shared::{Charge, Seat, Shared},
};

/// A handler that runs in order.
pub(crate) struct Current {
    running: Running,
    call: Option<Arc<Call>>,
    _charge: Charge,
}

impl Current {
    pub(crate) fn new(running: Running, call: Option<Arc<Call>>, charge: Charge) -> Self {
        Self { running, call, _charge: charge }
    }

    /// The answer to a message that could not be taken, sent in its turn; `None` while its batch waits for more.
    pub(crate) fn refusal(
        shared: &Arc<Shared>,
        id: &Id,
        error: &Error,
        batch: Option<&Arc<Batch>>,
        charge: Charge,
    ) -> Option<Self> {
        let frame = write::error(id, error);
        let frame = match batch {
            Some(batch) => batch.add(frame)?,
            None => frame,
        };
        let shared = Arc::clone(shared);
        let running = Box::pin(async move { drop(shared.send_in_order(frame).await) });
        Some(Self::new(running, None, charge))
    }

    /// The answer of another connection, passed on in its turn.
    pub(crate) fn passing(message: Message, responder: Responder, charge: Charge) -> Self {
        let running = Box::pin(async move { drop(responder.pass_on(&message).await) });
        Self::new(running, None, charge)
    }

    /// Runs the handler on; a panic or a cancellation ends it.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, shared: &Shared) -> Poll<()> {
        poll_caught(&mut self.running, self.call.as_ref(), shared, cx)
    }
}

/// A handler that runs beside the queue.
struct Beside {
    running: Running,
    call: Option<Arc<Call>>,
    shared: Arc<Shared>,
    _seat: Seat,
    _charge: Charge,
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
    shared: &Arc<Shared>,
    running: Running,
    call: Option<Arc<Call>>,
    charge: Charge,
) {
    let mut beside =
        Beside { running, call, shared: Arc::clone(shared), _seat: shared.seat(), _charge: charge };
    if Pin::new(&mut beside).poll(cx).is_pending() {
        crate::cx::spawn(shared, beside);
    }
}

/// Calls a handler; a panic in it is answered.
pub(crate) fn start(
    handler: &Handler,
    delivery: Delivery,
    call: Option<&Arc<Call>>,
    shared: &Shared,
) -> Option<Running> {
    let started = catch_unwind(AssertUnwindSafe(|| handler(delivery))).ok();
    if started.is_none() {
        panicked(call, shared);
    }
    started
}

fn poll_caught(
    running: &mut Running,
    call: Option<&Arc<Call>>,
    shared: &Shared,
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

fn panicked(call: Option<&Arc<Call>>, shared: &Shared) {
    tracing::error!(connection = shared.name, "a handler panicked; the connection goes on");
    if let Some(call) = call {
        shared
            .answer_now(call, |id| write::error(id, &Error::internal("The handler of this request failed")));
    }
}

/// The answer to a request without a handler.
pub(crate) fn refuse_unknown(shared: &Shared, message: &Message, call: Option<&Arc<Call>>) {
    if let (Some(call), Some(method)) = (call, message.method()) {
        shared.answer_now(call, |id| write::error(id, &Error::method_not_found(method)));
    }
}

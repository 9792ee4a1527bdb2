//! What the driver, the handlers and the callers of one connection share.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use atomic_waker::AtomicWaker;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    CallError, Closed, Limits, Tap,
    call::Calls,
    outbound::{Outbound, Pushed},
    pending::{Answer, Pending, Waiting},
};

pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) limits: Limits,
    pub(crate) outbound: Outbound,
    pub(crate) pending: Pending,
    pub(crate) calls: Calls,
    pub(crate) tap: Option<Tap>,
    /// Wakes the driver.
    pub(crate) waker: AtomicWaker,
    /// Ends everything that runs beside the queue.
    pub(crate) over: CancellationToken,
    /// Why the connection is over, once it is.
    closed: OnceLock<Closed>,
    /// Whether this side wants to end it once everything is written.
    closing: AtomicBool,
    /// Bytes received and not yet handled.
    held: AtomicUsize,
    /// Handlers running beside the queue.
    beside: AtomicUsize,
    /// Whether the handler in order waits for room to send.
    pub(crate) order_blocked: AtomicBool,
    /// How many messages have been received, and how many of them handled or started beside the queue.
    received: AtomicU64,
    handled: AtomicU64,
    /// Tells of handled messages, if anybody listens.
    progress: Notify,
    listeners: AtomicUsize,
}

impl Shared {
    pub(crate) fn new(name: String, limits: Limits, tap: Option<Tap>) -> Arc<Self> {
        let outbound = Outbound::new(limits.outbound_soft, limits.outbound_hard);
        Arc::new(Self {
            name,
            limits,
            outbound,
            tap,
            pending: Pending::default(),
            calls: Calls::default(),
            waker: AtomicWaker::new(),
            over: CancellationToken::new(),
            closed: OnceLock::new(),
            closing: AtomicBool::new(false),
            held: AtomicUsize::new(0),
            beside: AtomicUsize::new(0),
            order_blocked: AtomicBool::new(false),
            received: AtomicU64::new(0),
            handled: AtomicU64::new(0),
            progress: Notify::new(),
            listeners: AtomicUsize::new(0),
        })
    }

    /// Why the connection is over; `None` while it is not.
    pub(crate) fn closed(&self) -> Option<Closed> {
        self.closed.get().cloned()
    }

    fn closed_or_local(&self) -> Closed {
        self.closed().unwrap_or(Closed::Local)
    }

    /// Queues a frame, waiting for room.
    pub(crate) async fn send(&self, frame: Vec<u8>) -> Result<(), Closed> {
        let held = match self.outbound.try_room(frame.len()) {
            Ok(Some(held)) => held,
            Ok(None) => self.outbound.wait_room(frame.len()).await.map_err(|()| self.closed_or_local())?,
            Err(()) => return Err(self.closed_or_local()),
        };
        self.queue(frame, held)
    }

    /// As `send`, from a handler that holds up the queue while it waits.
    pub(crate) async fn send_in_order(&self, frame: Vec<u8>) -> Result<(), Closed> {
        if let Ok(Some(held)) = self.outbound.try_room(frame.len()) {
            return self.queue(frame, held);
        }
        let _blocked = Blocked::new(&self.order_blocked);
        self.send(frame).await
    }

    /// Queues a frame if there is room now; gives it back if not.
    pub(crate) fn try_send(&self, frame: Vec<u8>) -> Result<Option<Vec<u8>>, Closed> {
        match self.outbound.try_room(frame.len()) {
            Ok(Some(held)) => self.queue(frame, held).map(|()| None),
            Ok(None) => Ok(Some(frame)),
            Err(()) => Err(self.closed_or_local()),
        }
    }

    /// Queues a frame without waiting for room. For what is small and answers something, or must not wait.
    pub(crate) fn force(&self, frame: Vec<u8>) {
        let _ = self.queue(frame, 0);
    }

    fn queue(&self, frame: Vec<u8>, held: usize) -> Result<(), Closed> {
        if let Some(tap) = &self.tap {
            tap.sent(&self.name, &frame);
        }
        match self.outbound.push(frame, held) {
            Pushed::Quiet => Ok(()),
            Pushed::Wake => {
                self.waker.wake();
                Ok(())
            }
            Pushed::Closed => Err(self.closed_or_local()),
            Pushed::Overfull(held) => {
                self.close(&Closed::OutboundFull { held, limit: self.limits.outbound_hard });
                self.waker.wake();
                Ok(())
            }
        }
    }

    /// Ends the connection for everybody on this side. The first reason stays.
    pub(crate) fn close(&self, why: &Closed) {
        let why = self.closed.get_or_init(|| why.clone());
        self.outbound.close();
        self.fail_pending(why);
        for call in self.calls.all() {
            self.cancel(&call);
        }
        self.over.cancel();
        self.waker.wake();
    }

    /// Ends the connection once everything is written.
    pub(crate) fn begin_closing(&self) {
        self.closing.store(true, Ordering::Release);
        self.waker.wake();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Tells everybody who awaits a response that none will come.
    pub(crate) fn fail_pending(&self, why: &Closed) {
        for who in self.pending.drain() {
            match who {
                Waiting::Caller(caller) => {
                    drop(caller.send(Answer::failed(CallError::Closed(why.clone()))));
                }
                Waiting::Forwarded(responder) => responder.fail(&why.clone().into()),
            }
        }
    }

    /// Counts a message as received.
    pub(crate) fn count_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// How many messages have been received.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Counts a message as handled.
    pub(crate) fn count_handled(&self) {
        self.handled.fetch_add(1, Ordering::SeqCst);
        if self.listeners.load(Ordering::SeqCst) > 0 {
            self.progress.notify_waiters();
        }
    }

    /// Waits until the first `count` messages are handled or the connection is over.
    pub(crate) async fn handled_up_to(&self, count: u64) {
        if self.handled.load(Ordering::SeqCst) >= count {
            return;
        }
        let _listening = Listening::new(&self.listeners);
        loop {
            let mut progress = std::pin::pin!(self.progress.notified());
            progress.as_mut().enable();
            if self.handled.load(Ordering::SeqCst) >= count {
                return;
            }
            tokio::select! {
                () = progress => {}
                () = self.over.cancelled() => return,
            }
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub(crate) fn beside(&self) -> usize {
        self.beside.load(Ordering::Relaxed)
    }

    /// Counts `bytes` as received and not yet handled until the charge is dropped.
    pub(crate) fn charge(self: &Arc<Self>, bytes: usize) -> Charge {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Charge { shared: Arc::clone(self), bytes }
    }

    /// Counts one handler beside the queue until the seat is dropped.
    pub(crate) fn seat(self: &Arc<Self>) -> Seat {
        self.beside.fetch_add(1, Ordering::Relaxed);
        Seat { shared: Arc::clone(self) }
    }
}

/// Bytes of a message that is not handled yet.
pub(crate) struct Charge {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        let before = self.shared.held.fetch_sub(self.bytes, Ordering::Relaxed);
        let soft = self.shared.limits.inbound_soft;
        if before >= soft && before - self.bytes < soft {
            self.shared.waker.wake();
        }
    }
}

/// A running handler beside the queue.
pub(crate) struct Seat {
    shared: Arc<Shared>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.beside.fetch_sub(1, Ordering::Relaxed);
        self.shared.waker.wake();
    }
}

/// Says for as long as it lives that the handler in order waits for room.
struct Blocked<'a>(&'a AtomicBool);

impl<'a> Blocked<'a> {
    fn new(flag: &'a AtomicBool) -> Self {
        flag.store(true, Ordering::Relaxed);
        Self(flag)
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Counts somebody who waits for messages to be handled.
struct Listening<'a>(&'a AtomicUsize);

impl<'a> Listening<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

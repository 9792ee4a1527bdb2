//! What the driver, the handlers and the callers of one connection share.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use atomic_waker::AtomicWaker;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    CallError, ConnectionClosed, ConnectionLimits, FrameTap,
    call::UnansweredCalls,
    outbound::{FrameKind, OutboundQueue, OutboundRoom, PushResult},
    pending::{CallAnswer, PendingCalls, PendingWaiter},
    version::AgreedVersion,
};

pub(crate) struct ConnectionShared {
    pub(crate) name: String,
    pub(crate) limits: ConnectionLimits,
    pub(crate) outbound: OutboundQueue,
    pub(crate) pending: PendingCalls,
    pub(crate) calls: UnansweredCalls,
    pub(crate) tap: Option<FrameTap>,
    pub(crate) version: AgreedVersion,
    /// Wakes the driver.
    pub(crate) waker: AtomicWaker,
    /// Ends everything that runs beside the queue.
    pub(crate) over: CancellationToken,
    /// Nothing more will be read, and what was read has been handed over.
    pub(crate) input_over: CancellationToken,
    /// Why the connection is over, once it is.
    closed: OnceLock<ConnectionClosed>,
    /// Why nothing can be written, once that is so; the connection may still have a better reason to end.
    broken: OnceLock<ConnectionClosed>,
    /// Whether this side wants to end it once everything is written.
    closing: AtomicBool,
    /// Handlers running beside the queue, and the bytes of the messages they handle.
    beside: AtomicUsize,
    beside_bytes: AtomicUsize,
    /// How many handlers that hold up the queue wait for room to send here.
    order_blocked: AtomicUsize,
    /// How many messages have been handled or started beside the queue.
    handled: AtomicU64,
    /// Tells of handled messages, if anybody listens.
    progress: Notify,
    listeners: AtomicUsize,
}

impl ConnectionShared {
    pub(crate) fn new(name: String, limits: ConnectionLimits, tap: Option<FrameTap>) -> Arc<Self> {
        let limits = limits.sane();
        let outbound = OutboundQueue::new(limits.outbound_soft, limits.outbound_hard);
        Arc::new(Self {
            name,
            limits,
            outbound,
            tap,
            pending: PendingCalls::default(),
            calls: UnansweredCalls::default(),
            version: AgreedVersion::default(),
            waker: AtomicWaker::new(),
            over: CancellationToken::new(),
            input_over: CancellationToken::new(),
            closed: OnceLock::new(),
            broken: OnceLock::new(),
            closing: AtomicBool::new(false),
            beside: AtomicUsize::new(0),
            beside_bytes: AtomicUsize::new(0),
            order_blocked: AtomicUsize::new(0),
            handled: AtomicU64::new(0),
            progress: Notify::new(),
            listeners: AtomicUsize::new(0),
        })
    }

    /// Why the connection is over; `None` while it is not.
    pub(crate) fn closed(&self) -> Option<ConnectionClosed> {
        self.closed.get().cloned()
    }

    /// Why something could not be sent.
    fn unsendable(&self) -> ConnectionClosed {
        self.closed.get().or(self.broken.get()).cloned().unwrap_or(ConnectionClosed::Local)
    }

    /// Waits for room for a frame. `in_order`: the queue waits with whoever waits.
    pub(crate) async fn room(
        &self,
        kind: FrameKind,
        len: usize,
        in_order: bool,
    ) -> Result<OutboundRoom, ConnectionClosed> {
        match self.outbound.try_room(kind, len) {
            Ok(Some(room)) => Ok(room),
            Ok(None) => {
                let _blocked = in_order.then(|| Counted::new(&self.order_blocked));
                self.outbound.wait_room(kind, len).await.map_err(|()| self.unsendable())
            }
            Err(()) => Err(self.unsendable()),
        }
    }

    /// Queues a request or notification, waiting for room.
    pub(crate) async fn send(&self, frame: Vec<u8>) -> Result<(), ConnectionClosed> {
        let room = self.room(FrameKind::Call, frame.len(), false).await?;
        self.queue(frame, Some(room))
    }

    /// As `send`, from a handler that holds up the queue while it waits.
    pub(crate) async fn send_in_order(&self, frame: Vec<u8>) -> Result<(), ConnectionClosed> {
        let room = self.room(FrameKind::Call, frame.len(), true).await?;
        self.queue(frame, Some(room))
    }

    /// Queues an answer that belongs to no call, waiting for room, from what holds up the queue.
    pub(crate) async fn answer_in_order(&self, frame: Vec<u8>) -> Result<(), ConnectionClosed> {
        let room = self.room(FrameKind::Answer, frame.len(), true).await?;
        self.queue(frame, Some(room))
    }

    /// Queues a request or notification if there is room now; gives it back if not.
    pub(crate) fn try_send(&self, frame: Vec<u8>) -> Result<Option<Vec<u8>>, ConnectionClosed> {
        match self.outbound.try_room(FrameKind::Call, frame.len()) {
            Ok(Some(room)) => self.queue(frame, Some(room)).map(|()| None),
            Ok(None) => Ok(Some(frame)),
            Err(()) => Err(self.unsendable()),
        }
    }

    /// Queues a frame without waiting for room. For what is small and must not wait.
    pub(crate) fn force(&self, frame: Vec<u8>) {
        let _ = self.queue(frame, None);
    }

    /// Queues a frame in the room taken for it.
    pub(crate) fn queue(&self, frame: Vec<u8>, room: Option<OutboundRoom>) -> Result<(), ConnectionClosed> {
        if let Some(tap) = &self.tap {
            tap.sent(&self.name, &frame);
        }
        match self.outbound.push(frame, room) {
            PushResult::Quiet => Ok(()),
            PushResult::Wake => {
                self.waker.wake();
                Ok(())
            }
            PushResult::Closed => Err(self.unsendable()),
            PushResult::Overfull(held) => {
                // The driver ends the connection when it sees this; here, somebody else's locks may be held.
                let _ = self
                    .closed
                    .set(ConnectionClosed::OutboundFull { held, limit: self.limits.outbound_hard });
                self.waker.wake();
                Ok(())
            }
        }
    }

    /// Nothing can be written any more.
    pub(crate) fn cannot_write(&self, why: ConnectionClosed) {
        let _ = self.broken.set(why);
        self.outbound.close();
    }

    /// Ends the connection for everybody on this side. The first reason stays.
    pub(crate) fn close(self: &Arc<Self>, why: &ConnectionClosed) {
        let why = self.closed.get_or_init(|| why.clone());
        if self.over.is_cancelled() {
            return;
        }
        self.over.cancel();
        self.outbound.close();
        self.fail_pending(why);
        for call in self.calls.all() {
            self.cancel(&call);
        }
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
    pub(crate) fn fail_pending(&self, why: &ConnectionClosed) {
        for who in self.pending.drain() {
            match who {
                PendingWaiter::Caller(caller) => {
                    drop(caller.send(CallAnswer::failed(CallError::Closed(why.clone()))));
                }
                PendingWaiter::Forwarded(responder) => responder.fail(&why.clone().into()),
            }
        }
    }

    /// Whether a handler that holds up the queue waits for the other side to read.
    pub(crate) fn is_order_blocked(&self) -> bool {
        self.order_blocked.load(Ordering::Relaxed) > 0
    }

    /// Gives back memory that is not in use.
    pub(crate) fn shrink(&self) {
        self.outbound.shrink();
        self.pending.shrink();
        self.calls.shrink();
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
        let _listening = Counted::new(&self.listeners);
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

    /// Whether no more handlers may be started beside the queue.
    pub(crate) fn is_beside_full(&self) -> bool {
        self.beside.load(Ordering::Relaxed) >= self.limits.max_beside
            || self.beside_bytes.load(Ordering::Relaxed) >= self.limits.inbound_hard
    }

    /// Whether handlers run beside the queue.
    pub(crate) fn has_beside(&self) -> bool {
        self.beside.load(Ordering::Relaxed) > 0
    }

    /// Counts one handler beside the queue, and the bytes of its message, until the seat is dropped.
    pub(crate) fn seat(self: &Arc<Self>, bytes: usize) -> BesideSlot {
        self.beside.fetch_add(1, Ordering::Relaxed);
        BesideSlot { charge: self.charge(bytes) }
    }

    /// Counts bytes as held beside the queue until the charge is dropped.
    pub(crate) fn charge(self: &Arc<Self>, bytes: usize) -> ByteCharge {
        self.beside_bytes.fetch_add(bytes, Ordering::Relaxed);
        ByteCharge { shared: Arc::clone(self), bytes }
    }
}

/// Bytes held beside the queue.
pub(crate) struct ByteCharge {
    shared: Arc<ConnectionShared>,
    bytes: usize,
}

impl Drop for ByteCharge {
    fn drop(&mut self) {
        self.shared.beside_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.shared.waker.wake();
    }
}

/// A running handler beside the queue.
pub(crate) struct BesideSlot {
    charge: ByteCharge,
}

impl Drop for BesideSlot {
    fn drop(&mut self) {
        self.charge.shared.beside.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts itself for as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

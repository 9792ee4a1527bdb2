//! The one future that moves a connection: it receives, hands over in order, and sends.
//!
//! All three happen in one task, so that a message costs no hop between tasks: what a read brings is handled, and
//! what the handlers sent is written with one system call before the task sleeps.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use nudge_wire::Message;
use tokio::time::{Instant, Sleep, sleep};

use crate::{
    ConnectionClosed, FrameTransport, OutgoingFrames, Transport,
    call::CallState,
    inbound::{InboundItem, InboundReader},
    pace::ReadPace,
    quiet::QuietWatch,
    router::{HandlerDelivery, HandlerLane, MethodRouter},
    running::{CurrentHandler, run_beside, start},
    shared::ConnectionShared,
    stall::QueueStall,
    transport::ChildExit,
};

/// Messages handled between two looks at the transport.
const TURN: usize = 64;
/// Rounds before other tasks of the thread get a turn.
const ROUNDS: usize = 16;
/// How long is waited for what still comes: the exit status of a child after its output ended, its output after it
/// exited or its input broke, the answers of handlers after this side closed the connection.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(crate) struct ConnectionDriver {
    shared: Arc<ConnectionShared>,
    router: MethodRouter,
    transport: Box<dyn FrameTransport>,
    exit: Option<ChildExit>,
    inbound: InboundReader,
    /// The handler that runs in order.
    current: Option<CurrentHandler>,
    /// Taken off the queue and not yet taken by the transport.
    sending: OutgoingFrames,
    unflushed: bool,
    phase: Phase,
    stall: QueueStall,
    pace: ReadPace,
    quiet: QuietWatch,
    /// Whether the next message needs a place beside the queue and there is none.
    seats_taken: bool,
}

/// How far a connection has come. It only moves on.
enum Phase {
    Open,
    /// Something is over, but the other side may still have something to say.
    LastWords {
        why: ConnectionClosed,
        until: Pin<Box<Sleep>>,
    },
    /// Nothing more is read; waiting for the exit status of a child.
    Ending {
        why: ConnectionClosed,
        until: Pin<Box<Sleep>>,
    },
    /// What was taken is finished and written.
    Draining {
        why: ConnectionClosed,
        until: Pin<Box<Sleep>>,
    },
    /// This side closes: open requests are answered, what is left is written.
    Closing {
        until: Pin<Box<Sleep>>,
    },
    Over,
}

impl ConnectionDriver {
    pub(crate) fn new(shared: Arc<ConnectionShared>, router: MethodRouter, transport: Transport) -> Self {
        let Transport { mut frames, exit, .. } = transport;
        frames.set_max_message(shared.limits.max_message);
        Self {
            inbound: InboundReader::new(Arc::clone(&shared)),
            shared,
            router,
            transport: frames,
            exit,
            current: None,
            sending: OutgoingFrames::default(),
            unflushed: false,
            phase: Phase::Open,
            stall: QueueStall::default(),
            pace: ReadPace::default(),
            quiet: QuietWatch::default(),
            seats_taken: false,
        }
    }

    /// Tells the other side that the connection is over, where the transport has a way to.
    pub(crate) fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let why = self.shared.closed().unwrap_or(ConnectionClosed::Local);
        self.transport.poll_close(cx, &why)
    }

    /// Ends the connection: drops the transport, so that a child process sees the end of its input, and gives the
    /// handle of that process, which is killed when the handle is dropped.
    pub(crate) fn close(mut self) -> Option<ChildExit> {
        self.shared.close(&ConnectionClosed::Local);
        self.exit.take()
    }

    /// Whether everything received so far has been handed over and handled in order.
    pub(crate) fn has_caught_up(&self) -> bool {
        self.current.is_none() && self.inbound.is_empty()
    }

    /// Moves the connection as far as it goes now. Ready when it is over.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ConnectionClosed> {
        self.shared.waker.register(cx.waker());
        for _ in 0..ROUNDS {
            if let Some(why) = self.shared.closed() {
                return Poll::Ready(self.over(why));
            }
            let may_read = self.may_read(cx);
            let mut moved = may_read && self.poll_receive(cx);
            moved |= self.poll_handlers(cx);
            moved |= self.poll_send(cx);
            moved |= !may_read && self.may_read(cx);
            if !matches!(self.phase, Phase::Open | Phase::LastWords { .. }) && self.has_caught_up() {
                self.shared.input_over.cancel();
            }
            if let Some(over) = self.poll_phase(cx) {
                return Poll::Ready(over);
            }
            if !moved {
                if let Some(tap) = &self.shared.tap {
                    tap.flush();
                }
                let in_bulk = self.transport.is_mid_frame() || !self.sending.is_empty();
                self.pace.rest(cx, self.inbound.frames(), in_bulk);
                if self.quiet.has_begun(cx) {
                    self.give_back_memory();
                }
                return Poll::Pending;
            }
            self.pace.moved(self.inbound.frames());
            self.quiet.moved();
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Gives back what is only needed while messages come and go.
    fn give_back_memory(&mut self) {
        self.sending.shrink();
        self.inbound.shrink();
        self.shared.shrink();
        self.transport.rest();
    }

    /// Whether there is room for more, or more must be taken in because the queue cannot move without it.
    fn may_read(&mut self, cx: &mut Context<'_>) -> bool {
        if !matches!(self.phase, Phase::Open | Phase::LastWords { .. }) {
            return false;
        }
        let limits = &self.shared.limits;
        let (awaited, blocked) = (self.shared.pending.has_callers(), self.shared.is_order_blocked());
        // Whoever makes us answer faster than it reads has to wait.
        if !awaited && !blocked && self.shared.outbound.bytes() > 3 * limits.outbound_soft {
            return false;
        }
        let bytes = self.inbound.bytes();
        if bytes < limits.inbound_soft {
            return true;
        }
        if bytes >= limits.inbound_hard {
            if self.stall.is_hopeless(cx, limits) {
                self.shared.close(&ConnectionClosed::InboundFull { held: bytes, limit: limits.inbound_hard });
            }
            return false;
        }
        // The response that would let it move is behind it, for all one can know.
        if awaited && (blocked || self.seats_taken) {
            return true;
        }
        (awaited || blocked) && self.stall.may_pass(cx, bytes, limits)
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> bool {
        let Self { transport, inbound, .. } = self;
        match transport.poll_receive(cx, &mut |piece| inbound.take(piece)) {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(why)) => self.end(why),
        }
        true
    }

    fn poll_handlers(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        for _ in 0..TURN {
            if let Some(current) = &mut self.current {
                if current.poll(cx, &self.shared).is_pending() {
                    return moved;
                }
                self.current = None;
                self.item_done();
            }
            if !self.next_item(cx) {
                return moved;
            }
            moved = true;
        }
        moved
    }

    /// An item of the queue is handled, or goes on beside it.
    fn item_done(&mut self) {
        self.shared.count_handled();
        self.stall.moved();
    }

    /// Begins with the next message. `false` if there is none or it has to wait.
    fn next_item(&mut self, cx: &mut Context<'_>) -> bool {
        self.seats_taken = self.must_wait_for_seat();
        if self.seats_taken {
            return false;
        }
        let Some(item) = self.inbound.pop() else { return false };
        let bytes = item.bytes();
        match item {
            InboundItem::Message { message, call } => self.begin(cx, message, call, bytes),
            InboundItem::Passed { message, responder } => {
                self.current = Some(CurrentHandler::passing(message, responder));
            }
            InboundItem::Refusal { id, error, batch } => {
                self.current = CurrentHandler::refusal(&self.shared, &id, &error, batch.as_ref());
            }
        }
        if self.current.is_none() {
            self.item_done();
        }
        true
    }

    /// Whether the next message is for a handler beside the queue and there is no place.
    fn must_wait_for_seat(&self) -> bool {
        match self.inbound.peek() {
            Some(InboundItem::Message { message, call }) => {
                self.shared.is_beside_full()
                    && !call.as_ref().is_some_and(|call| call.is_answered())
                    && matches!(
                        self.router.find(message, self.shared.version.get()),
                        Some((HandlerLane::Beside, _))
                    )
            }
            _ => false,
        }
    }

    fn begin(&mut self, cx: &mut Context<'_>, message: Message, call: Option<Arc<CallState>>, bytes: usize) {
        if call.as_ref().is_some_and(|call| call.is_answered()) {
            return;
        }
        let Some((lane, handler)) = self.router.find(&message, self.shared.version.get()) else {
            self.current = call.map(|call| CurrentHandler::unknown(&self.shared, &message, call));
            return;
        };
        let delivery = HandlerDelivery { message, call: call.clone(), shared: Arc::clone(&self.shared) };
        let Some(running) = start(handler, delivery, call.as_ref(), &self.shared) else { return };
        match lane {
            HandlerLane::InOrder => self.current = Some(CurrentHandler::new(running, call)),
            HandlerLane::Beside => run_beside(cx, &self.shared, running, call, bytes),
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        loop {
            if self.sending.is_empty() {
                self.shared.outbound.take(&mut self.sending);
            }
            if self.sending.is_empty() {
                break;
            }
            let before = self.sending.bytes();
            match self.transport.poll_send(cx, &mut self.sending) {
                Poll::Pending => return moved,
                Poll::Ready(Ok(())) if self.sending.bytes() == before => {
                    self.cannot_write(io::Error::from(io::ErrorKind::WriteZero).into());
                    return true;
                }
                Poll::Ready(Ok(())) => {
                    self.shared.outbound.wrote(before - self.sending.bytes());
                    self.unflushed = true;
                    self.wrote();
                    moved = true;
                }
                Poll::Ready(Err(why)) => {
                    self.cannot_write(why);
                    return true;
                }
            }
        }
        if self.unflushed {
            match self.transport.poll_flush(cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => self.unflushed = false,
                Poll::Ready(Err(why)) => self.cannot_write(why),
            }
        }
        moved
    }

    /// The other side reads: what is left gets its time anew.
    fn wrote(&mut self) {
        if let Phase::Draining { until, .. } = &mut self.phase {
            until.as_mut().reset(Instant::now() + self.shared.limits.drain);
        }
    }

    /// The other side takes nothing more. It may still have said something, and a child its last words.
    fn cannot_write(&mut self, why: ConnectionClosed) {
        self.shared.cannot_write(why.clone());
        self.sending.clear();
        self.unflushed = false;
        self.last_words(why);
    }

    /// The connection will end, but reading goes on for a while.
    fn last_words(&mut self, why: ConnectionClosed) {
        if matches!(self.phase, Phase::Open) {
            self.phase = Phase::LastWords { why, until: Box::pin(sleep(LAST_WORDS)) };
        }
    }

    /// Nothing more will be read.
    fn end(&mut self, why: ConnectionClosed) {
        if matches!(self.phase, Phase::Open | Phase::LastWords { .. }) {
            self.phase = Phase::Ending { why, until: Box::pin(sleep(LAST_WORDS)) };
        }
    }

    /// Moves an ending connection on. Tells when it is over.
    fn poll_phase(&mut self, cx: &mut Context<'_>) -> Option<ConnectionClosed> {
        if matches!(self.phase, Phase::Open) {
            self.poll_open(cx);
        }
        if let Phase::LastWords { why, until } = &mut self.phase
            && until.as_mut().poll(cx).is_ready()
        {
            let why = why.clone();
            self.end(why);
        }
        if let Phase::Ending { why, until } = &mut self.phase {
            let why = match &mut self.exit {
                None => why.clone(),
                Some(exit) => match exit.poll_report(cx) {
                    Poll::Ready(report) => ConnectionClosed::Exited(report),
                    Poll::Pending if until.as_mut().poll(cx).is_pending() => return None,
                    Poll::Pending => why.clone(),
                },
            };
            self.shared.fail_pending(&why);
            self.phase = Phase::Draining { why, until: Box::pin(sleep(self.shared.limits.drain)) };
            // The handlers that have just been told go on.
            cx.waker().wake_by_ref();
        }
        match &self.phase {
            Phase::Draining { .. } => self.poll_draining(cx),
            Phase::Closing { .. } => self.poll_closing(cx),
            _ => None,
        }
    }

    /// Looks whether there is a reason to end.
    fn poll_open(&mut self, cx: &mut Context<'_>) {
        if self.shared.is_closing() {
            self.phase = Phase::Closing { until: Box::pin(sleep(LAST_WORDS)) };
            for call in self.shared.calls.all() {
                self.shared.cancel(&call);
            }
            cx.waker().wake_by_ref();
        } else if let Some(exit) = &mut self.exit
            && let Poll::Ready(report) = exit.poll_report(cx)
        {
            // Its output may be held open by a process it started.
            self.last_words(ConnectionClosed::Exited(report));
            cx.waker().wake_by_ref();
        }
    }

    fn poll_draining(&mut self, cx: &mut Context<'_>) -> Option<ConnectionClosed> {
        let done = self.has_caught_up()
            && !self.shared.has_beside()
            && self.shared.calls.is_empty()
            && self.is_all_written();
        let unwritten = self.shared.outbound.bytes();
        let Phase::Draining { why, until } = &mut self.phase else { return None };
        // A request sent now would never be answered.
        if !self.shared.pending.is_empty() {
            self.shared.fail_pending(why);
        }
        let why = if done {
            why.clone()
        } else if until.as_mut().poll(cx).is_ready() {
            if unwritten > 0 { unread(unwritten) } else { why.clone() }
        } else {
            return None;
        };
        Some(self.over(why))
    }

    fn poll_closing(&mut self, cx: &mut Context<'_>) -> Option<ConnectionClosed> {
        let done = self.shared.calls.is_empty() && self.is_all_written();
        let Phase::Closing { until } = &mut self.phase else { return None };
        (done || until.as_mut().poll(cx).is_ready()).then(|| self.over(ConnectionClosed::Local))
    }

    fn is_all_written(&self) -> bool {
        self.sending.is_empty() && self.shared.outbound.bytes() == 0 && !self.unflushed
    }

    fn over(&mut self, why: ConnectionClosed) -> ConnectionClosed {
        self.phase = Phase::Over;
        // With the handlers goes what they hold: whoever waits for one of them to say something learns of the end.
        self.router = MethodRouter::default();
        self.current = None;
        self.inbound.clear();
        self.shared.close(&why);
        if let Some(tap) = &self.shared.tap {
            tap.flush();
        }
        self.shared.closed().unwrap_or(why)
    }
}

impl Drop for ConnectionDriver {
    fn drop(&mut self) {
        self.shared.close(&ConnectionClosed::Local);
    }
}

/// The end of a connection whose other side stopped reading.
fn unread(bytes: usize) -> ConnectionClosed {
    let what = format!("the other side did not read the last {bytes} bytes");
    io::Error::new(io::ErrorKind::TimedOut, what).into()
}

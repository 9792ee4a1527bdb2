//! The one future that moves a connection: it reads, hands over in order, and writes.
//!
//! All three happen in one task, so that a message costs no hop between tasks: what a read brings is handled, and
//! what the handlers sent is written with one system call before the task sleeps.

use std::{
    collections::VecDeque,
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, Bytes};
use nudge_wire::Message;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, Sleep, sleep},
};
use tokio_util::io::poll_read_buf;

use crate::{
    Closed, Transport,
    call::Call,
    inbound::{Inbound, Item},
    pace::Pace,
    router::{Delivery, Lane, Router},
    running::{Current, refuse_unknown, run_beside, start},
    shared::{Charge, Shared},
    transport::Exit,
};

/// How much is asked for with one read.
const READ: usize = 64 * 1024;
/// Messages handled between two looks at the pipe.
const TURN: usize = 64;
/// Rounds before other tasks of the thread get a turn.
const ROUNDS: usize = 16;
/// How long the exit status of a child is waited for after its output ended, and its output after its input broke.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(crate) struct Driver {
    shared: Arc<Shared>,
    router: Router,
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    exit: Option<Exit>,
    inbound: Inbound,
    current: Option<Current>,
    writing: VecDeque<Bytes>,
    unflushed: bool,
    phase: Phase,
    /// Why nothing can be written any more, and until when the other side may still have something to say.
    broken: Option<(Closed, Pin<Box<Sleep>>)>,
    /// When reading goes on although the queue is full.
    stall: Option<Pin<Box<Sleep>>>,
    stalled: bool,
    pace: Pace,
    /// Whether handlers beside the queue are all taken and the next message needs one.
    seats_taken: bool,
}

enum Phase {
    Open,
    /// The other side closed its end or the pipe broke; waiting for the exit status of a child.
    Ending {
        why: Closed,
        until: Pin<Box<Sleep>>,
    },
    /// Nothing more comes; what was taken is finished.
    Draining {
        why: Closed,
        until: Pin<Box<Sleep>>,
    },
    Over,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, router: Router, transport: Transport) -> Self {
        Self {
            inbound: Inbound::new(Arc::clone(&shared)),
            shared,
            router,
            reader: transport.reader,
            writer: transport.writer,
            exit: transport.exit,
            current: None,
            writing: VecDeque::new(),
            unflushed: false,
            phase: Phase::Open,
            broken: None,
            stall: None,
            stalled: false,
            pace: Pace::default(),
            seats_taken: false,
        }
    }

    /// Ends the connection: closes both pipes, so that a child process sees the end of its input, and gives the
    /// handle of that process, which is killed when the handle is dropped.
    pub(crate) fn close(mut self) -> Option<Exit> {
        self.shared.close(&Closed::Local);
        self.exit.take()
    }

    /// Whether everything received so far has been handed over and handled in order.
    pub(crate) fn has_caught_up(&self) -> bool {
        self.current.is_none() && self.inbound.queue.is_empty()
    }

    /// Moves the connection as far as it goes now. Ready when it is over.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Closed> {
        self.shared.waker.register(cx.waker());
        for _ in 0..ROUNDS {
            if let Some(why) = self.shared.closed() {
                return Poll::Ready(self.over(why));
            }
            let may_read = self.may_read(cx);
            let mut moved = may_read && self.poll_read(cx);
            moved |= self.poll_handlers(cx);
            moved |= self.poll_write(cx);
            moved |= !may_read && self.may_read(cx);
            if let Some(over) = self.poll_phase(cx) {
                return Poll::Ready(over);
            }
            if !moved {
                if let Some(tap) = &self.shared.tap {
                    tap.flush();
                }
                self.pace.rest(cx);
                return Poll::Pending;
            }
            self.pace.moved();
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Whether the inbound queue has room, or must be read past because somebody needs what is behind it.
    fn may_read(&mut self, cx: &mut Context<'_>) -> bool {
        if !matches!(self.phase, Phase::Open) {
            return false;
        }
        let held = self.shared.held();
        let limits = &self.shared.limits;
        if held < limits.inbound_soft {
            self.stall = None;
            self.stalled = false;
            return true;
        }
        if !self.shared.pending.has_callers() || !self.is_stuck(cx) {
            return false;
        }
        if held >= self.shared.limits.inbound_hard {
            self.shared.close(&Closed::InboundFull { held, limit: self.shared.limits.inbound_hard });
            return false;
        }
        true
    }

    /// Whether the queue cannot be expected to move without a response: its handler waits for the other side to read,
    /// it is empty and all that is held is held beside it, there is no seat beside it, or it has stood for a while.
    fn is_stuck(&mut self, cx: &mut Context<'_>) -> bool {
        let idle = self.current.is_none() && self.inbound.queue.is_empty();
        if idle || self.seats_taken || self.shared.order_blocked.load(Ordering::Relaxed) || self.stalled {
            return true;
        }
        let wait = self.shared.limits.stall;
        let timer = self.stall.get_or_insert_with(|| Box::pin(sleep(wait)));
        self.stalled = timer.as_mut().poll(cx).is_ready();
        self.stalled
    }

    /// An item of the queue is handled: it is not stalled.
    fn item_done(&mut self) {
        self.shared.count_handled();
        self.stalled = false;
        if let Some(timer) = &mut self.stall {
            timer.as_mut().reset(Instant::now() + self.shared.limits.stall);
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> bool {
        let buffer = &mut self.inbound.buffer;
        // A large message is read in larger and larger pieces.
        buffer.reserve(READ.max(buffer.len().min(8 * READ)));
        match poll_read_buf(Pin::new(self.reader.as_mut()), cx, buffer) {
            Poll::Pending => false,
            Poll::Ready(Ok(0)) => {
                self.inbound.finish();
                self.end(Closed::Eof);
                true
            }
            Poll::Ready(Ok(_)) => {
                self.inbound.take();
                true
            }
            Poll::Ready(Err(error)) => {
                self.end(error.into());
                true
            }
        }
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

    /// Begins with the next message. `false` if there is none or it has to wait.
    fn next_item(&mut self, cx: &mut Context<'_>) -> bool {
        self.seats_taken = self.must_wait_for_seat();
        if self.seats_taken {
            return false;
        }
        match self.inbound.queue.pop_front() {
            Some(Item::Message { message, call, charge }) => self.begin(cx, message, call, charge),
            Some(Item::Passed { message, responder, charge }) => {
                self.current = Some(Current::passing(message, responder, charge));
            }
            Some(Item::Refusal { id, error, batch, charge }) => {
                self.current = Current::refusal(&self.shared, &id, &error, batch.as_ref(), charge);
            }
            None => return false,
        }
        if self.current.is_none() {
            self.item_done();
        }
        true
    }

    /// Whether the next message is for a handler beside the queue and there is no seat.
    fn must_wait_for_seat(&self) -> bool {
        match self.inbound.queue.front() {
            Some(Item::Message { message, .. }) => {
                self.shared.beside() >= self.shared.limits.max_beside
                    && matches!(self.router.find(message), Some((Lane::Beside, _)))
            }
            _ => false,
        }
    }

    fn begin(&mut self, cx: &mut Context<'_>, message: Message, call: Option<Arc<Call>>, charge: Charge) {
        if call.as_ref().is_some_and(|call| call.is_answered()) {
            return;
        }
        let Some((lane, handler)) = self.router.find(&message) else {
            refuse_unknown(&self.shared, &message, call.as_ref());
            return;
        };
        let delivery = Delivery { message, call: call.clone(), shared: Arc::clone(&self.shared) };
        let Some(running) = start(handler, delivery, call.as_ref(), &self.shared) else { return };
        match lane {
            Lane::InOrder => self.current = Some(Current::new(running, call, charge)),
            Lane::Beside => run_beside(cx, &self.shared, running, call, charge),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        loop {
            if self.writing.is_empty() {
                self.shared.outbound.take(&mut self.writing);
            }
            if self.writing.is_empty() {
                break;
            }
            match poll_write_some(self.writer.as_mut(), cx, &self.writing) {
                Poll::Pending => return moved,
                Poll::Ready(Ok(count)) if count > 0 => {
                    advance(&mut self.writing, count);
                    self.shared.outbound.wrote(count);
                    self.unflushed = true;
                    moved = true;
                }
                Poll::Ready(outcome) => {
                    let error = outcome.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into());
                    self.cannot_write(error);
                    return true;
                }
            }
        }
        if self.unflushed {
            match Pin::new(&mut self.writer).poll_flush(cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => self.unflushed = false,
                Poll::Ready(Err(error)) => self.cannot_write(error),
            }
        }
        moved
    }

    /// The other side takes nothing more. It may still have said something, and a child its last words.
    fn cannot_write(&mut self, error: io::Error) {
        self.shared.outbound.close();
        self.writing.clear();
        self.unflushed = false;
        match self.phase {
            Phase::Open => {
                self.broken.get_or_insert_with(|| (error.into(), Box::pin(sleep(LAST_WORDS))));
            }
            // Whatever ended it before is the better reason.
            Phase::Ending { .. } | Phase::Draining { .. } | Phase::Over => {}
        }
    }

    /// Nothing more will be read.
    fn end(&mut self, why: Closed) {
        if matches!(self.phase, Phase::Open) {
            self.phase = Phase::Ending { why, until: Box::pin(sleep(LAST_WORDS)) };
        }
    }

    /// Moves an ending connection on. Tells when it is over.
    fn poll_phase(&mut self, cx: &mut Context<'_>) -> Option<Closed> {
        if let (Phase::Open, Some((why, until))) = (&self.phase, &mut self.broken)
            && until.as_mut().poll(cx).is_ready()
        {
            let why = why.clone();
            self.end(why);
        }
        if matches!(self.phase, Phase::Open) && self.shared.is_closing() && self.all_written() {
            return Some(self.over(Closed::Local));
        }
        if let Phase::Ending { why, until } = &mut self.phase {
            let why = match &mut self.exit {
                None => why.clone(),
                Some(exit) => match exit.poll_report(cx) {
                    Poll::Ready(report) => Closed::Exited(report),
                    Poll::Pending if until.as_mut().poll(cx).is_pending() => return None,
                    Poll::Pending => why.clone(),
                },
            };
            self.shared.fail_pending(&why);
            let until = Box::pin(sleep(self.shared.limits.drain));
            self.phase = Phase::Draining { why, until };
            // The handlers that have just been told go on.
            cx.waker().wake_by_ref();
        }
        if let Phase::Draining { why, until } = &mut self.phase {
            // A request sent now would never be answered.
            if !self.shared.pending.is_empty() {
                self.shared.fail_pending(why);
            }
            let idle = self.current.is_none()
                && self.inbound.queue.is_empty()
                && self.shared.beside() == 0
                && self.shared.calls.is_empty();
            let written = self.writing.is_empty() && self.shared.outbound.is_empty() && !self.unflushed;
            if (idle && written) || until.as_mut().poll(cx).is_ready() {
                let why = why.clone();
                return Some(self.over(why));
            }
        }
        None
    }

    fn all_written(&self) -> bool {
        self.writing.is_empty() && self.shared.outbound.is_empty() && !self.unflushed
    }

    fn over(&mut self, why: Closed) -> Closed {
        self.phase = Phase::Over;
        // With the handlers goes what they hold: whoever waits for one of them to say something learns of the end.
        self.router = Router::default();
        self.current = None;
        self.inbound.queue.clear();
        self.shared.close(&why);
        if let Some(tap) = &self.shared.tap {
            tap.flush();
        }
        self.shared.closed().unwrap_or(why)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.close(&Closed::Local);
    }
}

fn poll_write_some(
    writer: &mut (dyn AsyncWrite + Send + Unpin),
    cx: &mut Context<'_>,
    chunks: &VecDeque<Bytes>,
) -> Poll<io::Result<usize>> {
    let mut slices = [IoSlice::new(&[]); 16];
    let mut count = 0;
    for (slice, chunk) in slices.iter_mut().zip(chunks) {
        *slice = IoSlice::new(chunk);
        count += 1;
    }
    if count == 1 {
        return Pin::new(writer).poll_write(cx, &slices[0]);
    }
    Pin::new(writer).poll_write_vectored(cx, &slices[..count])
}

fn advance(chunks: &mut VecDeque<Bytes>, mut count: usize) {
    while let Some(front) = chunks.front_mut() {
        if count < front.len() {
            front.advance(count);
            return;
        }
        count -= front.len();
        chunks.pop_front();
    }
}

//! A transport that somebody else can end.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use nudge_wire::frame::FramePiece;
use parking_lot::Mutex;

use super::{FrameTransport, OutgoingFrames, Transport};
use crate::ConnectionClosed;

/// The means to end a transport from elsewhere.
pub struct TransportCut(Arc<Mutex<State>>);

impl TransportCut {
    /// Closes the transport, at once. The connection finds the end of its input, and that it cannot write. A line without its
    /// end is dropped.
    pub fn now(self) {
        let mut state = self.0.lock();
        let closed = (state.transport.take(), state.waiting.take());
        drop(state);
        if let (_, Some(waiting)) = closed {
            waiting.wake();
        }
    }
}

impl Transport {
    /// The same transport, and the means to end it from elsewhere.
    pub fn with_cut(self) -> (Self, TransportCut) {
        let Self { name, frames, exit } = self;
        let state = Arc::new(Mutex::new(State { transport: Some(frames), waiting: None }));
        let frames = Box::new(Cuttable(Arc::clone(&state)));
        (Self { name, frames, exit }, TransportCut(state))
    }
}

/// A transport, shared with whoever may close it.
struct Cuttable(Arc<Mutex<State>>);

struct State {
    /// Gone once it was closed.
    transport: Option<Box<dyn FrameTransport>>,
    /// Whoever waits for the transport.
    waiting: Option<Waker>,
}

impl Cuttable {
    /// Does `what` with the transport; `None` if it was closed.
    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        what: impl FnOnce(&mut dyn FrameTransport, &mut Context<'_>) -> Poll<T>,
    ) -> Option<Poll<T>> {
        // Whoever caught the panic of a transport does not use it again.
        let mut state = self.0.lock();
        let polled = what(state.transport.as_mut()?.as_mut(), cx);
        if polled.is_pending() && !state.waiting.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            state.waiting = Some(cx.waker().clone());
        }
        Some(polled)
    }
}

impl FrameTransport for Cuttable {
    fn set_max_message(&mut self, max: usize) {
        if let Some(transport) = &mut self.0.lock().transport {
            transport.set_max_message(max);
        }
    }

    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        deliver: &mut dyn FnMut(FramePiece),
    ) -> Poll<Result<(), ConnectionClosed>> {
        let received = self.poll(cx, |transport, cx| transport.poll_receive(cx, deliver));
        received.unwrap_or(Poll::Ready(Err(ConnectionClosed::Eof)))
    }

    fn is_mid_frame(&self) -> bool {
        self.0.lock().transport.as_ref().is_some_and(|transport| transport.is_mid_frame())
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut OutgoingFrames,
    ) -> Poll<Result<(), ConnectionClosed>> {
        self.poll(cx, |transport, cx| transport.poll_send(cx, frames)).unwrap_or_else(broken)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionClosed>> {
        self.poll(cx, |transport, cx| transport.poll_flush(cx)).unwrap_or_else(broken)
    }

    fn rest(&mut self) {
        if let Some(transport) = &mut self.0.lock().transport {
            transport.rest();
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, why: &ConnectionClosed) -> Poll<()> {
        self.poll(cx, |transport, cx| transport.poll_close(cx, why)).unwrap_or(Poll::Ready(()))
    }
}

fn broken<T>() -> Poll<Result<T, ConnectionClosed>> {
    Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()))
}

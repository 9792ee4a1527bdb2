//! A transport that somebody else can end.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Transport;

/// The means to end a transport from elsewhere.
pub struct Cut {
    reader: End<dyn AsyncRead + Send + Unpin>,
    writer: End<dyn AsyncWrite + Send + Unpin>,
}

impl Cut {
    /// Closes both streams, at once. The connection finds the end of its input, and that it cannot write.
    pub fn now(self) {
        self.reader.close();
        self.writer.close();
    }
}

impl Transport {
    /// The same transport, and the means to end it from elsewhere.
    pub fn with_cut(self) -> (Self, Cut) {
        let cut = Cut { reader: End::new(self.reader), writer: End::new(self.writer) };
        let reader = Box::new(End(Arc::clone(&cut.reader.0)));
        let writer = Box::new(End(Arc::clone(&cut.writer.0)));
        (Self { name: self.name, reader, writer, exit: self.exit }, cut)
    }
}

/// One stream, shared with whoever may close it.
struct End<S: ?Sized>(Arc<Mutex<State<S>>>);

struct State<S: ?Sized> {
    /// Gone once it was closed.
    stream: Option<Box<S>>,
    /// Whoever waits for the stream.
    waiting: Option<Waker>,
}

impl<S: ?Sized> End<S> {
    fn new(stream: Box<S>) -> Self {
        Self(Arc::new(Mutex::new(State { stream: Some(stream), waiting: None })))
    }

    fn close(&self) {
        let mut state = self.0.lock();
        let closed = (state.stream.take(), state.waiting.take());
        drop(state);
        if let (_, Some(waiting)) = closed {
            waiting.wake();
        }
    }

    /// Does `what` with the stream; `None` if it was closed.
    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        what: impl FnOnce(&mut S, &mut Context<'_>) -> Poll<T>,
    ) -> Option<Poll<T>> {
        // Whoever caught the panic of a stream does not use it again.
        let mut state = self.0.lock();
        let polled = what(state.stream.as_mut()?, cx);
        if polled.is_pending() && !state.waiting.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            state.waiting = Some(cx.waker().clone());
        }
        Some(polled)
    }
}

impl AsyncRead for End<dyn AsyncRead + Send + Unpin> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.poll(cx, |mut stream, cx| Pin::new(&mut stream).poll_read(cx, buffer));
        read.unwrap_or(Poll::Ready(Ok(())))
    }
}

impl AsyncWrite for End<dyn AsyncWrite + Send + Unpin> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll(cx, |mut stream, cx| Pin::new(&mut stream).poll_write(cx, bytes)).unwrap_or_else(broken)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.poll(cx, |mut stream, cx| Pin::new(&mut stream).poll_write_vectored(cx, slices));
        written.unwrap_or_else(broken)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(cx, |mut stream, cx| Pin::new(&mut stream).poll_flush(cx)).unwrap_or_else(broken)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(cx, |mut stream, cx| Pin::new(&mut stream).poll_shutdown(cx)).unwrap_or_else(broken)
    }
}

fn broken<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
}

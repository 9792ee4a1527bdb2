//! Frames as lines of a byte stream.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::BytesMut;
use nudge_wire::frame::{FramePiece, LineFramer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::poll_read_buf;

use super::{FrameTransport, OutgoingFrames, spare};
use crate::ConnectionClosed;

/// How much is asked for with one read.
const READ: usize = 64 * 1024;
/// Up to this, the beginning of a line is copied, and the thread's buffer that it was read into is given back. What is longer
/// is read on in a buffer of the connection's own, until it rests.
const SMALL: usize = 4 * 1024;
/// A buffer that has grown past this is given back once the message that needed it is through.
const LARGE: usize = 1024 * 1024;

/// One message a line, over two byte streams.
pub(super) struct LineTransport {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    framer: LineFramer,
    /// The beginning of a line whose end has not been read.
    rest: BytesMut,
    /// Whether what is read goes behind `rest` and not into the thread's buffer.
    has_buffer: bool,
    /// Whether the buffer of `rest` has held a large message.
    grown: bool,
}

impl LineTransport {
    pub(super) fn new(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
    ) -> Self {
        Self {
            reader,
            writer,
            framer: LineFramer::new(usize::MAX),
            rest: BytesMut::new(),
            has_buffer: false,
            grown: false,
        }
    }

    /// Reads behind a copy of the short `rest`, in the thread's buffer.
    fn poll_read_spare(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(usize, BytesMut)>> {
        let mut buffer = spare::take();
        // Buffers that grow from here double. With a power of two they stay clear of sizes that the allocator gives back to the
        // system and takes again for each message.
        buffer.reserve(READ);
        buffer.extend_from_slice(&self.rest);
        match poll_read_buf(Pin::new(&mut *self.reader), cx, &mut buffer) {
            Poll::Ready(Ok(count)) => {
                self.rest = BytesMut::new();
                Poll::Ready(Ok((count, buffer)))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                spare::give_back(buffer);
                Poll::Pending
            }
        }
    }

    /// Reads behind `rest`, in larger and larger pieces.
    fn poll_read_rest(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(usize, BytesMut)>> {
        self.rest.reserve(READ.max(self.rest.len().min(8 * READ)));
        let count = ready!(poll_read_buf(Pin::new(&mut *self.reader), cx, &mut self.rest))?;
        Poll::Ready(Ok((count, std::mem::take(&mut self.rest))))
    }

    /// Keeps what is left of the thread's buffer: a copy, or the buffer itself if that is long.
    fn keep_spare(&mut self, buffer: BytesMut) {
        if buffer.len() <= SMALL {
            self.rest = BytesMut::from(&buffer[..]);
            spare::give_back(buffer);
        } else {
            self.rest = buffer;
            self.has_buffer = true;
        }
    }

    /// Keeps what is left of the connection's own buffer, and no more memory than that needs if it was large.
    fn keep_own(&mut self, buffer: BytesMut) {
        self.rest = buffer;
        if self.grown && self.rest.len() <= LARGE {
            self.give_buffer_back();
        }
    }

    fn give_buffer_back(&mut self) {
        self.grown = false;
        self.has_buffer = self.rest.len() > SMALL;
        self.rest = BytesMut::from(&self.rest[..]);
    }
}

impl FrameTransport for LineTransport {
    fn set_max_message(&mut self, max: usize) {
        self.framer = LineFramer::new(max);
    }

    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        deliver: &mut dyn FnMut(FramePiece),
    ) -> Poll<Result<(), ConnectionClosed>> {
        let has_buffer = self.has_buffer;
        let read = if has_buffer { self.poll_read_rest(cx) } else { self.poll_read_spare(cx) };
        let (count, mut buffer) = ready!(read)?;
        if count == 0 {
            self.framer.finish(&mut buffer).into_iter().for_each(deliver);
            return Poll::Ready(Err(ConnectionClosed::Eof));
        }
        self.grown |= buffer.len() > LARGE;
        while let Some(piece) = self.framer.next(&mut buffer) {
            deliver(piece);
        }
        if has_buffer {
            self.keep_own(buffer);
        } else {
            self.keep_spare(buffer);
        }
        Poll::Ready(Ok(()))
    }

    fn is_mid_frame(&self) -> bool {
        !self.rest.is_empty()
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut OutgoingFrames,
    ) -> Poll<Result<(), ConnectionClosed>> {
        let mut slices = [IoSlice::new(&[]); 16];
        let written = match frames.slices(&mut slices) {
            1 => Pin::new(&mut self.writer).poll_write(cx, &slices[0]),
            count => Pin::new(&mut self.writer).poll_write_vectored(cx, &slices[..count]),
        };
        frames.advance(ready!(written)?);
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionClosed>> {
        Pin::new(&mut self.writer).poll_flush(cx).map_err(ConnectionClosed::from)
    }

    fn rest(&mut self) {
        // A long line that comes slowly is not copied each time it stops.
        if self.rest.len() <= SMALL {
            self.give_buffer_back();
        }
    }
}

//! Frames as lines of a byte stream.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use nudge_wire::frame::{FramePiece, LineFramer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::poll_read_buf;

use super::{FrameTransport, Packing, spare};
use crate::ConnectionClosed;

/// How much is asked for with one read.
const READ: usize = 64 * 1024;
/// Up to this, the beginning of a line is copied into the next buffer, and the large buffer it was read into is given back.
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
    /// Whether the buffer of `rest` has held a large message.
    grown: bool,
}

impl LineTransport {
    pub(super) fn new(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
    ) -> Self {
        Self { reader, writer, framer: LineFramer::new(usize::MAX), rest: BytesMut::new(), grown: false }
    }

    /// Reads behind a short `rest` in the thread's buffer.
    fn poll_read_spare(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(usize, BytesMut)>> {
        let mut buffer = spare::take();
        buffer.reserve(READ + SMALL);
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

    /// Reads behind a long `rest`, in larger and larger pieces.
    fn poll_read_rest(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(usize, BytesMut)>> {
        self.rest.reserve(READ.max(self.rest.len().min(8 * READ)));
        let count = ready!(poll_read_buf(Pin::new(&mut *self.reader), cx, &mut self.rest))?;
        Poll::Ready(Ok((count, std::mem::take(&mut self.rest))))
    }

    /// Keeps what is left of `buffer`, the beginning of a line, and no more memory than that needs.
    fn keep(&mut self, buffer: BytesMut, is_spare: bool) {
        if buffer.len() <= SMALL {
            self.rest = BytesMut::from(&buffer[..]);
            self.grown = false;
            if is_spare {
                spare::give_back(buffer);
            }
        } else if self.grown && buffer.len() <= LARGE {
            self.rest = BytesMut::from(&buffer[..]);
            self.grown = false;
        } else {
            self.rest = buffer;
        }
    }
}

impl FrameTransport for LineTransport {
    fn packing(&self) -> Packing {
        Packing::Lines
    }

    fn set_max_message(&mut self, max: usize) {
        self.framer = LineFramer::new(max);
    }

    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        deliver: &mut dyn FnMut(FramePiece),
    ) -> Poll<Result<(), ConnectionClosed>> {
        let is_spare = self.rest.len() <= SMALL;
        let read = if is_spare { self.poll_read_spare(cx) } else { self.poll_read_rest(cx) };
        let (count, mut buffer) = ready!(read)?;
        if count == 0 {
            self.framer.finish(&mut buffer).into_iter().for_each(deliver);
            return Poll::Ready(Err(ConnectionClosed::Eof));
        }
        self.grown |= buffer.len() > LARGE;
        while let Some(piece) = self.framer.next(&mut buffer) {
            deliver(piece);
        }
        self.keep(buffer, is_spare);
        Poll::Ready(Ok(()))
    }

    fn is_mid_frame(&self) -> bool {
        !self.rest.is_empty()
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut VecDeque<Bytes>,
    ) -> Poll<Result<usize, ConnectionClosed>> {
        let count = ready!(poll_write_some(self.writer.as_mut(), cx, frames))?;
        if count == 0 {
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero).into()));
        }
        advance(frames, count);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionClosed>> {
        Pin::new(&mut self.writer).poll_flush(cx).map_err(ConnectionClosed::from)
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

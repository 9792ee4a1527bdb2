//! Two transports in memory: frames pass from queue to queue.

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use bytes::Bytes;
use nudge_wire::frame::{FramePiece, SkimmedFrame};
use parking_lot::Mutex;

use super::{FrameTransport, OutgoingFrames, Transport};
use crate::ConnectionClosed;

/// How much may be on its way in one direction, in bytes, and as much again that is being received; one frame more if it is
/// large.
const ROOM: usize = 256 * 1024;
/// A buffer up to this size is not kept for the next frames.
const SMALL: usize = 4 * 1024;
/// How much is received at one time.
const TAKE: usize = 64 * 1024;

/// Two transports in memory, each the other's other end.
pub fn pair() -> (Transport, Transport) {
    let (there, back) = (Arc::<Lane>::default(), Arc::<Lane>::default());
    let end = |sending: &Arc<Lane>, receiving: &Arc<Lane>| End {
        sending: Arc::clone(sending),
        receiving: Arc::clone(receiving),
        taken: Batch::default(),
        max_message: usize::MAX,
    };
    (Transport::of_frames(end(&there, &back)), Transport::of_frames(end(&back, &there)))
}

/// One end.
struct End {
    sending: Arc<Lane>,
    receiving: Arc<Lane>,
    /// Taken off the lane, and not received yet.
    taken: Batch,
    max_message: usize,
}

/// One direction.
#[derive(Default)]
struct Lane(Mutex<Way>);

#[derive(Default)]
struct Way {
    frames: Batch,
    /// Whether one of the ends is gone.
    closed: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

impl FrameTransport for End {
    fn set_max_message(&mut self, max: usize) {
        self.max_message = max;
    }

    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        deliver: &mut dyn FnMut(FramePiece),
    ) -> Poll<Result<(), ConnectionClosed>> {
        if self.taken.is_empty() {
            ready!(self.poll_take(cx))?;
        }
        let enough = self.taken.bytes().saturating_sub(TAKE);
        while self.taken.bytes() > enough
            && let Some(frame) = self.taken.pop()
        {
            deliver(if frame.len() <= self.max_message {
                FramePiece::Line(frame)
            } else {
                FramePiece::TooLong(SkimmedFrame::of(&frame))
            });
        }
        Poll::Ready(Ok(()))
    }

    fn is_mid_frame(&self) -> bool {
        !self.taken.is_empty()
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut OutgoingFrames,
    ) -> Poll<Result<(), ConnectionClosed>> {
        let mut way = self.sending.0.lock();
        if way.closed {
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()));
        }
        if way.frames.bytes() >= ROOM {
            wait(&mut way.sender, cx);
            return Poll::Pending;
        }
        while way.frames.bytes() < ROOM
            && let Some(chunk) = frames.pop_chunk(ROOM - way.frames.bytes())
        {
            way.frames.push(chunk);
        }
        let receiver = way.receiver.take();
        drop(way);
        if let Some(receiver) = receiver {
            receiver.wake();
        }
        Poll::Ready(Ok(()))
    }

    fn rest(&mut self) {
        self.taken.shrink();
        self.receiving.0.lock().frames.shrink();
    }
}

impl End {
    /// Takes all that is on the lane.
    fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionClosed>> {
        let mut way = self.receiving.0.lock();
        if way.frames.is_empty() {
            if way.closed {
                return Poll::Ready(Err(ConnectionClosed::Eof));
            }
            wait(&mut way.receiver, cx);
            return Poll::Pending;
        }
        std::mem::swap(&mut way.frames, &mut self.taken);
        let sender = way.sender.take();
        drop(way);
        if let Some(sender) = sender {
            sender.wake();
        }
        Poll::Ready(Ok(()))
    }
}

/// Frames in order. The buffer goes back and forth between the ends of a lane, so that nothing is allocated while frames come
/// and go.
#[derive(Default)]
struct Batch {
    /// Small frames, with a newline behind each.
    text: Vec<u8>,
    /// Large frames, as they are, and where in the text they have their place.
    large: VecDeque<(usize, Bytes)>,
    /// How many bytes the large ones have.
    large_bytes: usize,
    /// How much of the text has been taken.
    read: usize,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    fn bytes(&self) -> usize {
        self.text.len() - self.read + self.large_bytes
    }

    /// Adds what [`OutgoingFrames::pop_chunk`] gives.
    fn push(&mut self, chunk: Bytes) {
        if chunk.ends_with(b"\n") {
            self.text.extend_from_slice(&chunk);
        } else {
            self.large_bytes += chunk.len();
            self.large.push_back((self.text.len(), chunk));
        }
    }

    /// Takes the first frame.
    fn pop(&mut self) -> Option<Bytes> {
        let end = self.large.front().map_or(self.text.len(), |(at, _)| *at);
        let text = &self.text[self.read..end];
        // A large frame has its newline before the small one behind it.
        let blank = usize::from(text.starts_with(b"\n"));
        let text = &text[blank..];
        if text.is_empty() {
            self.read += blank;
            let large = self.large.pop_front().map(|(_, frame)| frame);
            self.large_bytes -= large.as_ref().map_or(0, Bytes::len);
            self.forget_read();
            return large;
        }
        let line = memchr::memchr(b'\n', text).unwrap_or(text.len());
        let frame = Bytes::copy_from_slice(&text[..line]);
        self.read += blank + line + 1;
        self.forget_read();
        Some(frame)
    }

    fn forget_read(&mut self) {
        if self.read == self.text.len() && self.large.is_empty() {
            self.read = 0;
            self.text.clear();
            if self.text.capacity() <= SMALL {
                self.text = Vec::new();
            }
        }
    }

    /// Gives back memory that is not in use.
    fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.large.shrink_to_fit();
    }
}

/// Has the task woken when there is something to do.
fn wait(waiting: &mut Option<Waker>, cx: &Context<'_>) {
    if !waiting.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
        *waiting = Some(cx.waker().clone());
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // Nobody is there to receive them.
        self.receiving.0.lock().frames = Batch::default();
        for lane in [&self.sending, &self.receiving] {
            let mut way = lane.0.lock();
            way.closed = true;
            let waiting = (way.sender.take(), way.receiver.take());
            drop(way);
            [waiting.0, waiting.1].into_iter().flatten().for_each(Waker::wake);
        }
    }
}

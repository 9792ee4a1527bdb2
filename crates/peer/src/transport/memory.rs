//! Two transports in memory: frames pass as they are, without being cut or copied.

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use nudge_wire::frame::{FramePiece, SkimmedFrame};
use parking_lot::Mutex;

use super::{FrameTransport, Transport};
use crate::ConnectionClosed;

/// How much may be on its way in one direction, in bytes; one frame more if it is large.
const ROOM: usize = 256 * 1024;
/// How much is received at one time.
const TAKE: usize = 64 * 1024;
/// What a frame costs beyond its bytes.
const OVERHEAD: usize = 64;

/// Two transports in memory, each the other's other end.
pub fn pair() -> (Transport, Transport) {
    let (there, back) = (Arc::<Lane>::default(), Arc::<Lane>::default());
    let end = |sending: &Arc<Lane>, receiving: &Arc<Lane>| End {
        sending: Arc::clone(sending),
        receiving: Arc::clone(receiving),
        taken: Vec::new(),
        max_message: usize::MAX,
    };
    (Transport::of_frames(end(&there, &back)), Transport::of_frames(end(&back, &there)))
}

/// One end.
struct End {
    sending: Arc<Lane>,
    receiving: Arc<Lane>,
    /// Used while frames are received, and empty otherwise.
    taken: Vec<Bytes>,
    max_message: usize,
}

/// One direction.
#[derive(Default)]
struct Lane(Mutex<Way>);

#[derive(Default)]
struct Way {
    frames: VecDeque<Bytes>,
    /// What the frames count for.
    bytes: usize,
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
        let mut way = self.receiving.0.lock();
        if way.frames.is_empty() {
            if way.closed {
                return Poll::Ready(Err(ConnectionClosed::Eof));
            }
            wait(&mut way.receiver, cx);
            return Poll::Pending;
        }
        way.take(&mut self.taken);
        let sender = way.sender.take();
        drop(way);
        if let Some(sender) = sender {
            sender.wake();
        }
        for frame in self.taken.drain(..) {
            deliver(if frame.len() <= self.max_message {
                FramePiece::Line(frame)
            } else {
                FramePiece::TooLong(SkimmedFrame::of(&frame))
            });
        }
        Poll::Ready(Ok(()))
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut VecDeque<Bytes>,
    ) -> Poll<Result<usize, ConnectionClosed>> {
        let mut way = self.sending.0.lock();
        if way.closed {
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()));
        }
        let sent = way.put(frames);
        if sent == 0 {
            wait(&mut way.sender, cx);
            return Poll::Pending;
        }
        let receiver = way.receiver.take();
        drop(way);
        if let Some(receiver) = receiver {
            receiver.wake();
        }
        Poll::Ready(Ok(sent))
    }

    fn rest(&mut self) {
        self.taken = Vec::new();
        self.receiving.0.lock().frames.shrink_to_fit();
    }
}

impl Way {
    /// Takes frames off the front, about [`TAKE`] bytes of them.
    fn take(&mut self, into: &mut Vec<Bytes>) {
        let mut taken = 0;
        while taken < TAKE
            && let Some(frame) = self.frames.pop_front()
        {
            taken += frame.len() + OVERHEAD;
            into.push(frame);
        }
        self.bytes -= taken;
    }

    /// Puts frames behind the others while there is room, and tells how many bytes they have.
    fn put(&mut self, frames: &mut VecDeque<Bytes>) -> usize {
        let mut sent = 0;
        while self.bytes < ROOM
            && let Some(frame) = frames.pop_front()
        {
            sent += frame.len();
            self.bytes += frame.len() + OVERHEAD;
            self.frames.push_back(frame);
        }
        sent
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
        self.receiving.0.lock().frames.clear();
        for lane in [&self.sending, &self.receiving] {
            let mut way = lane.0.lock();
            way.closed = true;
            let waiting = (way.sender.take(), way.receiver.take());
            drop(way);
            [waiting.0, waiting.1].into_iter().flatten().for_each(Waker::wake);
        }
    }
}

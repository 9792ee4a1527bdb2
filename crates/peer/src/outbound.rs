//! Frames on their way out: a byte-bounded queue that many tasks fill and one driver writes.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Semaphore, TryAcquireError};

use crate::OutgoingFrames;

/// Frames from this size on are queued as they are; smaller ones are copied together so that one write takes many.
const OWN_CHUNK: usize = 16 * 1024;

/// A buffer up to this size is not kept once it is queued; a larger one is used again while there is much to send.
const SMALL: usize = 4 * 1024;

pub(crate) struct OutboundQueue {
    queue: Mutex<Queue>,
    /// Room for requests and notifications, and for answers. Answers have room of their own: behind requests that wait
    /// for answers from the other side, they could hold up both sides for ever.
    rooms: [Semaphore; 2],
    soft: usize,
    hard: usize,
}

/// What a frame is, for the room it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// A request or notification.
    Call,
    /// An answer.
    Answer,
}

/// Room taken for one frame. It must be used or given back.
#[must_use]
pub(crate) struct OutboundRoom {
    kind: FrameKind,
    permits: u32,
}

#[derive(Default)]
struct Queue {
    chunks: VecDeque<Bytes>,
    tail: BytesMut,
    /// Bytes ever queued and ever written.
    queued: u64,
    written: u64,
    /// The room to give back when so many bytes have been written.
    ledger: VecDeque<(u64, OutboundRoom)>,
    /// Whether the driver knows that there is something.
    announced: bool,
    closed: bool,
}

/// What became of a frame.
pub(crate) enum PushResult {
    /// Queued; the driver must be woken.
    Wake,
    /// Queued; the driver knows.
    Quiet,
    /// The connection is over.
    Closed,
    /// Queued past the hard limit with this many bytes.
    Overfull(usize),
}

impl OutboundQueue {
    pub(crate) fn new(soft: usize, hard: usize) -> Self {
        // A permit count is a `u32` at the semaphore's door.
        let soft = soft.clamp(1, u32::MAX as usize);
        let rooms = [Semaphore::new(soft), Semaphore::new(soft)];
        Self { queue: Mutex::default(), rooms, soft, hard }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing in this module panics while it holds the lock.
        self.queue.lock()
    }

    fn room(&self, kind: FrameKind) -> &Semaphore {
        &self.rooms[kind as usize]
    }

    fn permits(&self, len: usize) -> u32 {
        u32::try_from(len.min(self.soft)).unwrap_or(u32::MAX)
    }

    /// Takes room for a frame of `len` bytes if there is some now. `None`: one has to wait. `Err`: it is over.
    pub(crate) fn try_room(&self, kind: FrameKind, len: usize) -> Result<Option<OutboundRoom>, ()> {
        let permits = self.permits(len);
        match self.room(kind).try_acquire_many(permits) {
            Ok(permit) => {
                permit.forget();
                Ok(Some(OutboundRoom { kind, permits }))
            }
            Err(TryAcquireError::NoPermits) => Ok(None),
            Err(TryAcquireError::Closed) => Err(()),
        }
    }

    /// Waits for room for a frame of `len` bytes.
    pub(crate) async fn wait_room(&self, kind: FrameKind, len: usize) -> Result<OutboundRoom, ()> {
        let permits = self.permits(len);
        self.room(kind).acquire_many(permits).await.map_err(|_| ())?.forget();
        Ok(OutboundRoom { kind, permits })
    }

    /// Gives back room that is not needed after all.
    pub(crate) fn give_back(&self, room: &OutboundRoom) {
        self.room(room.kind).add_permits(room.permits as usize);
    }

    /// Queues a frame and the newline after it, with the room taken for it, or without any if it does not wait its turn.
    pub(crate) fn push(&self, frame: Vec<u8>, room: Option<OutboundRoom>) -> PushResult {
        let mut queue = self.queue();
        if queue.closed {
            return PushResult::Closed;
        }
        queue.queued += frame.len() as u64 + 1;
        if let Some(room) = room {
            let end = queue.queued;
            queue.ledger.push_back((end, room));
        }
        if frame.len() < OWN_CHUNK {
            queue.tail.reserve(frame.len() + 1);
            queue.tail.extend_from_slice(&frame);
        } else {
            queue.close_tail();
            queue.chunks.push_back(Bytes::from(frame));
        }
        queue.tail.extend_from_slice(b"\n");
        if queue.bytes() > self.hard {
            return PushResult::Overfull(queue.bytes());
        }
        if std::mem::replace(&mut queue.announced, true) { PushResult::Quiet } else { PushResult::Wake }
    }

    /// Moves all that is queued to `into`.
    pub(crate) fn take(&self, into: &mut OutgoingFrames) {
        let mut queue = self.queue();
        queue.announced = false;
        queue.close_tail();
        queue.chunks.drain(..).for_each(|chunk| into.push(chunk));
    }

    /// Gives back the room of frames that have been written whole, now that `count` more bytes have been.
    pub(crate) fn wrote(&self, count: usize) {
        let mut queue = self.queue();
        queue.written += count as u64;
        let mut free = [0; 2];
        while queue.ledger.front().is_some_and(|(end, _)| *end <= queue.written) {
            let Some((_, room)) = queue.ledger.pop_front() else { break };
            free[room.kind as usize] += room.permits as usize;
        }
        drop(queue);
        for (room, free) in self.rooms.iter().zip(free) {
            if free > 0 {
                room.add_permits(free);
            }
        }
    }

    /// How many bytes have not been written yet.
    pub(crate) fn bytes(&self) -> usize {
        self.queue().bytes()
    }

    /// Gives back memory that is not in use.
    pub(crate) fn shrink(&self) {
        let mut queue = self.queue();
        if queue.tail.is_empty() {
            queue.tail = BytesMut::new();
        }
        queue.chunks.shrink_to_fit();
        queue.ledger.shrink_to_fit();
    }

    /// Drops what is queued and takes no more; whoever waits for room is told.
    pub(crate) fn close(&self) {
        let mut queue = self.queue();
        *queue = Queue { closed: true, ..Queue::default() };
        drop(queue);
        for room in &self.rooms {
            room.close();
        }
    }
}

impl Queue {
    fn bytes(&self) -> usize {
        usize::try_from(self.queued.saturating_sub(self.written)).unwrap_or(usize::MAX)
    }

    fn close_tail(&mut self) {
        if !self.tail.is_empty() {
            let is_small = self.tail.capacity() <= SMALL;
            let tail = if is_small { std::mem::take(&mut self.tail) } else { self.tail.split() };
            self.chunks.push_back(tail.freeze());
        }
    }
}

//! Frames on their way out: a byte-bounded queue that many tasks fill and one driver writes.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::{Bytes, BytesMut};
use tokio::sync::{Semaphore, TryAcquireError};

/// Frames from this size on are queued as they are; smaller ones are copied together so that one write takes many.
const OWN_CHUNK: usize = 16 * 1024;

pub(crate) struct Outbound {
    queue: Mutex<Queue>,
    /// Bytes that may still be queued.
    room: Semaphore,
    soft: usize,
    hard: usize,
}

#[derive(Default)]
struct Queue {
    chunks: VecDeque<Bytes>,
    tail: BytesMut,
    bytes: usize,
    /// Permits taken by what is queued and given back as it is written.
    held: usize,
    /// Whether the driver knows that there is something.
    announced: bool,
    closed: bool,
}

/// What became of a frame.
pub(crate) enum Pushed {
    /// Queued; the driver must be woken.
    Wake,
    /// Queued; the driver knows.
    Quiet,
    /// The connection is over.
    Closed,
    /// Queued past the hard limit with this many bytes.
    Overfull(usize),
}

impl Outbound {
    pub(crate) fn new(soft: usize, hard: usize) -> Self {
        // A permit count is a `u32` at the semaphore's door.
        let soft = soft.clamp(1, u32::MAX as usize);
        Self { queue: Mutex::default(), room: Semaphore::new(soft), soft, hard }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing in this module panics while it holds the lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn permits(&self, len: usize) -> u32 {
        u32::try_from(len.min(self.soft)).unwrap_or(u32::MAX)
    }

    /// Takes room for a frame of `len` bytes if there is some now. `None`: one has to wait. `Err`: it is over.
    pub(crate) fn try_room(&self, len: usize) -> Result<Option<usize>, ()> {
        let permits = self.permits(len);
        match self.room.try_acquire_many(permits) {
            Ok(permit) => {
                permit.forget();
                Ok(Some(permits as usize))
            }
            Err(TryAcquireError::NoPermits) => Ok(None),
            Err(TryAcquireError::Closed) => Err(()),
        }
    }

    /// Waits for room for a frame of `len` bytes.
    pub(crate) async fn wait_room(&self, len: usize) -> Result<usize, ()> {
        let permits = self.permits(len);
        self.room.acquire_many(permits).await.map_err(|_| ())?.forget();
        Ok(permits as usize)
    }

    /// Queues a frame and the newline after it. `held` is the room taken for it; zero if it does not wait its turn.
    pub(crate) fn push(&self, frame: Vec<u8>, held: usize) -> Pushed {
        let mut queue = self.queue();
        if queue.closed {
            return Pushed::Closed;
        }
        queue.bytes += frame.len() + 1;
        queue.held += held;
        if frame.len() < OWN_CHUNK {
            queue.tail.extend_from_slice(&frame);
            queue.tail.extend_from_slice(b"\n");
        } else {
            queue.close_tail();
            queue.chunks.push_back(Bytes::from(frame));
            queue.tail.extend_from_slice(b"\n");
        }
        if queue.bytes > self.hard {
            return Pushed::Overfull(queue.bytes);
        }
        if std::mem::replace(&mut queue.announced, true) { Pushed::Quiet } else { Pushed::Wake }
    }

    /// Moves all that is queued to `into`.
    pub(crate) fn take(&self, into: &mut VecDeque<Bytes>) {
        let mut queue = self.queue();
        queue.announced = false;
        queue.close_tail();
        into.append(&mut queue.chunks);
    }

    /// Gives back the room of `count` bytes that have been written.
    pub(crate) fn wrote(&self, count: usize) {
        let mut queue = self.queue();
        queue.bytes = queue.bytes.saturating_sub(count);
        let free = if queue.bytes == 0 { queue.held } else { count.min(queue.held) };
        queue.held -= free;
        drop(queue);
        if free > 0 {
            self.room.add_permits(free);
        }
    }

    /// Whether everything has been written.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue().bytes == 0
    }

    /// Drops what is queued and takes no more; whoever waits for room is told.
    pub(crate) fn close(&self) {
        let mut queue = self.queue();
        *queue = Queue { closed: true, ..Queue::default() };
        drop(queue);
        self.room.close();
    }
}

impl Queue {
    fn close_tail(&mut self) {
        if !self.tail.is_empty() {
            let tail = self.tail.split().freeze();
            self.chunks.push_back(tail);
        }
    }
}

//! Threads with an event loop each, for the connections of the daemon.
//!
//! What is started from a connection, such as the process of its agent and the task of its session, stays on the thread
//! of that connection. So a message changes threads seldom, and every change would cost it tens of microseconds; and
//! still a connection that is busy does not hold up all others.

use std::{
    io,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// How long what still runs may take to end.
const END: Duration = Duration::from_secs(1);

/// After how many tasks that are ready it is looked whether a pipe can be read or written. The task of a session whose
/// agent floods is always ready and takes long; a client must not fall behind because nobody sees that it reads.
const LOOK: u32 = 4;

/// The threads. They end with this value.
pub(crate) struct DaemonThreads {
    rooms: Vec<Room>,
    /// How often one was given out.
    given: usize,
}

struct Room {
    handle: Handle,
    /// Dropped to end it.
    open: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl DaemonThreads {
    /// Starts this many threads, each with some more for what blocks.
    pub(crate) fn open(count: usize, blocking: usize) -> io::Result<Self> {
        let rooms = (0..count).map(|_| Room::open(blocking)).collect::<io::Result<_>>()?;
        Ok(Self { rooms, given: 0 })
    }

    /// The one whose turn it is.
    pub(crate) fn next(&mut self) -> &Handle {
        self.given += 1;
        &self.rooms[self.given % self.rooms.len()].handle
    }
}

impl Room {
    fn open(blocking: usize) -> io::Result<Self> {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_all().event_interval(LOOK).max_blocking_threads(blocking).build()?;
        let handle = runtime.handle().clone();
        let (open, closed) = oneshot::channel();
        let thread = thread::Builder::new().name("nudge-room".to_owned()).spawn(move || {
            // Nothing is ever sent.
            let _ = runtime.block_on(closed);
            runtime.shutdown_timeout(END);
        })?;
        Ok(Self { handle, open: Some(open), thread: Some(thread) })
    }
}

impl Drop for DaemonThreads {
    fn drop(&mut self) {
        // All at once, then one after the other.
        self.rooms.iter_mut().for_each(|room| drop(room.open.take()));
        for thread in self.rooms.iter_mut().filter_map(|room| room.thread.take()) {
            // Panics of tasks stay in them.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_started_in_a_room_stays_there_and_ends_with_it() {
        let mut rooms = DaemonThreads::open(2, 1).unwrap();
        let (sender, threads) = std::sync::mpsc::channel();
        for _ in 0..4 {
            let sender = sender.clone();
            rooms.next().spawn(async move {
                let first = thread::current().id();
                let inner = tokio::spawn(async { thread::current().id() }).await.unwrap();
                sender.send((first, inner)).unwrap();
                std::future::pending::<()>().await;
            });
        }
        drop(sender);
        let mut seen: Vec<_> = (0..4).map(|_| threads.recv().unwrap()).collect();
        assert!(seen.iter().all(|(first, inner)| first == inner));
        seen.sort_by_key(|(first, _)| format!("{first:?}"));
        seen.dedup();
        assert_eq!(seen.len(), 2);
        drop(rooms);
        assert!(threads.recv().is_err(), "all tasks are gone");
    }
}

//! The scripted agent in a thread of its own, reached over a pair of sockets.

use std::{
    io::{self, BufReader},
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use nudge_adapt::LaunchAgent;
use nudge_peer::Transport;
use nudge_testkit::scripted::{Body, serve};
use parking_lot::Mutex;

/// Counts the lives of all agents.
static LIVES: AtomicU32 = AtomicU32::new(1);

/// Starts the agent with these arguments, and notes how each of its lives can be ended.
pub(super) struct InThread {
    pub(super) args: Vec<String>,
    pub(super) lives: Arc<Mutex<Vec<UnixStream>>>,
}

impl LaunchAgent for InThread {
    fn launch(&self) -> io::Result<Transport> {
        let (ours, theirs) = UnixStream::pair()?;
        self.lives.lock().push(theirs.try_clone()?);
        let (args, input, end) = (self.args.clone(), theirs.try_clone()?, theirs.try_clone()?);
        let body = Body {
            name: LIVES.fetch_add(1, Ordering::Relaxed),
            output: Box::new(theirs),
            // Whether the other side is still there does not matter.
            die: Box::new(move || drop(end.shutdown(std::net::Shutdown::Both))),
        };
        std::thread::spawn(move || {
            let over = input.try_clone().expect("there are descriptors left");
            serve(args.into_iter(), BufReader::new(input), body);
            let _ = over.shutdown(std::net::Shutdown::Both);
        });
        ours.set_nonblocking(true)?;
        let (reader, writer) = tokio::net::UnixStream::from_std(ours)?.into_split();
        Ok(Transport::new(reader, writer))
    }
}

//! `nudge acp` beside the daemon: it waits for the end, or carries the bytes if the daemon could not take the pipes.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

use crate::daemon::greeting::DaemonFarewell;

const BUFFER: usize = 64 * 1024;

/// The connection to a daemon that has welcomed us.
pub(crate) struct WelcomedLink {
    pub(crate) stream: UnixStream,
    /// Whether the daemon reads and writes the editor's pipes itself.
    pub(crate) has_pipes: bool,
    /// What the daemon logs, as `NUDGE_LOG` says it.
    pub(crate) log: Option<String>,
}

/// Stays until either side has ended. `Ok(true)` if the editor ended it, `Ok(false)` if the daemon did.
pub(crate) fn relay(daemon: WelcomedLink) -> io::Result<bool> {
    if daemon.has_pipes { wait(daemon.stream) } else { carry(daemon.stream) }
}

/// The daemon learns of the end of this process, however it comes, by the end of the stream.
fn wait(mut daemon: UnixStream) -> io::Result<bool> {
    if is_editor_first(&daemon)? {
        return Ok(true);
    }
    let mut last = Vec::new();
    // A daemon that was killed leaves without a word.
    let _ = daemon.read_to_end(&mut last);
    match serde_json::from_slice(&last) {
        Ok(DaemonFarewell { why: None }) => Ok(true),
        Ok(DaemonFarewell { why: Some(why) }) => Err(io::Error::other(why)),
        Err(_) => Ok(false),
    }
}

/// Waits until the daemon says its last word or the editor does not listen any more; whether it was the editor.
fn is_editor_first(daemon: &UnixStream) -> io::Result<bool> {
    let stdout = io::stdout();
    // Asked for nothing, a pipe still tells when nobody is left to read it.
    let mut ends = [PollFd::new(daemon, PollFlags::IN), PollFd::new(&stdout, PollFlags::empty())];
    loop {
        match poll(&mut ends, None) {
            Ok(_) => return Ok(ends[0].revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Two threads that block are the shortest way for a byte: no event loop is woken in between.
fn carry(daemon: UnixStream) -> io::Result<bool> {
    let mut to_daemon = daemon.try_clone()?;
    let is_editor_gone = Arc::new(AtomicBool::new(false));
    let is_gone = Arc::clone(&is_editor_gone);
    // Reading standard input cannot be interrupted; the thread ends with the process.
    thread::spawn(move || {
        let _ = copy(&mut io::stdin().lock(), &mut to_daemon);
        // Said before the daemon learns of it: it may have closed its end before this thread has ended.
        is_gone.store(true, Ordering::SeqCst);
        // The daemon finishes what it has taken and closes its end.
        let _ = to_daemon.shutdown(Shutdown::Write);
    });
    let mut from_daemon = daemon;
    let copied = copy(&mut from_daemon, &mut io::stdout().lock());
    match copied {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error),
        Ok(()) => Ok(is_editor_gone.load(Ordering::SeqCst)),
    }
}

fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(&buffer[..read])?;
        to.flush()?;
    }
}

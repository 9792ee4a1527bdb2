//! `nudge acp` as a thin relay: bytes from standard input to the daemon and back.

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

const BUFFER: usize = 64 * 1024;

/// Relays until either side has ended. `Ok(true)` if the editor ended it, `Ok(false)` if the daemon did.
///
/// Two threads that block are the shortest way for a byte: no event loop is woken in between.
pub(crate) fn relay(daemon: UnixStream) -> io::Result<bool> {
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

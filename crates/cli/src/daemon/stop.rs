//! How a daemon is ended from outside: asked if it can be, told by a signal if not, and waited for.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process},
};

use crate::{
    daemon::socket::{LockHolder, holder},
    data_place::DataPlace,
};

/// How long a daemon may take to leave its sessions and be gone.
const LEAVE: Duration = Duration::from_secs(20);
/// How long a daemon that has just taken its lock may take to say who it is.
const NAME: Duration = Duration::from_secs(1);
/// How long to wait before looking again.
const AGAIN: Duration = Duration::from_millis(5);

/// Ends the daemon of a place, first by `ask`, which says whether it was heard. Comes back when the process is gone;
/// whether there was one.
pub(crate) fn stop(place: &DataPlace, ask: impl FnOnce() -> Result<bool>) -> Result<bool> {
    let Some(socket) = place.socket() else { return Ok(false) };
    let Some(held_by) = holder(&socket)? else { return Ok(false) };
    match ask() {
        Ok(true) => {}
        Ok(false) => terminate(&socket)?,
        Err(why) => terminate(&socket).with_context(|| format!("{why:#}"))?,
    }
    // Its lock is free when the process is gone. Another that was waiting for it is not the one to be ended.
    let is_gone =
        |now: Option<LockHolder>| now.is_none_or(|now| held_by.pid.is_some() && now.pid != held_by.pid);
    let deadline = Instant::now() + LEAVE;
    while !is_gone(holder(&socket)?) {
        if Instant::now() > deadline {
            bail!("the daemon, {held_by}, has not ended after {} seconds", LEAVE.as_secs());
        }
        thread::sleep(AGAIN);
    }
    Ok(true)
}

/// Tells whoever holds the lock to end. One that has just taken it says who it is in a moment.
fn terminate(socket: &Path) -> Result<()> {
    let deadline = Instant::now() + NAME;
    let (holder, pid) = loop {
        let Some(holder) = holder(socket)? else { return Ok(()) };
        if let Some(pid) = holder.pid.and_then(Pid::from_raw) {
            break (holder, pid);
        }
        if Instant::now() > deadline {
            bail!("the daemon does not listen and its lock does not name its process; end it by hand");
        }
        thread::sleep(AGAIN);
    };
    match kill_process(pid, Signal::TERM) {
        // It is gone already.
        Err(Errno::SRCH) => Ok(()),
        killed => killed.with_context(|| format!("cannot end {holder}")),
    }
}

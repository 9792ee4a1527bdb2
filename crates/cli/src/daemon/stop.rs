//! How a daemon is ended from outside: asked if it can be, told by a signal if not, and waited for.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process},
};

use crate::{
    daemon::seat::{Holder, holder},
    place::Place,
};

/// How long a daemon may take to leave its sessions and be gone.
const LEAVE: Duration = Duration::from_secs(20);
/// How long to wait before looking again.
const AGAIN: Duration = Duration::from_millis(5);

/// Ends the daemon of a place, first by `ask`, which says whether it was heard. Comes back when the process is gone;
/// whether there was one.
pub(crate) fn stop(place: &Place, ask: impl FnOnce() -> Result<bool>) -> Result<bool> {
    let Some(socket) = place.socket() else { return Ok(false) };
    let Some(held_by) = holder(&socket)? else { return Ok(false) };
    match ask() {
        Ok(true) => {}
        Ok(false) => terminate(held_by)?,
        Err(why) => terminate(held_by).with_context(|| format!("{why:#}"))?,
    }
    let deadline = Instant::now() + LEAVE;
    // Its lock is free when the process is gone. Another that was waiting for it is not the one to be ended.
    while holder(&socket)? == Some(held_by) {
        if Instant::now() > deadline {
            bail!("the daemon, {held_by}, has not ended after {} seconds", LEAVE.as_secs());
        }
        thread::sleep(AGAIN);
    }
    Ok(true)
}

fn terminate(holder: Holder) -> Result<()> {
    let pid = holder.pid.and_then(Pid::from_raw);
    let pid =
        pid.context("the daemon does not listen and its lock does not name its process; end it by hand")?;
    match kill_process(pid, Signal::TERM) {
        // It is gone already.
        Err(Errno::SRCH) => Ok(()),
        killed => killed.with_context(|| format!("cannot end {holder}")),
    }
}

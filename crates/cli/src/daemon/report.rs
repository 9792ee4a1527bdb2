//! What a daemon that was started tells whoever started it: that it listens, or why not.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use anyhow::Error;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use serde::{Deserialize, Serialize};

/// The longest report taken.
const LONGEST: usize = 64 * 1024;

/// How a start went.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartReport {
    /// There is a daemon that listens: this one, or one that was faster.
    Listens,
    /// It cannot start.
    Failed {
        /// Why.
        why: String,
    },
    /// It said nothing before it ended.
    #[serde(skip)]
    Ended,
    /// It has said nothing yet.
    #[serde(skip)]
    Silent,
}

/// Standard output of a daemon, while whoever started it listens there.
pub(crate) struct StartReporter(bool);

impl StartReporter {
    /// Reports only if somebody listens.
    pub(crate) fn new(is_heard: bool) -> Self {
        Self(is_heard)
    }

    /// Says how the start went, once, and lets go of standard output.
    pub(crate) fn say(&mut self, report: &StartReport) {
        if !std::mem::take(&mut self.0) {
            return;
        }
        let mut line = serde_json::to_vec(report).unwrap_or_default();
        line.push(b'\n');
        let mut output = io::stdout();
        // Whoever started it may be gone.
        let _ = output.write_all(&line).and_then(|()| output.flush());
        if let Ok(null) = File::options().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(&null);
        }
    }

    /// Says why there is no daemon.
    pub(crate) fn failed(&mut self, error: &Error) {
        self.say(&StartReport::Failed { why: format!("{error:#}") });
    }
}

/// Waits for the report of a daemon that was started.
pub(crate) fn wait_for(output: &mut (impl Read + AsFd), deadline: Instant) -> io::Result<StartReport> {
    let mut line = Vec::new();
    let mut buffer = [0; 1024];
    while line.len() < LONGEST && !line.ends_with(b"\n") {
        if !is_readable(output, deadline.saturating_duration_since(Instant::now()))? {
            return Ok(StartReport::Silent);
        }
        match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => line.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(serde_json::from_slice(&line).unwrap_or(StartReport::Ended))
}

fn is_readable(output: &impl AsFd, patience: Duration) -> io::Result<bool> {
    let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&patience)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

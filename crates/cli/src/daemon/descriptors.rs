//! File descriptors, of which a daemon needs many: as many as it may have, and one in reserve.

use std::{fs::File, io};

use rustix::{
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

/// More than this is of no use, and some programs look at each that they might have.
const MOST: u64 = 64 * 1024;
/// Those that are not for connections: the store, logs, event loops.
const OWN: u64 = 64;
/// What a connection may take with its session and its agent.
const EACH: u64 = 8;
/// Connections that are taken however low the limit is.
const FEWEST: u64 = 4;

/// Connections that are waited for to greet, with a low limit and with a high one.
const MOST_GREETERS: (usize, usize) = (8, 128);

/// Raises the soft limit on open files as far as the hard one allows. Children are started under the limit there was.
pub(crate) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let (Some(soft), hard) = (limit.current, limit.maximum) else { return };
    let wanted = hard.map_or(MOST, |hard| hard.min(MOST));
    if soft < wanted && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: hard }).is_ok() {
        nudge_process::shim::set_open_files(soft);
    }
}

/// How many connections may be served at one time.
pub(crate) fn most_connections() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(MOST);
    usize::try_from((limit.saturating_sub(OWN) / EACH).max(FEWEST)).unwrap_or(usize::MAX)
}

/// How many connections that have not greeted may be waited for at one time.
pub(crate) fn most_greeters() -> usize {
    most_connections().clamp(MOST_GREETERS.0, MOST_GREETERS.1)
}

/// Whether something failed because no more files can be opened.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// A descriptor that is kept to be let go of: so that who comes when there are no more can still be told.
#[derive(Default)]
pub(crate) struct ReservedDescriptor(Option<File>);

impl ReservedDescriptor {
    /// Has one again, if there is one.
    pub(crate) fn fill(&mut self) {
        if self.0.is_none() {
            self.0 = File::open("/dev/null").ok();
        }
    }

    /// Lets go of it; whether there was one.
    pub(crate) fn spend(&mut self) -> bool {
        self.0.take().is_some()
    }
}

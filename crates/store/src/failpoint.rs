//! Named points at which a test can have the process killed.
//!
//! With the feature `failpoints`, `NUDGE_FAILPOINT=NAME:N` kills the process at the Nth hit of NAME (the first, without
//! `:N`), the way `kill -9` does, and `NUDGE_FAILPOINT_LOG=FILE` appends the name of every hit to FILE, one a line.
//! Without the feature a hit does nothing.

/// Says that the process is at the point `name`.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn hit(_name: &str) {}

/// Says that the process is at the point `name`.
#[cfg(feature = "failpoints")]
pub fn hit(name: &str) {
    armed::hit(name);
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::{
        env,
        fs::{File, OpenOptions},
        io::Write as _,
        sync::{
            LazyLock,
            atomic::{AtomicU64, Ordering},
        },
    };

    use rustix::process::{Signal, getpid, kill_process};

    struct Trap {
        name: String,
        /// Which hit kills.
        nth: u64,
        hits: AtomicU64,
    }

    static TRAP: LazyLock<Option<Trap>> = LazyLock::new(|| Some(trap(&env::var("NUDGE_FAILPOINT").ok()?)));
    static LOG: LazyLock<Option<File>> = LazyLock::new(|| {
        let path = env::var_os("NUDGE_FAILPOINT_LOG")?;
        OpenOptions::new().append(true).create(true).open(path).ok()
    });

    pub(super) fn hit(name: &str) {
        if let Some(mut log) = LOG.as_ref() {
            // One write a line: lines of several processes do not mix.
            log.write_all(format!("{name}\n").as_bytes()).expect("the log of hits can be written");
        }
        if let Some(trap) = TRAP.as_ref().filter(|trap| trap.name == name)
            && trap.hits.fetch_add(1, Ordering::SeqCst) + 1 == trap.nth
        {
            kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
            loop {
                std::thread::park();
            }
        }
    }

    fn trap(setting: &str) -> Trap {
        let (name, nth) = match setting.rsplit_once(':').map(|(name, nth)| (name, nth.parse())) {
            Some((name, Ok(nth))) => (name, nth),
            _ => (setting, 1),
        };
        Trap { name: name.to_owned(), nth, hits: AtomicU64::new(0) }
    }
}

//! Named points at which a test can have the process killed.
//!
//! With the feature `failpoints`, `NUDGE_FAILPOINT=NAME:N` kills the process at the Nth hit of NAME (the first, without
//! `:N`), the way `kill -9` does, and `NUDGE_FAILPOINT_LOG=FILE` appends the name of every hit to FILE, one a line.
//! Without the feature nobody is told where the process is.

use nudge_hub::BoundaryObserver;

/// Who is told where the process is: nobody.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn observer() -> Option<BoundaryObserver> {
    None
}

/// Who is told where the process is, and kills it there.
#[cfg(feature = "failpoints")]
#[allow(clippy::unnecessary_wraps, reason = "without the feature there is none")]
pub(crate) fn observer() -> Option<BoundaryObserver> {
    let failpoints = armed::Failpoints::from_env();
    Some(std::sync::Arc::new(move |boundary| failpoints.hit(boundary)))
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::{
        env,
        fs::{File, OpenOptions},
        io::Write as _,
        sync::atomic::{AtomicU64, Ordering},
    };

    use nudge_hub::DurableBoundary;
    use rustix::process::{Signal, getpid, kill_process};

    pub(super) struct Failpoints {
        trap: Option<Trap>,
        log: Option<File>,
    }

    struct Trap {
        name: String,
        /// Which hit kills.
        nth: u64,
        hits: AtomicU64,
    }

    impl Failpoints {
        pub(super) fn from_env() -> Self {
            let log = env::var_os("NUDGE_FAILPOINT_LOG")
                .and_then(|path| OpenOptions::new().append(true).create(true).open(path).ok());
            Self { trap: env::var("NUDGE_FAILPOINT").ok().map(|setting| Trap::parse(&setting)), log }
        }

        pub(super) fn hit(&self, boundary: DurableBoundary) {
            let name = name(boundary);
            if let Some(mut log) = self.log.as_ref() {
                // One write a line: lines of several processes do not mix.
                log.write_all(format!("{name}\n").as_bytes()).expect("the log of hits can be written");
            }
            if let Some(trap) = self.trap.as_ref().filter(|trap| trap.name == name)
                && trap.hits.fetch_add(1, Ordering::SeqCst) + 1 == trap.nth
            {
                kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
                loop {
                    std::thread::park();
                }
            }
        }
    }

    impl Trap {
        fn parse(setting: &str) -> Self {
            let (name, nth) = match setting.rsplit_once(':').map(|(name, nth)| (name, nth.parse())) {
                Some((name, Ok(nth))) => (name, nth),
                _ => (setting, 1),
            };
            Self { name: name.to_owned(), nth, hits: AtomicU64::new(0) }
        }
    }

    fn name(boundary: DurableBoundary) -> &'static str {
        match boundary {
            DurableBoundary::BeforeCommit => "store.commit.before",
            DurableBoundary::AfterCommit => "store.commit.after",
            DurableBoundary::BeforeUpdate => "hub.update.before",
            DurableBoundary::AfterUpdate => "hub.update.after",
            DurableBoundary::BeforeAnswer => "hub.answer.before",
            DurableBoundary::AfterAnswer => "hub.answer.after",
        }
    }
}

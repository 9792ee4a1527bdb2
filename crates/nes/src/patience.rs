//! How long documents are parsed for a question.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use crate::Cancel;

/// The patience of one question. A parse ends when it has taken too long or when the answer is not wanted any more.
pub(crate) struct Patience {
    cancel: Cancel,
    /// How long one parse may take.
    parse_time: Duration,
    /// How many parses took too long. Each leaves half the time to those that follow, so that all together cannot take long
    /// either.
    too_long: AtomicU32,
}

impl Patience {
    pub(crate) fn new(cancel: Cancel, parse_time: Duration) -> Self {
        Self { cancel, parse_time, too_long: AtomicU32::new(0) }
    }
}

impl nudge_predict::Patience for Patience {
    fn begin(&self) -> Box<dyn Fn() -> bool + '_> {
        let allowed = self.parse_time / 2_u32.saturating_pow(self.too_long.load(Ordering::Relaxed));
        let watch = Stopwatch::start();
        Box::new(move || {
            let in_time = watch.elapsed() < allowed;
            if !in_time {
                self.too_long.fetch_add(1, Ordering::Relaxed);
            }
            in_time && !self.cancel.is_cancelled()
        })
    }
}

/// Measures the time this thread has worked, so that an answer does not depend on what else the machine does.
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(worked())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        worked().saturating_sub(self.0)
    }
}

fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0))
}

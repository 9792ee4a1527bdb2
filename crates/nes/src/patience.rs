//! How long documents are parsed for a question.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use crate::SuggestCanceller;

/// How many times as long as one parse all those of one question may take.
const ALL: u32 = 3;

/// The patience of one question. A parse ends when it has taken too long, when all have together, or when the answer is not
/// wanted any more.
pub(crate) struct SuggestPatience {
    cancel: SuggestCanceller,
    /// How long one parse may take.
    parse_time: Duration,
    /// How many parses took too long. Each leaves half the time to those that follow.
    too_long: AtomicU32,
    /// How many nanoseconds all have taken, as far as they have asked.
    taken: AtomicU64,
}

impl SuggestPatience {
    pub(crate) fn new(cancel: SuggestCanceller, parse_time: Duration) -> Self {
        Self { cancel, parse_time, too_long: AtomicU32::new(0), taken: AtomicU64::new(0) }
    }

    /// How long all have taken, this piece of one included.
    fn takes(&self, piece: Duration) -> Duration {
        let piece = u64::try_from(piece.as_nanos()).unwrap_or(u64::MAX);
        let before = self.taken.fetch_add(piece, Ordering::Relaxed);
        Duration::from_nanos(before.saturating_add(piece))
    }
}

impl nudge_syntax::ParsePatience for SuggestPatience {
    fn begin(&self) -> Box<dyn Fn() -> bool + '_> {
        let allowed = self.parse_time / 2_u32.saturating_pow(self.too_long.load(Ordering::Relaxed));
        let all = self.parse_time.saturating_mul(ALL);
        let (watch, counted) = (Stopwatch::start(), Cell::new(Duration::ZERO));
        Box::new(move || {
            let elapsed = watch.elapsed();
            let taken = self.takes(elapsed.saturating_sub(counted.replace(elapsed)));
            let in_time = elapsed < allowed;
            if !in_time {
                self.too_long.fetch_add(1, Ordering::Relaxed);
            }
            in_time && taken < all && !self.cancel.is_cancelled()
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

#[cfg(test)]
mod tests {
    use nudge_syntax::ParsePatience as _;

    use super::*;

    /// Each ends just before it has taken too long.
    #[test]
    fn many_parses_do_not_take_long_together() {
        let one = Duration::from_millis(10);
        let patience = SuggestPatience::new(SuggestCanceller::default(), one);
        let whole = Stopwatch::start();
        for _ in 0..32 {
            let (goes_on, watch) = (patience.begin(), Stopwatch::start());
            while watch.elapsed() < one * 9 / 10 && goes_on() {}
        }
        assert!(whole.elapsed() < one * (ALL + 2), "{:?}", whole.elapsed());
        assert!(whole.elapsed() > one * 2, "{:?}", whole.elapsed());
    }
}

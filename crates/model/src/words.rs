//! Times as people read them.

use std::time::{Duration, SystemTime};

/// `40 s`, `5 min`, `3 h`, `2 days`.
pub(crate) fn duration(time: Duration) -> String {
    // Half a second is not none.
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    match seconds {
        seconds @ 0..=90 => format!("{seconds} s"),
        seconds @ 91..=5400 => format!("{} min", seconds.div_ceil(60)),
        seconds @ 5401..=172_800 => format!("{} h", seconds.div_ceil(3600)),
        seconds => format!("{} days", seconds.div_ceil(86400)),
    }
}

/// `2026-11-18 09:30 UTC`. Who comes at that minute does not come too early.
pub(crate) fn time(at: SystemTime) -> String {
    let written = humantime::format_rfc3339_seconds(at + Duration::from_secs(59)).to_string();
    let (day, clock) = written.split_once('T').unwrap_or((&written, ""));
    format!("{day} {} UTC", clock.get(..5).unwrap_or(clock))
}

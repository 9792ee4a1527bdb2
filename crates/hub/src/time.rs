//! The clock, and times as they are written on the wire.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// As `2026-11-16T02:00:00.000Z`.
pub(crate) fn written(millis: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH);
    humantime::format_rfc3339_millis(time).to_string()
}

/// Reads what [`written`] writes, with or without fractions of a second.
pub(crate) fn read(text: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339_weak(text).ok()?;
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let text = written(1_794_794_400_123);
        assert_eq!(read(&text), Some(1_794_794_400_123), "{text}");
        assert_eq!(read("2026-11-16T02:00:00Z"), Some(1_794_794_400_000));
        assert_eq!(read("yesterday"), None);
    }
}

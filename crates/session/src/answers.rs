//! Results and errors as clients are given them.

use std::time::{Duration, UNIX_EPOCH};

use nudge_wire::{Error, RawJson, Version};
use serde_json::{Value, json};

/// The longest title made from a prompt, in characters.
const TITLE: usize = 80;

fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

pub(crate) fn empty() -> RawJson {
    raw(&json!({}))
}

pub(crate) fn message_id(id: &str) -> RawJson {
    raw(&json!({ "messageId": id }))
}

/// The answer to a prompt of version 1.
pub(crate) fn stopped(stop_reason: &str) -> RawJson {
    raw(&json!({ "stopReason": stop_reason }))
}

/// The answer to a prompt that was sent before under the same key.
pub(crate) fn prompted_before(version: Version, id: &str) -> RawJson {
    match version {
        Version::V1 => raw(&json!({ "stopReason": "end_turn", "_meta": { "messageId": id } })),
        Version::V2 => message_id(id),
    }
}

/// The answer to `_session/steering`.
pub(crate) fn steered(outcome: &str) -> RawJson {
    raw(&json!({ "outcome": outcome }))
}

/// The answer to `_session/steering` where nothing can be steered.
pub(crate) fn prompt_required() -> RawJson {
    raw(&json!({ "outcome": "promptRequired", "reason": "noRunningTurn" }))
}

/// The error for a session that is not there or not attached.
pub fn unknown_session() -> Error {
    Error::not_found("unknown_session")
}

/// A time as it is written on the wire: `2026-11-16T02:00:00.000Z`.
pub fn rfc3339(unix_millis: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(unix_millis)).unwrap_or(UNIX_EPOCH);
    humantime::format_rfc3339_millis(time).to_string()
}

/// What a session is called whose first message this is: its first line with something in it.
pub(crate) fn title(content: &RawJson) -> Option<String> {
    let blocks: Vec<Value> = content.to().ok()?;
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    let line = texts.flat_map(str::lines).map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(TITLE).collect();
    if line.chars().nth(TITLE).is_some() {
        title.push('…');
    }
    Some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_with_its_milliseconds() {
        assert_eq!(rfc3339(1_794_794_400_123), "2026-11-16T02:00:00.123Z");
    }

    #[test]
    fn a_title_is_the_first_line_with_something_in_it() {
        let content = |text: &str| raw(&json!([{ "type": "text", "text": text }]));
        assert_eq!(title(&content("\n  Fix the bug \nplease")).as_deref(), Some("Fix the bug"));
        assert_eq!(title(&content(" \n")), None);
        let long = title(&content(&"é".repeat(200))).unwrap();
        assert_eq!(long.chars().count(), TITLE + 1);
    }
}

//! The values in the frames of one side, to see whether a conversion has lost any.

use std::collections::HashSet;

use serde_json::Value;

use super::frame::Frame;

/// Members that say what a frame is, which is what a conversion changes.
const NAMES: &[&str] = &["sessionUpdate", "sessionId"];

/// All that was said on one side.
pub(super) struct Contents {
    values: HashSet<String>,
    /// The same in one text: a conversion may put several values into one.
    text: String,
}

impl Contents {
    pub(super) fn of(frames: &[Frame]) -> Self {
        let mut values = HashSet::new();
        for frame in frames {
            each(&frame.value(), "", &mut |_, value| {
                values.insert(value);
            });
        }
        let text = values.iter().fold(String::new(), |text, value| text + value + "\n");
        Self { values, text }
    }

    /// Where in `frame` the values are that are nowhere here.
    pub(super) fn lost(&self, frame: &Frame) -> Vec<String> {
        let mut lost = Vec::new();
        each(&frame.value(), "", &mut |path, value| {
            if !self.values.contains(&value) && !self.text.contains(&value) {
                lost.push(path.to_owned());
            }
        });
        lost
    }
}

/// Calls `see` with the path and text of every text and number.
fn each(value: &Value, path: &str, see: &mut impl FnMut(&str, String)) {
    match value {
        Value::String(text) => see(path, text.clone()),
        Value::Number(number) => see(path, number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| each(item, path, see)),
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| !NAMES.contains(&name.as_str())) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                each(value, &path, see);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

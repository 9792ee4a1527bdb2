//! The text of content blocks.

use serde_json::Value;

/// The text of content blocks; others are named. It is not yet safe for a terminal.
pub fn content_text(blocks: &Value) -> String {
    let blocks = blocks.as_array().map_or(std::slice::from_ref(blocks), Vec::as_slice);
    let shown = blocks.iter().map(|block| match (block["type"].as_str(), block["text"].as_str()) {
        (_, Some(text)) => text.to_owned(),
        (Some(kind), None) => format!("[{kind} {}]", block["uri"].as_str().unwrap_or_default()),
        (None, None) => String::new(),
    });
    shown.collect()
}

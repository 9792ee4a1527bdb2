//! What a client was told, as a person would tell it.

use serde_json::{Value, json};

/// What was said and done. Chunks of one message are one line.
pub(super) fn story<'a>(messages: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut story: Vec<(String, String)> = Vec::new();
    for message in messages {
        let update = &message["params"]["update"];
        let said = |who: &str| {
            (format!("{who} {}", update["messageId"]), format!("{who}: {}", text(&update["content"])))
        };
        let (key, line) = match update["sessionUpdate"].as_str() {
            _ if is_turn_end(message) => (String::new(), "idle".to_owned()),
            Some("user_message" | "user_message_chunk") => said("user"),
            Some("agent_message" | "agent_message_chunk") => said("agent"),
            Some("tool_call" | "tool_call_update") if update["status"].is_string() => {
                (String::new(), format!("tool {}", update["status"].as_str().unwrap_or_default()))
            }
            _ => continue,
        };
        match story.last_mut() {
            Some((last, told)) if !key.is_empty() && *last == key => {
                told.push_str(line.split_once(": ").map_or("", |(_, text)| text));
            }
            _ => story.push((key, line)),
        }
    }
    story.into_iter().map(|(_, line)| line).collect()
}

/// What was said and done, an update a line, tool calls by their names.
pub(super) fn steps<'a>(messages: impl Iterator<Item = &'a Value>) -> Vec<String> {
    messages.filter_map(step).collect()
}

fn step(message: &Value) -> Option<String> {
    let update = &message["params"]["update"];
    match update["sessionUpdate"].as_str() {
        _ if is_turn_end(message) => Some("idle".to_owned()),
        Some("user_message" | "user_message_chunk") => Some(format!("user: {}", text(&update["content"]))),
        Some("agent_message" | "agent_message_chunk") => Some(format!("agent: {}", text(&update["content"]))),
        Some("tool_call" | "tool_call_update") => {
            let status = update["status"].as_str()?;
            Some(format!("{} {status}", update["toolCallId"].as_str().unwrap_or_default()))
        }
        _ => None,
    }
}

/// A turn ends for version 2 by its state, for version 1 by the answer to its prompt or, without one, by its state.
pub(crate) fn is_turn_end(message: &Value) -> bool {
    let update = &message["params"]["update"];
    message["result"]["stopReason"].is_string()
        || (update["state"] == "idle" && update["stopReason"].is_string())
        || (update["_meta"]["state"] == "idle" && update["_meta"]["stopReason"].is_string())
}

/// A notice of Nudge; version 1 has it in the `_meta` of another update.
pub(crate) fn notice(message: &Value) -> &Value {
    let update = &message["params"]["update"];
    if update["sessionUpdate"] == "notice" { update } else { &update["_meta"]["notice"] }
}

/// Whether the user says it.
pub(crate) fn is_user(update: &Value) -> bool {
    matches!(update["sessionUpdate"].as_str(), Some("user_message" | "user_message_chunk"))
}

/// A text as content.
pub(crate) fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The text of one content block or several.
pub(crate) fn text(content: &Value) -> String {
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

//! The beginning of a tool call whose arguments never end, as each dialect would stream it.

use nudge_stage::ProviderDialect;
use serde_json::{Value, json};

/// The events, up to where the connection breaks.
pub(crate) fn half_call(dialect: ProviderDialect, tool: &str) -> String {
    match dialect {
        ProviderDialect::Chat => {
            let function = json!({ "name": tool, "arguments": "{\"comm" });
            let call = json!({ "index": 0, "id": "call_x", "type": "function", "function": function });
            let choice = json!({ "index": 0, "delta": { "tool_calls": [call] }, "finish_reason": null });
            event(None, &json!({ "id": "x", "object": "chat.completion.chunk", "choices": [choice] }))
        }
        ProviderDialect::Responses => {
            let item = json!({ "type": "function_call", "id": "fc_x", "call_id": "call_x", "name": tool,
                "status": "in_progress", "arguments": "" });
            let added = json!({ "type": "response.output_item.added", "output_index": 1, "item": item });
            let delta = json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_x",
                "output_index": 1, "delta": "{\"comm" });
            named(&added) + &named(&delta)
        }
        ProviderDialect::Anthropic => {
            let block = json!({ "type": "tool_use", "id": "call_x", "name": tool, "input": {} });
            let start = json!({ "type": "content_block_start", "index": 7, "content_block": block });
            let input = json!({ "type": "input_json_delta", "partial_json": "{\"comm" });
            let delta = json!({ "type": "content_block_delta", "index": 7, "delta": input });
            named(&start) + &named(&delta)
        }
        // A call comes whole in these, so it is the event that breaks off.
        ProviderDialect::Gemini | ProviderDialect::Ollama | ProviderDialect::Bedrock => {
            let call = json!({ "functionCall": { "name": tool, "args": { "command": "true" } } });
            let whole = json!({ "candidates": [{ "content": { "role": "model", "parts": [call] } }] });
            let text = whole.to_string();
            format!("data: {}", &text[..text.len() / 2])
        }
    }
}

fn named(data: &Value) -> String {
    event(data["type"].as_str(), data)
}

fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

//! `OpenAI` responses: how requests are read. How answers are said is in `say`.

mod say;

use serde_json::Value;

use crate::conversation::{
    ConversationMessage, ConversationToolCall, MessageRole, OfferedTool, ToolResult, list, string, text_of,
};
pub(super) use say::ResponsesVoice;

pub(super) fn messages(body: &Value) -> Vec<ConversationMessage> {
    let system = text_of(&body["instructions"]);
    let system = (!system.is_empty()).then(|| ConversationMessage::text(MessageRole::System, system));
    let input: Vec<ConversationMessage> = match &body["input"] {
        Value::String(text) => vec![ConversationMessage::text(MessageRole::User, text.clone())],
        input => input.as_array().into_iter().flatten().filter_map(item).collect(),
    };
    system.into_iter().chain(input).collect()
}

/// Items that are neither messages nor tools (reasoning, references) say nothing.
fn item(item: &Value) -> Option<ConversationMessage> {
    let kind = item["type"].as_str().unwrap_or("message");
    match kind {
        "message" => {
            let role = match item["role"].as_str() {
                Some("user") => MessageRole::User,
                Some("assistant") => MessageRole::Assistant,
                _ => MessageRole::System,
            };
            Some(ConversationMessage::text(role, text_of(&item["content"])))
        }
        "function_call" => {
            let text = string(item, "arguments");
            let arguments = serde_json::from_str(&text).unwrap_or(Value::String(text));
            Some(ConversationMessage::call(ConversationToolCall {
                id: string(item, "call_id"),
                name: string(item, "name"),
                arguments,
            }))
        }
        "custom_tool_call" => {
            let arguments = item["input"].clone();
            Some(ConversationMessage::call(ConversationToolCall {
                id: string(item, "call_id"),
                name: string(item, "name"),
                arguments,
            }))
        }
        "function_call_output" | "custom_tool_call_output" => {
            Some(ConversationMessage::results(vec![result(item)]))
        }
        _ => None,
    }
}

fn result(item: &Value) -> ToolResult {
    let output = &item["output"];
    let text = match output {
        Value::Object(object) if object.contains_key("content") => text_of(&output["content"]),
        output => text_of(output),
    };
    ToolResult { id: string(item, "call_id"), text, is_error: output["success"] == false }
}

/// Tools that the provider itself would run (web search) have no name and are left out.
pub(super) fn tools(body: &Value) -> Vec<OfferedTool> {
    list(body, "tools").iter().flat_map(tool).collect()
}

fn tool(tool: &Value) -> Vec<OfferedTool> {
    let Some(name) = tool["name"].as_str() else { return Vec::new() };
    if tool["type"] == "namespace" {
        let members = list(tool, "tools").iter().flat_map(self::tool);
        return members.map(|member| OfferedTool { namespace: Some(name.to_owned()), ..member }).collect();
    }
    let is_freeform = tool["type"] == "custom";
    vec![OfferedTool { is_freeform, ..OfferedTool::named(name, &tool["parameters"]) }]
}

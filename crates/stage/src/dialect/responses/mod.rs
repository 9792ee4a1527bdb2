//! `OpenAI` responses: how requests are read. How answers are said is in `say`.

mod say;

use serde_json::Value;

use crate::conversation::{Call, Message, Role, Tool, ToolResult, list, string, text_of};
pub(super) use say::Responses;

pub(super) fn messages(body: &Value) -> Vec<Message> {
    let system = text_of(&body["instructions"]);
    let system = (!system.is_empty()).then(|| Message::text(Role::System, system));
    let input: Vec<Message> = match &body["input"] {
        Value::String(text) => vec![Message::text(Role::User, text.clone())],
        input => input.as_array().into_iter().flatten().filter_map(item).collect(),
    };
    system.into_iter().chain(input).collect()
}

/// Items that are neither messages nor tools (reasoning, references) say nothing.
fn item(item: &Value) -> Option<Message> {
    let kind = item["type"].as_str().unwrap_or("message");
    match kind {
        "message" => {
            let role = match item["role"].as_str() {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                _ => Role::System,
            };
            Some(Message::text(role, text_of(&item["content"])))
        }
        "function_call" => {
            let text = string(item, "arguments");
            let arguments = serde_json::from_str(&text).unwrap_or(Value::String(text));
            Some(Message::call(Call { id: string(item, "call_id"), name: string(item, "name"), arguments }))
        }
        "custom_tool_call" => {
            let arguments = item["input"].clone();
            Some(Message::call(Call { id: string(item, "call_id"), name: string(item, "name"), arguments }))
        }
        "function_call_output" | "custom_tool_call_output" => Some(Message::results(vec![result(item)])),
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
pub(super) fn tools(body: &Value) -> Vec<Tool> {
    list(body, "tools").iter().flat_map(tool).collect()
}

fn tool(tool: &Value) -> Vec<Tool> {
    let Some(name) = tool["name"].as_str() else { return Vec::new() };
    if tool["type"] == "namespace" {
        let members = list(tool, "tools").iter().flat_map(self::tool);
        return members.map(|member| Tool { namespace: Some(name.to_owned()), ..member }).collect();
    }
    let is_freeform = tool["type"] == "custom";
    vec![Tool { is_freeform, ..Tool::named(name, &tool["parameters"]) }]
}

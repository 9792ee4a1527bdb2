//! A request to Ollama.

use serde_json::{Value, json};

use crate::{
    ModelRequest, ThinkingLevel, ToolSpec, UserPart,
    dialect::history::{CallIds, HistoryPart, HistoryResult, HistoryTurn, history},
};

pub(super) fn body(model: &str, request: &ModelRequest) -> Value {
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    // It signs no reasoning.
    let turns = history(request, "", CallIds::Any);
    let messages: Vec<Value> = system.into_iter().chain(turns.iter().flat_map(messages)).collect();
    // A conversation that is too long is to be told of and not cut off at its beginning.
    let mut body =
        json!({"model": model, "messages": messages, "stream": true, "truncate": false, "shift": false});
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(level) = request.options.thinking {
        body["think"] = think(model, level);
    }
    if let Some(size) = request.options.context_size {
        body["options"] = json!({ "num_ctx": size });
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, input } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": input}})
}

/// Only one family knows levels, and cannot do without.
fn think(model: &str, level: ThinkingLevel) -> Value {
    match level {
        ThinkingLevel::Off if model.contains("gpt-oss") => json!("low"),
        level if model.contains("gpt-oss") => json!(level.name()),
        level => json!(level != ThinkingLevel::Off),
    }
}

fn messages(turn: &HistoryTurn<'_>) -> Vec<Value> {
    match turn {
        HistoryTurn::User(parts) => vec![said(parts)],
        HistoryTurn::Agent(parts) => vec![answered(parts)],
        HistoryTurn::Results(results) => results.iter().map(result).collect(),
    }
}

fn said(parts: &[UserPart]) -> Value {
    let texts = parts.iter().filter_map(|part| match part {
        UserPart::Text(text) => Some(text.as_str()),
        UserPart::Image(_) => None,
        UserPart::Audio(_) => Some("[audio]"),
    });
    let mut message = json!({"role": "user", "content": texts.collect::<Vec<_>>().join("\n\n")});
    let images = parts.iter().filter_map(|part| match part {
        UserPart::Image(media) => Some(media.data.as_str()),
        _ => None,
    });
    let images: Vec<&str> = images.collect();
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

fn answered(parts: &[HistoryPart<'_>]) -> Value {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts {
        match part {
            HistoryPart::Text(more) => text.push_str(more),
            HistoryPart::Call(call) => {
                let function = json!({"name": call.name, "arguments": call.input});
                calls.push(json!({"id": call.id, "function": function}));
            }
            HistoryPart::Reasoning(_) => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn result(result: &HistoryResult<'_>) -> Value {
    let HistoryResult { id, name, output, .. } = result;
    json!({"role": "tool", "content": output, "tool_name": name, "tool_call_id": id})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::stream_checks::long_request;

    #[test]
    fn a_long_request() {
        let call = |id: &str, arguments: Value| json!({"id": id, "function": {"name": "read", "arguments": arguments}});
        let result = |id: &str, output: &str| json!({"role": "tool", "content": output, "tool_name": "read", "tool_call_id": id});
        let function = json!({"name": "read", "description": "Reads.", "parameters": {"type": "object"}});
        let expected = json!({
            "model": "m", "stream": true, "truncate": false, "shift": false,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "look", "images": ["aGk="]},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    call("c1", json!({"path": "a"})), call("c1_2", json!({})),
                ]},
                result("c1", "one"),
                result("c1_2", "two"),
                {"role": "user", "content": "now this\n\nand that"},
            ],
            "tools": [{"type": "function", "function": function}],
            "think": true, "options": {"num_ctx": 16384},
        });
        let mut request = long_request();
        request.options.context_size = Some(16_384);
        let written = body("m", &request);
        assert_eq!(written, expected, "{written:#}");
    }

    #[test]
    fn thinking_is_on_or_off_but_for_one_family() {
        use ThinkingLevel::{High, Low, Off};
        let cases = [
            ("qwen3", Off, json!(false)),
            ("qwen3", Low, json!(true)),
            ("gpt-oss:20b", Off, json!("low")),
            ("gpt-oss:20b", High, json!("high")),
        ];
        for (model, level, expected) in cases {
            assert_eq!(think(model, level), expected, "{model} {level:?}");
        }
    }
}

//! Version 2 `update` objects.

use base64::{Engine, prelude::BASE64_STANDARD};
use nudge_model::PlanEntry;
use nudge_wire::RawJson;
use serde::Serialize;
use serde_json::{Value, json};

/// A value of ours as JSON text.
pub(crate) fn raw(value: &(impl Serialize + ?Sized)) -> RawJson {
    RawJson::of(value).expect("a tree of JSON values can be written")
}

pub(crate) fn message_chunk(kind: &str, id: &str, text: &str) -> RawJson {
    raw(&json!({ "sessionUpdate": kind, "messageId": id, "content": { "type": "text", "text": text } }))
}

/// A `tool_call_update`: `fields` are an object.
pub(crate) fn tool_call(id: &str, fields: Value) -> RawJson {
    let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id });
    if let (Value::Object(update), Value::Object(fields)) = (&mut update, fields) {
        update.extend(fields);
    }
    raw(&update)
}

/// A text as an item of a tool call's content.
pub(crate) fn text_content(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

pub(crate) fn terminal_content(id: &str) -> Value {
    json!({ "type": "terminal", "terminalId": id })
}

pub(crate) fn terminal_started(id: &str, command: &str, cwd: &str) -> RawJson {
    raw(&json!({ "sessionUpdate": "terminal_update", "terminalId": id, "command": command, "cwd": cwd }))
}

pub(crate) fn terminal_output(id: &str, bytes: &[u8]) -> RawJson {
    let data = BASE64_STANDARD.encode(bytes);
    raw(&json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": data }))
}

/// The end of a terminal; with `output`, what is to be kept of it.
pub(crate) fn terminal_ended(
    id: &str,
    code: Option<i32>,
    signal: Option<&str>,
    output: Option<&[u8]>,
) -> RawJson {
    let mut update = json!({ "sessionUpdate": "terminal_update", "terminalId": id });
    update["exitStatus"] = json!({ "exitCode": code, "signal": signal });
    if let Some(output) = output {
        update["output"] = json!({ "data": BASE64_STANDARD.encode(output) });
    }
    raw(&update)
}

pub(crate) fn plan(id: &str, entries: &[PlanEntry]) -> RawJson {
    let entry = |entry: &PlanEntry| json!({ "content": entry.content, "priority": entry.priority, "status": entry.status });
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    raw(
        &json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": id, "entries": entries } }),
    )
}

pub(crate) fn usage(used: u64, size: u64) -> RawJson {
    raw(&json!({ "sessionUpdate": "usage_update", "used": used, "size": size }))
}

pub(crate) fn notice(severity: &str, title: &str, description: &str) -> RawJson {
    raw(
        &json!({ "sessionUpdate": "notice", "severity": severity, "title": title, "description": description }),
    )
}

pub(crate) fn config_options(options: &Value) -> RawJson {
    raw(&json!({ "sessionUpdate": "config_option_update", "configOptions": options }))
}

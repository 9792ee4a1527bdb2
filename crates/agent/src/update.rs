//! Version 2 `update` objects.

use std::time::{Duration, SystemTime};

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_model::{PlanEntry, SignedReasoning};
use nudge_wire::RawJson;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) use nudge_workspace::update::terminal_output;
use nudge_workspace::{
    CommandExit,
    update::{terminal_ended, terminal_started},
};

/// A value of ours as JSON text.
pub(crate) fn raw(value: &(impl Serialize + ?Sized)) -> RawJson {
    RawJson::of(value).expect("a tree of JSON values can be written")
}

/// The beginning of a terminal in which a command runs that can be cancelled.
pub(crate) fn own_terminal_started(id: &str, command: &str, cwd: &str) -> RawJson {
    with(&terminal_started(id, command, cwd), "capabilities", &json!({ "cancel": {} }))
}

/// The end of a terminal; with `output`, what is to take the place of all output that came.
pub(crate) fn own_terminal_ended(id: &str, exit: &CommandExit, output: Option<&[u8]>) -> RawJson {
    with(&terminal_ended(id, exit, output), "capabilities", &Value::Null)
}

fn with(update: &RawJson, member: &str, value: &Value) -> RawJson {
    update.with(&[member], &raw(value)).expect("an update made here is an object")
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

pub(crate) fn plan(id: &str, entries: &[PlanEntry]) -> RawJson {
    let entry = |entry: &PlanEntry| json!({ "content": entry.content, "priority": entry.priority, "status": entry.status });
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    raw(
        &json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": id, "entries": entries } }),
    )
}

pub(crate) fn usage(used: u64, size: u64, cost: Option<f64>) -> RawJson {
    let mut update = json!({ "sessionUpdate": "usage_update", "used": used, "size": size });
    if let Some(cost) = cost {
        update["cost"] = json!({ "amount": cost, "currency": "USD" });
    }
    raw(&update)
}

/// Reasoning that is kept for the model alone.
pub(crate) fn signed_reasoning(answer: &str, reasoning: &SignedReasoning) -> IndexedUpdate {
    let kind = UpdateKind::SignedReasoning;
    let SignedReasoning { model, content } = reasoning;
    let update =
        json!({ "sessionUpdate": kind.name(), "messageId": answer, "model": model, "content": content });
    IndexedUpdate::new(kind, raw(&update))
}

/// A notice that the provider makes the agent wait.
pub(crate) fn pause_notice(title: &str, now: SystemTime, wait: Duration, attempt: u32) -> RawJson {
    let seconds = wait.as_millis().div_ceil(1000);
    let more =
        format!("It is asked again in {seconds} s. What you say meanwhile is delivered when it goes on.");
    let until = humantime::format_rfc3339_millis(now + wait).to_string();
    let pause = json!({ "nudge": { "pause": { "until": until, "attempt": attempt } } });
    raw(
        &json!({ "sessionUpdate": "notice", "severity": "info", "title": title, "description": more, "_meta": pause }),
    )
}

pub(crate) fn notice(severity: &str, title: &str, description: &str) -> RawJson {
    raw(
        &json!({ "sessionUpdate": "notice", "severity": severity, "title": title, "description": description }),
    )
}

pub(crate) fn config_options(options: &Value) -> RawJson {
    raw(&json!({ "sessionUpdate": "config_option_update", "configOptions": options }))
}

//! What Nudge says itself in a session, as updates of version 2.

use nudge_bridge::{IndexedUpdate, UpdateKind, turn_failed, turn_started};
use nudge_wire::{Error, RawJson, Version, acp::v2, slice};
use serde::Serialize;
use serde_json::{Value, json};

fn raw(value: &impl Serialize) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

fn made(kind: UpdateKind, update: &impl Serialize) -> IndexedUpdate {
    IndexedUpdate::new(kind, raw(update))
}

/// What the user says.
pub fn user_message(id: &str, content: &RawJson) -> IndexedUpdate {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct UserMessage<'a> {
        session_update: &'a str,
        message_id: &'a str,
        content: &'a RawJson,
    }
    let kind = UpdateKind::UserMessage;
    let update = raw(&UserMessage { session_update: kind.name(), message_id: id, content });
    IndexedUpdate::new(kind, update).of_message(id)
}

/// A whole message of the agent.
pub fn agent_message(id: &str, text: &str, meta: &Value) -> IndexedUpdate {
    let kind = UpdateKind::AgentMessage;
    let update = json!({
        "sessionUpdate": kind.name(),
        "messageId": id,
        "content": [{ "type": "text", "text": text }],
        "_meta": meta,
    });
    made(kind, &update).of_message(id)
}

/// That a turn was cut off, and why.
pub(crate) fn interrupted(message_id: &str, why: &str) -> IndexedUpdate {
    let text = format!("The turn was interrupted: {why}. It is not run again; say how to go on.");
    agent_message(message_id, &text, &json!({ "nudge": { "interrupted": true } }))
}

/// A tool call that will not end any more, in the version that it was told in: who was shown it knows it in that.
pub fn tool_call_cancelled(id: &str, version: Version) -> IndexedUpdate {
    let kind = UpdateKind::ToolCallUpdate;
    // Version 1 has no word for it.
    let status = if version == Version::V1 { "failed" } else { "cancelled" };
    let mut update = json!({ "sessionUpdate": kind.name(), "toolCallId": id, "status": status });
    if version == Version::V2 {
        // Nobody can cancel it any more.
        update["capabilities"] = Value::Null;
    }
    made(kind, &update).of_tool_call(id).in_version(version)
}

/// The end of a terminal of which nobody knows how it ended.
pub(crate) fn terminal_lost(id: &str) -> IndexedUpdate {
    let kind = UpdateKind::TerminalUpdate;
    let exit = json!({ "exitCode": null, "signal": null });
    made(
        kind.clone(),
        &json!({ "sessionUpdate": kind.name(), "terminalId": id, "exitStatus": exit, "capabilities": null }),
    )
}

/// What the user answered to a permission request, both written in this version.
pub fn permission_answer(version: Version, request: &RawJson, answer: &RawJson) -> IndexedUpdate {
    let kind = UpdateKind::PermissionAnswer;
    let tool_call: &[&str] = match version {
        Version::V1 => &["toolCall", "toolCallId"],
        Version::V2 => &["subject", "toolCall", "toolCallId"],
    };
    let tool_call = request.get(tool_call);
    let update = json!({ "sessionUpdate": kind.name(), "toolCallId": tool_call, "answer": answer });
    let update = made(kind, &update).in_version(version);
    match tool_call.as_ref().and_then(|id| slice::unquoted(id.as_str())) {
        Some(id) => update.of_tool_call(&*id),
        None => update,
    }
}

/// A turn runs.
pub fn running() -> IndexedUpdate {
    IndexedUpdate::new(UpdateKind::StateUpdate, turn_started())
}

/// The turn waits for the user.
pub fn requires_action() -> IndexedUpdate {
    state("requires_action")
}

fn state(state: &str) -> IndexedUpdate {
    let kind = UpdateKind::StateUpdate;
    let update = json!({ "sessionUpdate": kind.name(), "state": state });
    made(kind, &update)
}

/// The turn is over, and why.
pub fn idle(stop_reason: Option<&str>) -> IndexedUpdate {
    let kind = UpdateKind::StateUpdate;
    let mut update = json!({ "sessionUpdate": kind.name(), "state": "idle" });
    if let Some(reason) = stop_reason {
        update["stopReason"] = json!(reason);
    }
    made(kind, &update)
}

/// The turn is over, because this went wrong.
pub fn failed(error: &Error) -> IndexedUpdate {
    IndexedUpdate::new(UpdateKind::StateUpdate, turn_failed(&raw(error)))
}

/// The title or the time of the last change.
pub fn session_info(title: Option<&str>, updated_at: &str) -> IndexedUpdate {
    let mut info = v2::SessionInfoUpdate::new().updated_at(updated_at.to_owned());
    if let Some(title) = title {
        info = info.title(title.to_owned());
    }
    made(UpdateKind::SessionInfoUpdate, &v2::SessionUpdate::SessionInfoUpdate(info))
}

/// Something that users may want to know.
pub fn notice(severity: &str, title: &str, meta: &Value) -> IndexedUpdate {
    let kind = UpdateKind::Notice;
    let update = json!({ "sessionUpdate": kind.name(), "severity": severity, "title": title, "_meta": meta });
    made(kind, &update)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_what_a_reader_finds_in_it() {
        let content = raw(&json!([]));
        let asked = |id: Value| raw(&json!({ "toolCall": { "toolCallId": id } }));
        let answer = raw(&json!({}));
        for update in [
            user_message("m\"", &content),
            agent_message("m", "words", &json!({})),
            tool_call_cancelled("t", Version::V1),
            tool_call_cancelled("t", Version::V2),
            terminal_lost("t"),
            permission_answer(Version::V1, &asked(json!("t")), &answer),
            permission_answer(Version::V2, &asked(json!("t")), &answer),
            running(),
            requires_action(),
            idle(Some("cancelled")),
            failed(&Error::internal("no")),
            session_info(Some("title"), "now"),
            notice("info", "title", &json!({})),
        ] {
            let read = IndexedUpdate::read(&update.raw).expect("an update");
            assert_eq!(read.kind, update.kind);
            assert_eq!(read.message_id, update.message_id, "{update:?}");
            assert_eq!(read.tool_call_id, update.tool_call_id, "{update:?}");
        }
        // An agent may send any id.
        assert_eq!(permission_answer(Version::V1, &asked(json!(1)), &answer).tool_call_id, None);
    }
}

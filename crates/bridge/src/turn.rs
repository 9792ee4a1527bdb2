//! Turns: in v1 the answer to a prompt ends one, in v2 an update says so.

use nudge_wire::RawJson;

use crate::{
    UpdateKind,
    object::{JsonObject, quote, raw},
};

/// The reasons to stop that v1 knows.
const REASONS: [&str; 5] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

/// How a v2 turn that ended answers the v1 prompt that is still open: with a result, or with an error object.
///
/// `state` is the `state_update` that says `idle`.
pub fn prompt_answer(state: &RawJson) -> Result<RawJson, RawJson> {
    let mut object = JsonObject::read(state.as_str()).unwrap_or_default();
    object.remove(&["sessionUpdate", "state", "background"]);
    let reason = object.string("stopReason");
    if reason.as_deref() == Some("error") {
        return Err(prompt_error(&object));
    }
    stop_reason_to_v1(&mut object);
    Ok(object.raw())
}

/// The `state_update` that says that a turn runs.
pub fn turn_started() -> RawJson {
    raw(state("running").text())
}

/// The `state_update` for the result of a v1 prompt: that the turn ended, and how.
pub fn turn_ended(result: &RawJson) -> RawJson {
    let mut object = JsonObject::read(result.as_str()).unwrap_or_default();
    object.restore("stopReason");
    if object.value("usage").is_none() {
        object.take("usage");
    }
    if object.get("stopReason").is_none() {
        object.put("stopReason", "end_turn");
    }
    state("idle").followed_by(&object).raw()
}

/// The `state_update` for a v1 prompt that was answered with an error.
pub fn turn_failed(error: &RawJson) -> RawJson {
    let update = state("idle").with_str("stopReason", "error");
    raw(update.with("error", error.as_str()).text())
}

/// A `state_update` for a v1 client, which has nothing like it: as `_meta` of a `session_info_update`.
pub(crate) fn state_to_v1(update: &RawJson, object: &JsonObject<'_>) -> Option<RawJson> {
    if object.is("state", "requires_action") {
        return None;
    }
    let mut meta = JsonObject::default();
    for member in ["state", "stopReason"] {
        if let Some(value) = object.get(member) {
            meta.set(member, value);
        }
    }
    Some(carried(update, meta))
}

/// A `notice` for a v1 client that does not know it: a thought, which every client shows, under an id of its own. It is in no
/// transcript, and so no model takes it for its own. Without words it is as good as none.
pub(crate) fn notice_to_v1(update: &RawJson, object: &JsonObject<'_>, id: &str) -> RawJson {
    let mut notice = object.clone();
    notice.take("sessionUpdate");
    let meta = JsonObject::default().with("notice", notice.text());
    let said: Vec<String> =
        ["title", "description"].iter().filter_map(|member| object.string(member)).collect();
    // That a session was left is for programs: whoever has left it knows.
    let is_left = update.get(&["_meta", "nudge", "left"]).is_some_and(|left| left.as_str() == "true");
    if said.is_empty() || is_left {
        return carried(update, meta);
    }
    // Clients that know no ids join it to the thoughts around it.
    let content = JsonObject::default()
        .with_str("type", "text")
        .with_str("text", &format!("\n\n{}\n\n", said.join(". ")));
    let carrier = JsonObject::default()
        .with_str("sessionUpdate", UpdateKind::AgentThoughtChunk.name())
        .with_str("messageId", id)
        .with("content", content.text());
    carried_by(carrier, update, meta)
}

/// A v2 update that v1 has no place for, whole in the `_meta` of an update that changes nothing.
pub(crate) fn carried(update: &RawJson, meta: JsonObject<'_>) -> RawJson {
    let carrier = JsonObject::default().with_str("sessionUpdate", UpdateKind::SessionInfoUpdate.name());
    carried_by(carrier, update, meta)
}

fn carried_by(carrier: JsonObject<'_>, update: &RawJson, mut meta: JsonObject<'_>) -> RawJson {
    meta.set("nudge", update.as_str().to_owned());
    raw(carrier.with("_meta", meta.text()).text())
}

/// The notice that a thought carries.
pub(crate) fn uncarried_notice(object: &JsonObject<'_>) -> Option<RawJson> {
    let update = uncarried(object)?;
    JsonObject::read(update.as_str())?.is("sessionUpdate", UpdateKind::Notice.name()).then_some(update)
}

/// The update that [`carried`] carries.
pub(crate) fn uncarried(object: &JsonObject<'_>) -> Option<RawJson> {
    let meta = JsonObject::read(object.get("_meta")?)?;
    let nudge = meta.get("nudge")?;
    JsonObject::read(nudge)?.string("sessionUpdate")?;
    Some(raw(nudge.to_owned()))
}

fn state(name: &str) -> JsonObject<'static> {
    JsonObject::default().with_str("sessionUpdate", "state_update").with_str("state", name)
}

fn stop_reason_to_v1(object: &mut JsonObject<'_>) {
    match object.string("stopReason") {
        Some(reason) if REASONS.contains(&reason.as_str()) => {}
        Some(reason) => {
            object.put("stopReason", "end_turn");
            object.note("stopReason", &quote(&reason));
        }
        None => object.put("stopReason", "end_turn"),
    }
}

fn prompt_error(state: &JsonObject<'_>) -> RawJson {
    let error = state.get("error").filter(|error| {
        JsonObject::read(error)
            .is_some_and(|error| error.get("code").is_some() && error.string("message").is_some())
    });
    let unknown =
        || JsonObject::default().with("code", "-32603").with_str("message", "The turn failed").text();
    raw(error.map_or_else(unknown, str::to_owned))
}

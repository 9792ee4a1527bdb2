//! Why a frame may be on one side of Nudge only.

use serde_json::Value;

use super::frame::{self, Frame};
use crate::chat::Version;

/// The side on which a frame has no match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Client,
    Agent,
}

/// Methods that Nudge answers or asks itself, with their answers: what passes there has other words or none.
const OWN: &[(&str, &str)] = &[
    ("initialize", "capabilities are merged"),
    ("authenticate", "an agent that is started again is authenticated again"),
    ("auth/login", "an agent that is started again is authenticated again"),
    ("auth/status_update", "the sign-in is told as the agent tells it in its own way"),
    ("session/new", "the session's id and settings are Nudge's to tell"),
    ("session/load", "a session is loaded from the store, and restored in the agent"),
    ("session/resume", "a session is loaded from the store, and restored in the agent"),
    ("session/list", "sessions are listed from the store"),
    ("session/prompt", "a turn is begun, and ended, by the session"),
    ("session/cancel", "a turn is cancelled, and steered, by the session"),
    ("session/inject", "input while a turn runs is kept by the session"),
    ("session/revoke_inject", "input while a turn runs is kept by the session"),
    ("session/replace_inject", "input while a turn runs is kept by the session"),
    ("_session/steering", "input while a turn runs is handed over by the session"),
    ("_goose/unstable/session/steer", "input while a turn runs is handed over by the session"),
    ("craft/drainMidTurnQueue", "input while a turn runs is handed over by the session"),
    ("$/cancel_request", "ids of requests are Nudge's own"),
    (frame::NOTHING, "an answer to no request goes nowhere"),
];

/// What an agent is told again that is started again, as the client said it before.
const SET_AGAIN: &[&str] =
    &["providers/set", "providers/disable", "session/set_mode", "session/set_config_option"];

/// Every value of such a frame has to be on the other side.
pub(super) const CONVERTED: &str = "converted between the versions";

/// Updates that Nudge tells itself.
const TOLD: &[(&str, &str)] = &[
    ("user_message", "messages of the user are told by the session"),
    ("user_message_chunk", "messages of the user are told by the session"),
    ("state_update", "the state is told by the session"),
    ("notice", "the state is told by the session"),
];

/// Why `frame` has no match; nothing if there is no reason.
pub(super) fn reason(frame: &Frame, at: At, is_converted: bool) -> Option<&'static str> {
    let method = frame.method.as_str();
    if let Some((_, reason)) = OWN.iter().find(|(own, _)| *own == method) {
        return Some(reason);
    }
    if at == At::Client && (method.starts_with("nes/") || method.starts_with("document/")) {
        return Some("suggestions are made by Nudge");
    }
    if at == At::Agent && SET_AGAIN.contains(&method) {
        return Some("what was set is set again in an agent that is started again");
    }
    // An agent is told what this client can do and what Nudge can do for it.
    if at == At::Agent && (method.starts_with("fs/") || method.starts_with("terminal/")) {
        return Some("files and terminals are served by Nudge");
    }
    if frame.is_replay {
        return Some("a session that is restored is not told twice");
    }
    if method == "session/request_permission" && is_converted {
        return Some(CONVERTED);
    }
    let update = frame.update()?;
    if let Some((_, reason)) = TOLD.iter().find(|(told, _)| *told == update) {
        return Some(reason);
    }
    if at == At::Client && frame.is_repeated {
        return Some("what a session offers is told again to a client that loads it");
    }
    let payload: Value = serde_json::from_str(&frame.payload).ok()?;
    let meta = &payload["update"]["_meta"];
    if at == At::Client
        && ["session_info_update", "agent_thought_chunk"].contains(&update.as_str())
        && (meta["state"].is_string() || meta["notice"].is_object())
    {
        return Some("the state is told by the session");
    }
    is_converted.then_some(CONVERTED)
}

/// The version that the agent speaks. Some repeat any number they are asked for, and speak version 1.
pub(super) fn agent_version(frames: &[Frame]) -> Option<Version> {
    let answer = frames.iter().find(|frame| frame.is_response && frame.method == "initialize")?;
    let result: Value = serde_json::from_str(&answer.payload).ok()?;
    let is_v2 = result["protocolVersion"] == 2 && result["capabilities"].is_object();
    Some(if is_v2 { Version::V2 } else { Version::V1 })
}

//! Whether what the examples of the bridge show is what the official types read and write.

use nudge_wire::acp::{v1, v2};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A version of ACP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    V1,
    V2,
}

impl Side {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::V1 => Self::V2,
            Self::V2 => Self::V1,
        }
    }
}

/// What is wrong, if anything is.
type Checked = Result<(), String>;

/// Checks the input of a step.
pub(crate) fn check(side: Side, step: &str, value: &Value) -> Checked {
    match (step, side) {
        ("update", _) => update(side, value),
        ("request", _) => request(side, value),
        ("permission", Side::V1) => same::<v1::RequestPermissionRequest>(value),
        ("permission", Side::V2) => same::<v2::RequestPermissionRequest>(value),
        ("permission_answer", Side::V1) => same::<v1::RequestPermissionResponse>(value),
        ("permission_answer", Side::V2) => same::<v2::RequestPermissionResponse>(value),
        ("setup", Side::V1) => same::<v1::NewSessionResponse>(value),
        ("setup", Side::V2) => same::<v2::NewSessionResponse>(value),
        ("initialize_result", Side::V1) => same::<v1::InitializeResponse>(value),
        ("initialize_result", Side::V2) => same::<v2::InitializeResponse>(value),
        ("turn_ended", _) => same::<v1::PromptResponse>(value),
        ("turn_failed", _) => same::<v1::Error>(value),
        ("prompt_answer", _) => update(Side::V2, value),
        ("set_mode", _) => same::<v1::SetSessionModeRequest>(value),
        ("set_config_option", Side::V1) => same::<v1::SetSessionConfigOptionRequest>(value),
        ("set_config_option", Side::V2) => same::<v2::SetSessionConfigOptionRequest>(value),
        ("config_result", Side::V2) => same::<v2::SetSessionConfigOptionResponse>(value),
        ("config_result", Side::V1) | ("own_terminal" | "turn_started", _) => Ok(()),
        (other, _) => panic!("no type for `{other}`"),
    }
}

/// Checks what comes of a step.
pub(crate) fn check_given(side: Side, step: &str, value: &Value) -> Checked {
    match (step, side) {
        ("update" | "own_terminal" | "turn_started" | "turn_ended" | "turn_failed", _) => {
            value.as_array().expect("updates").iter().try_for_each(|one| update(side, one))
        }
        ("setup", _) => {
            check(side, step, &value["result"])?;
            value["updates"].as_array().expect("updates").iter().try_for_each(|one| update(side, one))
        }
        ("prompt_answer", _) => match value.get("result") {
            Some(result) => same::<v1::PromptResponse>(result),
            None => same::<v1::Error>(&value["error"]),
        },
        ("set_mode", _) => same::<v2::SetSessionConfigOptionRequest>(value),
        ("set_config_option", Side::V1) => request(side, value),
        ("config_result", Side::V1) => same::<v1::SetSessionConfigOptionResponse>(value),
        ("config_result", Side::V2) => same::<v2::SetSessionConfigOptionResponse>(value),
        _ => check(side, step, value),
    }
}

fn update(side: Side, value: &Value) -> Checked {
    match side {
        Side::V1 => same::<v1::SessionUpdate>(value),
        Side::V2 => same::<v2::SessionUpdate>(value),
    }
}

fn request(side: Side, call: &Value) -> Checked {
    let params = &call["params"];
    match (call["method"].as_str().expect("a method"), side) {
        ("initialize", Side::V1) => same::<v1::InitializeRequest>(params),
        ("initialize", Side::V2) => same::<v2::InitializeRequest>(params),
        ("authenticate", Side::V1) => same::<v1::AuthenticateRequest>(params),
        ("auth/login", Side::V2) => same::<v2::LoginAuthRequest>(params),
        ("logout", Side::V1) => same::<v1::LogoutRequest>(params),
        ("auth/logout", Side::V2) => same::<v2::LogoutAuthRequest>(params),
        ("session/new", Side::V1) => same::<v1::NewSessionRequest>(params),
        ("session/new", Side::V2) => same::<v2::NewSessionRequest>(params),
        ("session/load", Side::V1) => same::<v1::LoadSessionRequest>(params),
        ("session/resume", Side::V1) => same::<v1::ResumeSessionRequest>(params),
        ("session/resume", Side::V2) => same::<v2::ResumeSessionRequest>(params),
        ("session/fork", Side::V1) => same::<v1::ForkSessionRequest>(params),
        ("session/fork", Side::V2) => same::<v2::ForkSessionRequest>(params),
        ("session/list", Side::V1) => same::<v1::ListSessionsRequest>(params),
        ("session/list", Side::V2) => same::<v2::ListSessionsRequest>(params),
        ("session/close", Side::V1) => same::<v1::CloseSessionRequest>(params),
        ("session/close", Side::V2) => same::<v2::CloseSessionRequest>(params),
        ("session/delete", Side::V1) => same::<v1::DeleteSessionRequest>(params),
        ("session/delete", Side::V2) => same::<v2::DeleteSessionRequest>(params),
        ("session/prompt", Side::V1) => same::<v1::PromptRequest>(params),
        ("session/prompt", Side::V2) => same::<v2::PromptRequest>(params),
        ("session/set_mode", Side::V1) => same::<v1::SetSessionModeRequest>(params),
        ("session/set_config_option", Side::V1) => same::<v1::SetSessionConfigOptionRequest>(params),
        ("session/set_config_option", Side::V2) => same::<v2::SetSessionConfigOptionRequest>(params),
        ("elicitation/create", Side::V1) => same::<v1::CreateElicitationRequest>(params),
        ("elicitation/create", Side::V2) => same::<v2::CreateElicitationRequest>(params),
        (other, side) => panic!("no type for `{other}` of {side:?}"),
    }
}

/// The type reads the value and writes the same. The types are lenient: what they cannot read they drop, so writing
/// it again is what shows that all was read.
fn same<T: Serialize + DeserializeOwned>(value: &Value) -> Checked {
    let read: T = serde_json::from_str(&value.to_string()).map_err(|error| format!("{error}: {value}"))?;
    let written = serde_json::to_value(&read).expect("what was read can be written");
    covers(&written, value, "").map_err(|at| format!("differs at {at}\nread {value}\nwrote {written}"))
}

/// Whether `written` says what `value` says; else where it does not. Defaults may be spelled out or left out.
fn covers(written: &Value, value: &Value, at: &str) -> Checked {
    match (written, value) {
        (Value::Object(written), Value::Object(value)) => {
            let names = written.keys().chain(value.keys());
            for name in names {
                let at = format!("{at}/{name}");
                match (written.get(name), value.get(name)) {
                    (Some(written), Some(value)) => covers(written, value, &at)?,
                    (Some(default), None) if is_default(default, true) => {}
                    (None, Some(default)) if is_default(default, false) => {}
                    _ => return Err(at),
                }
            }
            Ok(())
        }
        (Value::Array(written), Value::Array(value)) if written.len() == value.len() => written
            .iter()
            .zip(value)
            .try_for_each(|(written, value)| covers(written, value, &format!("{at}/*"))),
        _ if written == value => Ok(()),
        _ => Err(at.to_owned()),
    }
}

/// Whether the member says as much as its absence. `{}` does not where it may be a capability.
fn is_default(value: &Value, or_empty: bool) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => or_empty && members.values().all(|member| is_default(member, true)),
        _ => false,
    }
}

//! What a client hears, held against the types of the schema crate.

use nudge_wire::acp::{v1, v2};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Checks a message; `method_of` tells the method of a request by its id.
pub(crate) fn check<'m>(version: u64, message: &Value, method_of: impl Fn(u64) -> &'m str) {
    match (message["method"].as_str(), message["id"].as_u64()) {
        (Some(method), _) => check_said(version, method, &message["params"]),
        (None, Some(id)) if message.get("error").is_none() => {
            check_result(version, method_of(id), &message["result"]);
        }
        _ => {}
    }
}

/// A notification or a request of the agent.
fn check_said(version: u64, method: &str, params: &Value) {
    match (version, method) {
        (1, "session/update") => read::<v1::SessionNotification>(method, params),
        (_, "session/update") => read::<v2::UpdateSessionNotification>(method, params),
        (1, "session/request_permission") => read::<v1::RequestPermissionRequest>(method, params),
        (_, "session/request_permission") => read::<v2::RequestPermissionRequest>(method, params),
        (1, "elicitation/create") => keeps::<v1::CreateElicitationRequest>(method, params),
        (_, "elicitation/create") => keeps::<v2::CreateElicitationRequest>(method, params),
        (1, "elicitation/complete") => keeps::<v1::CompleteElicitationNotification>(method, params),
        (_, "elicitation/complete") => keeps::<v2::CompleteElicitationNotification>(method, params),
        (1, "auth/status_update") => keeps::<v1::AuthStatusUpdateNotification>(method, params),
        (_, "auth/status_update") => keeps::<v2::AuthStatusUpdateNotification>(method, params),
        (1, "fs/read_text_file") => read::<v1::ReadTextFileRequest>(method, params),
        (_, "$/cancel_request") => {}
        _ => panic!("{method} is not said to clients: {params}"),
    }
}

fn check_result(version: u64, method: &str, result: &Value) {
    match (version, method) {
        (1, "initialize") => read::<v1::InitializeResponse>(method, result),
        (_, "initialize") => read::<v2::InitializeResponse>(method, result),
        (1, "providers/list") => keeps::<v1::ListProvidersResponse>(method, result),
        (_, "providers/list") => keeps::<v2::ListProvidersResponse>(method, result),
        (1, "providers/set") => keeps::<v1::SetProviderResponse>(method, result),
        (_, "providers/set") => keeps::<v2::SetProviderResponse>(method, result),
        (1, "providers/disable") => keeps::<v1::DisableProviderResponse>(method, result),
        (_, "providers/disable") => keeps::<v2::DisableProviderResponse>(method, result),
        (1, "authenticate") => keeps::<v1::AuthenticateResponse>(method, result),
        (_, "auth/login") => keeps::<v2::LoginAuthResponse>(method, result),
        (1, "logout") => keeps::<v1::LogoutResponse>(method, result),
        (_, "auth/logout") => keeps::<v2::LogoutAuthResponse>(method, result),
        (1, "auth/status") => keeps::<v1::AuthStatusResponse>(method, result),
        (_, "auth/status") => keeps::<v2::AuthStatusResponse>(method, result),
        (1, "session/new") => read::<v1::NewSessionResponse>(method, result),
        (_, "session/new") => read::<v2::NewSessionResponse>(method, result),
        (1, "session/load") => read::<v1::LoadSessionResponse>(method, result),
        (_, "session/resume") => read::<v2::ResumeSessionResponse>(method, result),
        (1, "session/set_config_option") => read::<v1::SetSessionConfigOptionResponse>(method, result),
        (_, "session/set_config_option") => read::<v2::SetSessionConfigOptionResponse>(method, result),
        (1, "session/prompt") => read::<v1::PromptResponse>(method, result),
        (_, "session/prompt") => read::<v2::PromptResponse>(method, result),
        _ => {}
    }
}

/// It can be read.
#[track_caller]
fn read<T: DeserializeOwned>(method: &str, value: &Value) {
    reads::<T>(method, value);
}

#[track_caller]
fn reads<T: DeserializeOwned>(method: &str, value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{method}: {error}: {value}"))
}

/// It can be read, and nothing of it is passed over.
#[track_caller]
fn keeps<T: DeserializeOwned + Serialize>(method: &str, value: &Value) {
    let read: T = reads(method, value);
    let written = serde_json::to_value(&read).expect("what was read can be written");
    check_kept(method, value, &written);
}

/// `id` is the earlier name of `providerId`, which is written too.
#[track_caller]
fn check_kept(place: &str, value: &Value, written: &Value) {
    match (value, written) {
        (Value::Object(members), Value::Object(_)) => {
            for (name, member) in members.iter().filter(|(name, member)| *name != "id" && !member.is_null()) {
                check_kept(&format!("{place}.{name}"), member, &written[name]);
            }
        }
        (Value::Array(items), Value::Array(others)) => {
            assert_eq!(items.len(), others.len(), "{place}: {value}");
            items.iter().zip(others).for_each(|(item, other)| check_kept(place, item, other));
        }
        _ => assert_eq!(value, written, "{place}"),
    }
}

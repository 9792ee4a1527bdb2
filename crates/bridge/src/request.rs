//! Requests and their params, by method: what a client asks of an agent and an agent of a client.

use nudge_wire::{RawJson, Version};

use crate::{
    config, content,
    init::{client_to_v1, client_to_v2},
    mcp,
    object::{JsonObject, quote},
};

/// A method and its params.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodCall {
    /// The method.
    pub method: String,
    /// Its params.
    pub params: RawJson,
}

/// A request or notification of one version in the other; `None` if that is the same.
pub fn request_between(from: Version, to: Version, method: &str, params: &RawJson) -> Option<MethodCall> {
    match (from, to) {
        (Version::V1, Version::V2) => Some(request_to_v2(method, params)),
        (Version::V2, Version::V1) => Some(request_to_v1(method, params)),
        _ => None,
    }
}

/// A v1 request or notification for v2, as far as that takes no knowledge of the session. Methods that are the same in
/// both, and those of nobody's, pass as they are.
///
/// Not here: `session/set_mode` and `session/set_config_option` ([`crate::ToV1`]), `session/update` and
/// `session/request_permission` ([`crate::ToV2`]).
pub fn request_to_v2(method: &str, params: &RawJson) -> MethodCall {
    let same = || params.clone();
    let (method, params) = match method {
        "initialize" => (method, client_to_v2(params)),
        "authenticate" => ("auth/login", same()),
        "logout" => ("auth/logout", same()),
        "session/load" => ("session/resume", edit(params, load_to_v2)),
        "session/new" | "session/resume" | "session/fork" => (method, edit(params, servers_to_v2)),
        "session/prompt" => (method, edit(params, |object| blocks(object, "prompt", content::block_to_v2))),
        "elicitation/create" => (method, edit(params, elicitation_to_v2)),
        _ => (method, same()),
    };
    MethodCall { method: method.to_owned(), params }
}

/// A v2 request or notification for v1; see [`request_to_v2`].
pub fn request_to_v1(method: &str, params: &RawJson) -> MethodCall {
    let same = || params.clone();
    let (method, params) = match method {
        "initialize" => (method, client_to_v1(params)),
        "auth/login" => ("authenticate", same()),
        "auth/logout" => ("logout", same()),
        "session/resume" => {
            let replays =
                JsonObject::read(params.as_str()).is_some_and(|object| object.value("replayFrom").is_some());
            let method = if replays { "session/load" } else { method };
            (method, edit(params, resume_to_v1))
        }
        "session/new" | "session/fork" => (method, edit(params, servers_to_v1)),
        "session/prompt" => (method, edit(params, |object| blocks(object, "prompt", content::block_to_v1))),
        "session/set_config_option" => (method, config::set_option_to_v1(params)),
        _ => (method, same()),
    };
    MethodCall { method: method.to_owned(), params }
}

fn edit(params: &RawJson, change: impl FnOnce(&mut JsonObject<'_>)) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
    change(&mut object);
    object.raw()
}

fn servers_to_v2(object: &mut JsonObject<'_>) {
    object.edit_each("mcpServers", mcp::to_v2);
}

/// v1 wants the list even if it is empty.
fn servers_to_v1(object: &mut JsonObject<'_>) {
    if object.value("mcpServers").is_none() {
        object.set("mcpServers", "[]");
    }
    object.edit_each("mcpServers", mcp::to_v1);
}

fn load_to_v2(object: &mut JsonObject<'_>) {
    servers_to_v2(object);
    let start = || JsonObject::default().with_str("type", "start").text();
    let from = object.recall("replayFrom").unwrap_or_else(start);
    object.set("replayFrom", from);
}

/// v1 replays all or nothing, so a place to begin at that it does not know means all.
fn resume_to_v1(object: &mut JsonObject<'_>) {
    servers_to_v1(object);
    let Some(from) = object.take("replayFrom") else { return };
    let start =
        JsonObject::read(&from).is_some_and(|from| from.is("type", "start") && from.get("_meta").is_none());
    if !start && from != "null" {
        object.note("replayFrom", &from);
    }
}

fn blocks(object: &mut JsonObject<'_>, key: &'static str, convert: fn(&str) -> std::borrow::Cow<'_, str>) {
    object.edit_each(key, |block| convert(block).into_owned());
}

/// v2 wants the type of a form's schema, which v1 takes for granted.
fn elicitation_to_v2(object: &mut JsonObject<'_>) {
    object.edit("requestedSchema", |schema| {
        if schema.get("type").is_none() {
            schema.set("type", quote("object"));
        }
        if schema.get("properties").is_none() {
            schema.set("properties", "{}");
        }
    });
}

//! `initialize`: who is there and what they can do.

use nudge_wire::{RawJson, Version, caps::ClientInit};

use crate::object::{JsonObject, items, list, quote};

/// Capabilities of a client that v2 has no place for.
const V1_CLIENT: [&str; 5] = ["fs", "terminal", "session", "subagents", "plan"];
/// What v2 nests in `session` and v1 has in `sessionCapabilities`.
const V1_SESSION: [&str; 8] =
    ["delete", "additionalDirectories", "systemPrompt", "fork", "archive", "status", "title", "_meta"];
/// Session methods that every v2 agent has.
const BASELINE: [&str; 3] = ["list", "resume", "close"];
const PROMPT: [&str; 3] = ["image", "audio", "embeddedContext"];
/// Where what only v1 can say is kept.
const KEPT: &str = "v1";

/// What a client says in the params of `initialize`, as it may send them: in v2 `clientInfo` and `clientCapabilities`, which
/// some pages of the draft have, count as well.
pub fn client_init(version: Version, params: RawJson) -> ClientInit {
    let params = if version == Version::V2 { client_v2(&params) } else { params };
    ClientInit::new(version, params)
}

/// The params of a v2 `initialize`, where `clientInfo` and `clientCapabilities`, which some pages of the draft have, are
/// also under their own names. What stands there already wins.
fn client_v2(params: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
    if let Some(info) = object.value("clientInfo").filter(|_| object.value("info").is_none()) {
        let info = info.to_owned();
        object.set("info", info);
    }
    if let Some(more) = object.get("clientCapabilities").and_then(JsonObject::read) {
        let own = object.get("capabilities").and_then(JsonObject::read).unwrap_or_default();
        let all = own.followed_by(&more).text();
        object.set("capabilities", all);
    }
    object.raw_or(params)
}

/// The params of a v1 `initialize` for a v2 agent.
pub fn client_to_v2(params: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
    begin(&mut object, "2", ("clientCapabilities", "capabilities"), ("clientInfo", "info"));
    object.edit("capabilities", |capabilities| {
        let mut kept = JsonObject::default();
        for member in V1_CLIENT {
            if let Some(value) = capabilities.take(member) {
                kept.set(member, value);
            }
        }
        let kept = kept.text();
        capabilities.note(KEPT, &kept);
        capabilities.edit("auth", |auth| marker(auth, "terminal"));
    });
    object.raw()
}

/// The params of a v2 `initialize` for a v1 agent, which is told to send what every v2 client takes.
pub fn client_to_v1(params: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
    for (own, other) in [("capabilities", "clientCapabilities"), ("info", "clientInfo")] {
        if object.value(own).is_some() {
            object.take(other);
        }
    }
    begin(&mut object, "1", ("capabilities", "clientCapabilities"), ("info", "clientInfo"));
    object.edit("clientCapabilities", |capabilities| {
        if let Some(kept) = capabilities.recall(KEPT) {
            let mut kept = JsonObject::read(&kept).unwrap_or_default();
            for member in V1_CLIENT {
                if let Some(value) = kept.take(member) {
                    capabilities.set(member, value.into_owned());
                }
            }
        } else {
            let session = r#"{"compaction":{},"configOptions":{"boolean":{}},"notices":{}}"#;
            capabilities.set("session", session);
            capabilities.set("plan", "{}");
        }
        capabilities.edit("auth", |auth| flag(auth, "terminal"));
    });
    object.raw()
}

/// The result of a v1 `initialize` for a v2 client.
pub fn agent_to_v2(result: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(result.as_str()) else { return result.clone() };
    begin(&mut object, "2", ("agentCapabilities", "capabilities"), ("agentInfo", "info"));
    object.edit("capabilities", agent_capabilities_to_v2);
    object.edit_each("authMethods", auth_method_to_v2);
    object.raw()
}

/// The result of a v2 `initialize` for a v1 client.
pub fn agent_to_v1(result: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(result.as_str()) else { return result.clone() };
    begin(&mut object, "1", ("capabilities", "agentCapabilities"), ("info", "agentInfo"));
    let signs_in = object.get("authMethods").and_then(items).is_some_and(|methods| !methods.is_empty());
    object.edit("agentCapabilities", |capabilities| agent_capabilities_to_v1(capabilities, signs_in));
    object.edit_each("authMethods", auth_method_to_v1);
    object.raw()
}

/// Version, names, and the members v2 requires.
fn begin(
    object: &mut JsonObject<'_>,
    version: &'static str,
    capabilities: (&str, &'static str),
    info: (&str, &'static str),
) {
    object.set("protocolVersion", version);
    object.rename(capabilities.0, capabilities.1);
    object.rename(info.0, info.1);
    if object.value(capabilities.1).is_none() {
        object.set(capabilities.1, "{}");
    }
    let unknown = || JsonObject::default().with_str("name", "unknown").with_str("version", "0").text();
    if version == "2" && object.value(info.1).is_none() {
        object.set(info.1, unknown());
    }
}

fn agent_capabilities_to_v2(capabilities: &mut JsonObject<'_>) {
    let mut kept = JsonObject::default();
    let keep = |kept: &mut JsonObject<'_>, from: &mut JsonObject<'_>, member: &'static str| {
        if let Some(value) = from.take(member) {
            kept.set(member, value.into_owned());
        }
    };
    keep(&mut kept, capabilities, "loadSession");
    let mut session = nested(capabilities, "session");
    let mut more = nested(capabilities, "sessionCapabilities");
    for member in BASELINE {
        keep(&mut kept, &mut more, member);
    }
    for member in V1_SESSION {
        keep(&mut session, &mut more, member);
    }
    let mut prompt = nested(capabilities, "promptCapabilities");
    for member in PROMPT {
        marker(&mut prompt, member);
    }
    session.set("prompt", prompt.text());
    let mut mcp = nested(capabilities, "mcpCapabilities");
    keep(&mut kept, &mut mcp, "sse");
    for member in ["http", "acp"] {
        marker(&mut mcp, member);
    }
    mcp.set("stdio", "{}");
    session.set("mcp", mcp.text());
    let mut auth = nested(capabilities, "auth");
    keep(&mut kept, &mut auth, "logout");
    if !auth.is_empty() {
        capabilities.set("auth", auth.text());
    }
    if !more.is_empty() {
        kept.set("sessionCapabilities", more.text());
    }
    capabilities.set("session", session.text());
    capabilities.note(KEPT, &kept.text());
}

fn agent_capabilities_to_v1(capabilities: &mut JsonObject<'_>, signs_in: bool) {
    let kept = capabilities.recall(KEPT);
    let has_session = capabilities.value("session").is_some();
    let mut session = nested(capabilities, "session");
    let mut prompt = nested(&mut session, "prompt");
    for member in PROMPT {
        flag(&mut prompt, member);
    }
    let mut mcp = nested(&mut session, "mcp");
    for member in ["http", "acp"] {
        flag(&mut mcp, member);
    }
    mcp.take("stdio");
    let mut v1_session = JsonObject::default();
    for member in V1_SESSION {
        if let Some(value) = session.take(member) {
            v1_session.set(member, value);
        }
    }
    let mut auth = nested(capabilities, "auth");
    if let Some(kept) = kept {
        let mut kept = JsonObject::read(&kept).unwrap_or_default();
        for member in BASELINE {
            restore(&mut kept, member, &mut v1_session);
        }
        restore(&mut kept, "sse", &mut mcp);
        restore(&mut kept, "logout", &mut auth);
        restore(&mut kept, "loadSession", capabilities);
    } else {
        if has_session {
            capabilities.set("loadSession", "true");
            for member in BASELINE {
                v1_session.set(member, "{}");
            }
        }
        if signs_in {
            auth.set("logout", "{}");
        }
    }
    let parts =
        [("promptCapabilities", prompt), ("mcpCapabilities", mcp), ("sessionCapabilities", v1_session)];
    for (name, part) in parts.into_iter().chain([("session", session), ("auth", auth)]) {
        if !part.is_empty() {
            capabilities.set(name, part.text());
        }
    }
}

fn restore(kept: &mut JsonObject<'_>, member: &'static str, place: &mut JsonObject<'_>) {
    if let Some(value) = kept.take(member) {
        place.set(member, value.into_owned());
    }
}

/// Takes a member that is an object out, as one of its own.
fn nested(object: &mut JsonObject<'_>, key: &str) -> JsonObject<'static> {
    let Some(text) = object.take(key) else { return JsonObject::default() };
    JsonObject::read(&text).map(|object| object.to_owned()).unwrap_or_default()
}

/// `true` becomes `{}`, anything else but an object becomes absence.
fn marker(object: &mut JsonObject<'_>, member: &'static str) {
    match object.get(member) {
        Some("true") => object.set(member, "{}"),
        Some(value) if value.starts_with('{') => {}
        _ => drop(object.take(member)),
    }
}

/// An object becomes `true`, anything else absence.
fn flag(object: &mut JsonObject<'_>, member: &'static str) {
    match object.get(member) {
        Some("true") => {}
        Some(value) if value.starts_with('{') => object.set(member, "true"),
        _ => drop(object.take(member)),
    }
}

fn auth_method_to_v2(text: &str) -> String {
    let Some(mut method) = JsonObject::read(text) else { return text.to_owned() };
    method.rename("id", "methodId");
    if method.get("type").is_none() {
        method.put("type", "agent");
    }
    let env = method.get("env").and_then(|env| serde_json::from_str::<serde_json::Map<_, _>>(env).ok());
    if let Some(env) = env.filter(|_| method.is("type", "terminal")) {
        let variable = |(name, value): (&String, &serde_json::Value)| {
            JsonObject::default().with_str("name", name).with("value", value.to_string()).text()
        };
        method.set("env", list(env.iter().map(variable)));
    }
    method.text()
}

fn auth_method_to_v1(text: &str) -> String {
    let Some(mut method) = JsonObject::read(text) else { return text.to_owned() };
    method.rename("methodId", "id");
    if method.is("type", "agent") {
        method.take("type");
    }
    let env = method.get("env").and_then(items).filter(|_| method.is("type", "terminal"));
    if let Some(env) = env {
        let variable = |text: &str| {
            let variable = JsonObject::read(text)?;
            Some(format!("{}:{}", quote(&variable.string("name")?), variable.get("value")?))
        };
        let env: Vec<String> = env.into_iter().filter_map(variable).collect();
        method.set("env", format!("{{{}}}", env.join(",")));
    }
    method.text()
}

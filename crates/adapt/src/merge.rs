//! What an agent offers itself, and what is told to clients: that and what Nudge adds.

use nudge_bridge::{agent_to_v1, agent_to_v2};
use nudge_wire::{RawJson, Version, caps::AgentInit};
use serde_json::{Value, json};

use crate::Tier;

/// The session methods that an agent has itself, beside `session/new`, `session/prompt` and `session/cancel`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own on the wire")]
pub struct Offers {
    /// `session/load`; in version 2 `session/resume` with a replay.
    pub load: bool,
    /// `session/resume`.
    pub resume: bool,
    /// `session/list`.
    pub list: bool,
    /// `session/fork`.
    pub fork: bool,
    /// `session/close`.
    pub close: bool,
    /// `session/delete`.
    pub delete: bool,
    /// Images in prompts.
    pub image: bool,
    /// Sound in prompts.
    pub audio: bool,
    /// Whole resources in prompts.
    pub embedded_context: bool,
}

impl Offers {
    /// What the answer to `initialize` says.
    pub fn of(init: &AgentInit) -> Self {
        let at = |path: &[&str]| {
            let value = init.result.get(path);
            value.is_some_and(|value| !matches!(value.as_str(), "null" | "false"))
        };
        match init.version {
            Version::V1 => {
                let session = |name: &str| at(&["agentCapabilities", "sessionCapabilities", name]);
                let prompt = |name: &str| at(&["agentCapabilities", "promptCapabilities", name]);
                Self {
                    load: at(&["agentCapabilities", "loadSession"]),
                    resume: session("resume"),
                    list: session("list"),
                    fork: session("fork"),
                    close: session("close"),
                    delete: session("delete"),
                    image: prompt("image"),
                    audio: prompt("audio"),
                    embedded_context: prompt("embeddedContext"),
                }
            }
            Version::V2 => {
                let session = |name: &str| at(&["capabilities", "session", name]);
                let prompt = |name: &str| at(&["capabilities", "session", "prompt", name]);
                let has_sessions = at(&["capabilities", "session"]);
                Self {
                    load: has_sessions,
                    resume: has_sessions,
                    list: has_sessions,
                    close: has_sessions,
                    fork: session("fork"),
                    delete: session("delete"),
                    image: prompt("image"),
                    audio: prompt("audio"),
                    embedded_context: prompt("embeddedContext"),
                }
            }
        }
    }
}

/// What a client of this version is told of the agent: all it says itself, and what Nudge adds for sessions.
pub fn merged(agent: &AgentInit, version: Version, release: &str) -> AgentInit {
    let offers = Offers::of(agent);
    let tier = Tier::of(agent);
    let result = match (agent.version, version) {
        (Version::V1, Version::V2) => agent_to_v2(&agent.result),
        (Version::V2, Version::V1) => agent_to_v1(&agent.result),
        _ => agent.result.clone(),
    };
    let own = [
        ("inject", agent.inject().is_some()),
        ("steering", agent.steering()),
        ("nes", agent.nes().is_some()),
    ];
    let mut added: Vec<&str> = own.into_iter().filter_map(|(name, has)| (!has).then_some(name)).collect();
    let result = with_sessions(result, offers, version, &mut added);
    let nudge = json!({ "version": release, "agentProtocolVersion": agent.version.number(),
        "steerTier": tier.number(), "added": added });
    let result = set(result, &["_meta", "nudge"], &nudge);
    let init = AgentInit::new(version, result);
    let with_inject =
        init.clone().with_inject(&tier.capability(agent)).and_then(|init| init.with_steering(true));
    with_inject.unwrap_or(init)
}

/// The session methods that the store supplies where the agent has none.
fn with_sessions(
    mut result: RawJson,
    offers: Offers,
    version: Version,
    added: &mut Vec<&'static str>,
) -> RawJson {
    let is_v1 = version == Version::V1;
    if !offers.load {
        added.push("load");
        if is_v1 {
            result = set(result, &["agentCapabilities", "loadSession"], &json!(true));
        }
    }
    let methods = [
        ("resume", offers.resume),
        ("list", offers.list),
        ("close", offers.close),
        ("delete", offers.delete),
    ];
    for (name, _) in methods.into_iter().filter(|(_, has)| !has) {
        added.push(name);
        if is_v1 {
            result = set(result, &["agentCapabilities", "sessionCapabilities", name], &json!({}));
        } else if name == "delete" {
            result = set(result, &["capabilities", "session", name], &json!({}));
        }
    }
    if !is_v1 {
        result = set(result, &["capabilities", "session", "steering"], &json!({}));
    }
    result
}

/// Sets a member; an answer that is not made of objects stays as it is.
fn set(result: RawJson, path: &[&str], value: &Value) -> RawJson {
    let value = RawJson::of(value).expect("plain data with string keys is JSON");
    result.with(path, &value).unwrap_or(result)
}

//! What is offered in `initialize`, declared in one place: by the built-in agent, and in front of another.

use nudge_adapt::{AgentOffers, SteerTier};
use nudge_bridge::{agent_to_v1, agent_to_v2};
use nudge_wire::{
    RawJson, Version, acp,
    caps::AgentInit,
    inject::{InjectCapability, InjectMode, SteerInStream},
    raw::NotAnObject,
};
use serde::Serialize;
use serde_json::json;

use crate::sign_in::ClientSignIn;

/// A capability of sessions, or of the sign-in before them: where each version says it, and who has it.
struct SessionCapability {
    name: &'static str,
    /// Member and value in version 1.
    v1: Option<(&'static [&'static str], &'static str)>,
    /// Member and value in version 2, where some need not be said.
    v2: Option<(&'static [&'static str], &'static str)>,
    /// Whether the built-in agent has it.
    built_in: bool,
    /// Where Nudge supplies it to agents that lack it: whether an agent has it.
    supplied: Option<fn(&AgentOffers) -> bool>,
}

/// All of them but mid-turn input and suggestions, which are negotiated, and what the built-in agent offers because of its models.
const SESSION_CAPABILITIES: &[SessionCapability] = &[
    SessionCapability {
        name: "load",
        v1: Some((&["agentCapabilities", "loadSession"], "true")),
        v2: None,
        built_in: true,
        supplied: Some(|agent| agent.load),
    },
    SessionCapability {
        name: "image",
        v1: Some((&["agentCapabilities", "promptCapabilities", "image"], "false")),
        v2: None,
        built_in: true,
        supplied: None,
    },
    SessionCapability {
        name: "audio",
        v1: Some((&["agentCapabilities", "promptCapabilities", "audio"], "false")),
        v2: None,
        built_in: true,
        supplied: None,
    },
    SessionCapability {
        name: "embeddedContext",
        v1: Some((&["agentCapabilities", "promptCapabilities", "embeddedContext"], "true")),
        v2: Some((&["capabilities", "session", "prompt", "embeddedContext"], "{}")),
        built_in: true,
        supplied: None,
    },
    SessionCapability {
        name: "resume",
        v1: Some((&["agentCapabilities", "sessionCapabilities", "resume"], "{}")),
        v2: None,
        built_in: true,
        supplied: Some(|agent| agent.resume),
    },
    SessionCapability {
        name: "list",
        v1: Some((&["agentCapabilities", "sessionCapabilities", "list"], "{}")),
        v2: None,
        built_in: true,
        supplied: Some(|agent| agent.list),
    },
    SessionCapability {
        name: "close",
        v1: Some((&["agentCapabilities", "sessionCapabilities", "close"], "{}")),
        v2: None,
        built_in: true,
        supplied: Some(|agent| agent.close),
    },
    SessionCapability {
        name: "delete",
        v1: Some((&["agentCapabilities", "sessionCapabilities", "delete"], "{}")),
        v2: Some((&["capabilities", "session", "delete"], "{}")),
        built_in: true,
        supplied: Some(|agent| agent.delete),
    },
    SessionCapability {
        name: "fork",
        v1: Some((&["agentCapabilities", "sessionCapabilities", "fork"], "{}")),
        v2: Some((&["capabilities", "session", "fork"], "{}")),
        built_in: true,
        supplied: None,
    },
    SessionCapability {
        name: "additionalDirectories",
        v1: Some((&["agentCapabilities", "sessionCapabilities", "additionalDirectories"], "{}")),
        v2: Some((&["capabilities", "session", "additionalDirectories"], "{}")),
        built_in: true,
        supplied: None,
    },
    SessionCapability {
        name: "auth.status",
        v1: Some((&["agentCapabilities", "auth", "status"], "{}")),
        v2: Some((&["capabilities", "auth", "status"], "{}")),
        built_in: false,
        supplied: Some(|agent| agent.auth_status),
    },
];

/// In version 2 a prompt while a turn runs is a steer, whoever the agent is.
const PROMPT_STEERS: &[&str] = &["capabilities", "session", "steering"];

impl SessionCapability {
    fn said_in(&self, version: Version) -> Option<(&'static [&'static str], &'static str)> {
        match version {
            Version::V1 => self.v1,
            Version::V2 => self.v2,
        }
    }
}

/// What a gateway without sessions offers, suggestions aside: nothing.
pub(crate) fn without_sessions(version: Version, release: &str) -> AgentInit {
    AgentInit::new(version, introduction(version, release))
}

/// What the built-in agent offers, suggestions aside.
pub(crate) fn of_built_in(
    version: Version,
    release: &str,
    sign_in: Option<&ClientSignIn>,
) -> Result<AgentInit, NotAnObject> {
    let capabilities = SESSION_CAPABILITIES.iter().filter(|capability| capability.built_in);
    let said = capabilities.filter_map(|capability| capability.said_in(version));
    let result = said.fold(introduction(version, release), |result, (path, value)| set(result, path, value));
    let result = sign_in.map_or(result.clone(), |sign_in| with_models(result, version, &sign_in.methods()));
    let init = AgentInit::new(version, with_prompt_steers(result, version));
    let in_stream = vec![SteerInStream::Interrupt, SteerInStream::Finish];
    let inject = InjectCapability::new(vec![InjectMode::Queue, InjectMode::Steer], in_stream).with_replace();
    init.with_inject(&inject)?.with_steering(true)
}

/// What is offered in front of an agent, suggestions aside: all it says itself, and what Nudge adds.
pub(crate) fn in_front_of(agent: &AgentInit, version: Version, release: &str) -> AgentInit {
    let (offers, tier) = (AgentOffers::of(agent), SteerTier::of(agent));
    let result = match (agent.version, version) {
        (Version::V1, Version::V2) => agent_to_v2(&agent.result),
        (Version::V2, Version::V1) => agent_to_v1(&agent.result),
        _ => agent.result.clone(),
    };
    let lacks = |capability: &&SessionCapability| capability.supplied.is_some_and(|has| !has(&offers));
    let supplied: Vec<_> = SESSION_CAPABILITIES.iter().filter(lacks).collect();
    let said = supplied.iter().filter_map(|capability| capability.said_in(version));
    let result = said.fold(result, |result, (path, value)| set(result, path, value));
    let own = [
        ("inject", agent.inject().is_some()),
        ("steering", agent.steering()),
        ("nes", agent.nes().is_some()),
    ];
    let negotiated = own.into_iter().filter_map(|(name, has)| (!has).then_some(name));
    let added: Vec<_> = negotiated.chain(supplied.iter().map(|capability| capability.name)).collect();
    let nudge = json!({ "version": release, "agentProtocolVersion": agent.version.number(),
        "steerTier": tier.number(), "steerMethod": tier.method(), "added": added });
    let result = set(with_prompt_steers(result, version), &["_meta", "nudge"], &nudge.to_string());
    let init = AgentInit::new(version, result);
    let steered = init.clone().with_inject(&tier.capability(agent)).and_then(|init| init.with_steering(true));
    // An agent whose answer has no place for it can still be used.
    steered.unwrap_or(init)
}

/// Models of providers, which can be set and signed in to, and some of which take images and sounds; one that does not refuses
/// them.
fn with_models(result: RawJson, version: Version, sign_in: &RawJson) -> RawJson {
    let said: &[(&[&str], &str)] = match version {
        Version::V1 => &[
            (&["agentCapabilities", "providers"], "{}"),
            (&["agentCapabilities", "auth", "logout"], "{}"),
            (&["agentCapabilities", "auth", "status"], "{}"),
            (&["agentCapabilities", "promptCapabilities", "image"], "true"),
            (&["agentCapabilities", "promptCapabilities", "audio"], "true"),
        ],
        Version::V2 => &[
            (&["capabilities", "providers"], "{}"),
            (&["capabilities", "auth", "status"], "{}"),
            (&["capabilities", "session", "prompt", "image"], "{}"),
            (&["capabilities", "session", "prompt", "audio"], "{}"),
        ],
    };
    let result = said.iter().fold(result, |result, (path, value)| set(result, path, value));
    set(result, &["authMethods"], sign_in.as_str())
}

fn with_prompt_steers(result: RawJson, version: Version) -> RawJson {
    match version {
        Version::V1 => result,
        Version::V2 => set(result, PROMPT_STEERS, "{}"),
    }
}

/// Version and name of who answers.
fn introduction(version: Version, release: &str) -> RawJson {
    match version {
        Version::V1 => {
            let info = acp::v1::Implementation::new("nudge", release).title("Nudge".to_owned());
            raw(&acp::v1::InitializeResponse::new(acp::ProtocolVersion::V1).agent_info(info))
        }
        Version::V2 => {
            let info = acp::v2::Implementation::new("nudge", release).title("Nudge".to_owned());
            raw(&acp::v2::InitializeResponse::new(acp::ProtocolVersion::V2, info))
        }
    }
}

fn raw(value: &impl Serialize) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

/// Sets a member; an answer that is not made of objects stays as it is.
fn set(result: RawJson, path: &[&str], value: &str) -> RawJson {
    let value = RawJson::parse(value.to_owned()).expect("what is said here is JSON");
    result.with(path, &value).unwrap_or(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn read(init: &AgentInit) -> Value {
        init.result.to().expect("it is JSON")
    }

    fn agent(version: Version, result: &Value) -> AgentInit {
        AgentInit::new(version, raw(result))
    }

    #[test]
    fn what_the_built_in_agent_offers_in_version_1() {
        let said = read(&of_built_in(Version::V1, "1.2.3", None).unwrap());
        assert_eq!(said["protocolVersion"], 1);
        assert_eq!(said["agentInfo"], json!({ "name": "nudge", "version": "1.2.3", "title": "Nudge" }));
        let capabilities = &said["agentCapabilities"];
        assert_eq!(capabilities["loadSession"], true);
        let prompt = json!({ "image": false, "audio": false, "embeddedContext": true });
        assert_eq!(capabilities["promptCapabilities"], prompt);
        for name in ["list", "resume", "close", "fork", "delete", "additionalDirectories"] {
            assert_eq!(capabilities["sessionCapabilities"][name], json!({}), "{name}");
        }
        assert_eq!(capabilities["session"]["inject"]["modes"], json!(["queue", "steer"]));
        assert_eq!(said["_meta"]["steering"]["supported"], true);
    }

    #[test]
    fn what_the_built_in_agent_offers_in_version_2() {
        let said = read(&of_built_in(Version::V2, "1.2.3", None).unwrap());
        assert_eq!(said["protocolVersion"], 2);
        assert_eq!(said["info"]["name"], "nudge");
        let session = &said["capabilities"]["session"];
        assert_eq!(session["prompt"], json!({ "embeddedContext": {} }));
        for name in ["fork", "delete", "additionalDirectories", "steering"] {
            assert_eq!(session[name], json!({}), "{name}");
        }
    }

    #[test]
    fn what_an_agent_lacks_is_added_and_what_it_says_stays() {
        let bare =
            json!({ "protocolVersion": 1, "agentCapabilities": { "mine": [1, 2] }, "authMethods": [] });
        let said = read(&in_front_of(&agent(Version::V1, &bare), Version::V1, "9"));
        let added = ["inject", "steering", "nes", "load", "resume", "list", "close", "delete", "auth.status"];
        assert_eq!(said["_meta"]["nudge"]["added"], json!(added));
        assert_eq!(said["_meta"]["nudge"]["steerTier"], 4);
        assert_eq!(said["agentCapabilities"]["mine"], json!([1, 2]));
        assert_eq!(said["agentCapabilities"]["loadSession"], true);
        assert_eq!(said["agentCapabilities"]["auth"], json!({ "status": {} }));
        assert!(
            said["agentCapabilities"]["sessionCapabilities"].get("fork").is_none(),
            "an agent's own alone"
        );
        assert!(said["agentCapabilities"].get("promptCapabilities").is_none(), "{said}");
    }

    #[test]
    fn what_an_agent_has_is_not_added() {
        let rich = json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true,
            "auth": { "logout": {}, "status": { "its": "own" } },
            "sessionCapabilities": { "resume": {}, "list": {}, "close": {}, "delete": { "its": "own" } } } });
        let said = read(&in_front_of(&agent(Version::V1, &rich), Version::V1, "9"));
        assert_eq!(said["_meta"]["nudge"]["added"], json!(["inject", "steering", "nes"]));
        assert_eq!(said["agentCapabilities"]["sessionCapabilities"]["delete"], json!({ "its": "own" }));
        assert_eq!(said["agentCapabilities"]["auth"], json!({ "logout": {}, "status": { "its": "own" } }));
    }

    #[test]
    fn an_agent_of_the_other_version_is_told_in_the_clients() {
        let v1 = json!({ "protocolVersion": 1, "agentCapabilities": {}, "agentInfo": { "name": "a", "version": "1" } });
        let said = read(&in_front_of(&agent(Version::V1, &v1), Version::V2, "9"));
        assert_eq!(said["info"]["name"], "a");
        assert_eq!(said["_meta"]["nudge"]["agentProtocolVersion"], 1);
        assert_eq!(said["capabilities"]["session"]["delete"], json!({}));
        assert_eq!(said["capabilities"]["session"]["steering"], json!({}));
        assert_eq!(said["capabilities"]["auth"]["status"], json!({}));
    }

    #[test]
    fn what_an_odd_agent_says_stays_as_it_is() {
        for odd in [
            json!({ "protocolVersion": 1, "agentCapabilities": 7 }),
            json!({ "protocolVersion": 1, "agentCapabilities": { "session": true } }),
            json!({ "protocolVersion": 1, "agentCapabilities": {}, "_meta": { "steering": true } }),
            json!({ "protocolVersion": 1, "agentCapabilities": {}, "_meta": "mine" }),
        ] {
            let said = read(&in_front_of(&agent(Version::V1, &odd), Version::V1, "9"));
            assert_eq!(said["protocolVersion"], 1);
            for (member, value) in odd.as_object().unwrap().iter().filter(|(_, value)| !value.is_object()) {
                assert_eq!(said[member], *value, "{odd}");
            }
        }
    }
}

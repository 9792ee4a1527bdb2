//! How a steer gets into an agent, best way first.

use nudge_wire::{
    RawJson, Version,
    caps::AgentInit,
    inject::{InjectCapability, InjectMode, SteerInStream},
};

use crate::goose_steers;

/// How a steer gets into an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteerTier {
    /// By `session/inject`, which the agent has.
    Inject,
    /// By `_session/steering`, which the agent has.
    Steering,
    /// By `_goose/unstable/session/steer`, which goose has.
    Goose,
    /// By a `session/prompt` while a turn runs, which a version 2 agent may take.
    Prompt,
    /// The turn is cancelled at a break-point and the agent prompted again, with the steer.
    Cancel,
}

impl SteerTier {
    /// The best that the agent offers.
    pub fn of(init: &AgentInit) -> Self {
        let takes_steers = |inject: InjectCapability| inject.modes.contains(&InjectMode::Steer);
        let has =
            |path: &[&str]| init.result.get(path).is_some_and(|marker: RawJson| marker.as_str() != "null");
        match init.version {
            _ if init.inject().is_some_and(takes_steers) => Self::Inject,
            _ if init.steering() => Self::Steering,
            Version::V1 if goose_steers::has_steer(init) => Self::Goose,
            Version::V2 if has(&["capabilities", "session", "steering"]) => Self::Prompt,
            _ => Self::Cancel,
        }
    }

    /// Its number: 1 is the best.
    pub const fn number(self) -> u8 {
        match self {
            Self::Inject => 1,
            Self::Steering | Self::Goose => 2,
            Self::Prompt => 3,
            Self::Cancel => 4,
        }
    }

    /// The method by which a steer gets in.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Inject => "session/inject",
            Self::Steering => "_session/steering",
            Self::Goose => goose_steers::STEER,
            Self::Prompt | Self::Cancel => "session/prompt",
        }
    }

    /// Whether a steer cuts the answer of this agent off, or waits for a place in it.
    fn in_stream(self, init: &AgentInit) -> SteerInStream {
        match self {
            Self::Cancel => SteerInStream::Interrupt,
            Self::Steering if was_seen_to_cut_off(init) => SteerInStream::Interrupt,
            Self::Inject | Self::Steering | Self::Goose | Self::Prompt => SteerInStream::Finish,
        }
    }

    /// What sessions of this agent do with mid-turn input.
    pub fn capability(self, init: &AgentInit) -> InjectCapability {
        InjectCapability::new(vec![InjectMode::Queue, InjectMode::Steer], vec![self.in_stream(init)])
            .with_replace()
    }
}

/// Agents whose steering was tried and found to cut the answer off.
fn was_seen_to_cut_off(init: &AgentInit) -> bool {
    name(init).is_some_and(|name| name.ends_with("claude-agent-acp") || name.ends_with("codex-acp"))
}

/// What an agent calls itself.
pub(crate) fn name(init: &AgentInit) -> Option<String> {
    let names = [&["agentInfo", "name"][..], &["info", "name"][..]];
    names.into_iter().find_map(|path| init.result.get(path)?.to().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn tier(version: Version, result: &Value) -> u8 {
        SteerTier::of(&AgentInit::new(version, RawJson::of(result).unwrap())).number()
    }

    #[test]
    fn the_best_way_that_an_agent_offers_is_taken() {
        let steering = json!({ "_meta": { "steering": { "supported": true } } });
        let inject = json!({ "agentCapabilities": { "session": { "inject": { "modes": ["queue", "steer"] } } },
            "_meta": { "steering": { "supported": true } } });
        let queue_only = json!({ "agentCapabilities": { "session": { "inject": { "modes": ["queue"] } } } });
        let prompt = json!({ "capabilities": { "session": { "steering": {} } } });
        assert_eq!(tier(Version::V1, &inject), 1);
        assert_eq!(tier(Version::V1, &steering), 2);
        assert_eq!(tier(Version::V2, &prompt), 3);
        assert_eq!(tier(Version::V1, &prompt), 4);
        assert_eq!(tier(Version::V1, &queue_only), 4);
        assert_eq!(tier(Version::V1, &json!({})), 4);
        for (version, number) in [("1.52.0", 2), ("1.53.1", 2), ("2.0.0", 2), ("1.34.0", 4), ("odd", 4)] {
            let goose = json!({ "agentInfo": { "name": "goose", "version": version } });
            assert_eq!(tier(Version::V1, &goose), number, "{version}");
        }
    }
}

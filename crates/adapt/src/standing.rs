//! How things stand in a session of an agent, for a client that joins it.

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_wire::{RawJson, Version};
use serde_json::json;

use crate::{AgentOffers, SteerTier, running::RunningAgent};

/// What is known of an agent and its session, also while the agent is away.
pub(crate) struct AgentStanding {
    pub(crate) version: Version,
    pub(crate) tier: SteerTier,
    offers: AgentOffers,
    /// What the agent answered when the session was opened, kept up to date.
    result: RawJson,
    /// The commands it offers.
    commands: Option<IndexedUpdate>,
}

impl AgentStanding {
    pub(crate) fn new(running: &RunningAgent, result: RawJson) -> Self {
        let (version, tier, offers) = (running.init.version, running.tier, running.offers);
        Self { version, tier, offers, result, commands: None }
    }

    /// The agent was started again, and answered this when the session was opened.
    pub(crate) fn is_back(&mut self, running: &RunningAgent, result: RawJson) {
        *self = Self { commands: self.commands.take(), ..Self::new(running, result) };
    }

    /// Whether prompts and injects may have this kind of content.
    pub(crate) fn takes(&self, content: &str) -> bool {
        match content {
            "image" => self.offers.image,
            "audio" => self.offers.audio,
            "resource" => self.offers.embedded_context,
            // What is not known here may be known there.
            _ => true,
        }
    }

    /// The result of the request that brought the session into use, as it would be now.
    pub(crate) fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson {
        let result = self.result.clone();
        if let Some(id) = id.map(|id| RawJson::of(id).expect("a string is JSON")) {
            let is_named = result.get(&["sessionId"]).is_some_and(|named| named == id);
            return if is_named { result } else { result.with(&["sessionId"], &id).unwrap_or(result) };
        }
        let inject = meta.get(&["inject"]).unwrap_or_else(|| RawJson::object(&[]));
        let result = without(&result, "sessionId");
        result.with(&["_meta", "inject"], &inject).unwrap_or(result)
    }

    /// Updates that tell of now.
    pub(crate) fn updates(&self) -> Vec<IndexedUpdate> {
        self.commands.iter().cloned().collect()
    }

    /// Notes what a request that set something changed: `configOptions` in its answer, or the mode it named.
    pub(crate) fn set(&mut self, method: &str, params: &RawJson, answer: &RawJson) {
        if let Some(options) = answer.get(&["configOptions"]) {
            self.note(&["configOptions"], &options);
        }
        if method == "session/set_mode"
            && let Some(mode) = params.get(&["modeId"])
        {
            self.note(&["modes", "currentModeId"], &mode);
        }
    }

    /// Notes what an update tells of now.
    pub(crate) fn hear(&mut self, update: &IndexedUpdate) {
        match update.kind {
            UpdateKind::CurrentModeUpdate => {
                if let Some(mode) = update.raw.get(&["currentModeId"]) {
                    self.note(&["modes", "currentModeId"], &mode);
                }
            }
            UpdateKind::ConfigOptionUpdate => {
                if let Some(options) = update.raw.get(&["configOptions"]) {
                    self.note(&["configOptions"], &options);
                }
            }
            UpdateKind::AvailableCommandsUpdate => self.commands = Some(update.clone()),
            _ => {}
        }
    }

    /// Changes a member of the result that is there.
    fn note(&mut self, path: &[&str], value: &RawJson) {
        if self.result.get(&path[..1]).is_some_and(|member| member.as_str() != "null") {
            self.result = self.result.with(path, value).unwrap_or_else(|_| self.result.clone());
        }
    }
}

fn without(object: &RawJson, name: &str) -> RawJson {
    let Ok(mut members) = object.to::<serde_json::Map<String, serde_json::Value>>() else {
        return object.clone();
    };
    members.shift_remove(name);
    RawJson::of(&json!(members)).expect("a tree of JSON values can be written")
}

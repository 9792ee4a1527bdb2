//! Steers of goose, which takes them by a method of its own: it says which run they are for, and later that one went in. One that did
//! not when the run has ended is lost there.

use std::sync::Arc;

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_peer::CallError;
use nudge_wire::{RawJson, caps::AgentInit};

use crate::{
    calls::AgentAnswer,
    prompt_run::{SteerId, SteerOutcome},
    tier::name,
};

/// The method.
pub(crate) const STEER: &str = "_goose/unstable/session/steer";
/// The first version that was seen to have it.
const SINCE: [u64; 2] = [1, 52];
/// The most messages remembered that went in before their steers were answered.
const MOST: usize = 64;

/// Whether an agent is one that has it: it does not say so before it runs.
pub(crate) fn has_steer(init: &AgentInit) -> bool {
    let version: Option<String> = init.result.get(&["agentInfo", "version"]).and_then(|text| text.to().ok());
    let numbers = version.unwrap_or_default();
    let numbers: Vec<u64> = numbers.split('.').map_while(|number| number.parse().ok()).collect();
    name(init).as_deref() == Some("goose") && numbers.as_slice() >= &SINCE[..]
}

/// The steers of one prompt that goose has and has not taken in.
#[derive(Default)]
pub(crate) struct GooseSteers {
    /// The run that they are for, while there is one.
    run: Option<RawJson>,
    /// What it calls those that wait.
    waiting: Vec<(SteerId, Arc<str>)>,
    /// Messages that went in.
    went_in: Vec<Arc<str>>,
}

impl GooseSteers {
    /// Takes what it tells; the steer that went in, if it tells of one that waits.
    pub(crate) fn hear(&mut self, update: &IndexedUpdate) -> Option<SteerId> {
        match update.kind {
            UpdateKind::SessionInfoUpdate => {
                if let Some(run) = update.raw.get(&["_meta", "goose", "activeRunId"]) {
                    self.run = Some(run).filter(|run| run.as_str() != "null");
                }
                None
            }
            UpdateKind::UserMessageChunk => {
                let message = update.message_id.as_ref()?;
                if let Some(at) = self.waiting.iter().position(|(_, waiting)| waiting == message) {
                    return Some(self.waiting.remove(at).0);
                }
                if self.went_in.len() < MOST {
                    self.went_in.push(Arc::clone(message));
                }
                None
            }
            _ => None,
        }
    }

    /// The params of a steer, if there is a run that could take it.
    pub(crate) fn params(&self, session: &RawJson, content: &RawJson) -> Option<RawJson> {
        let run = self.run.as_ref()?;
        Some(RawJson::object(&[("sessionId", session), ("prompt", content), ("expectedRunId", run)]))
    }

    /// What became of a steer by this answer; nothing if it is not known yet. `has_ended` says that the prompt is over.
    pub(crate) fn answered(
        &mut self,
        id: SteerId,
        answer: &AgentAnswer,
        has_ended: bool,
    ) -> Option<SteerOutcome> {
        let message: Option<Arc<str>> = match answer {
            Ok(result) => result.get(&["messageId"]).and_then(|id| id.to::<String>().ok()).map(Into::into),
            // The run has ended, or another has begun.
            Err(CallError::Rpc(_)) if self.run.is_none() => return Some(SteerOutcome::TooLate),
            Err(_) => return Some(SteerOutcome::Refused),
        };
        match message {
            Some(message) if self.went_in.contains(&message) => Some(SteerOutcome::Taken),
            _ if has_ended => Some(SteerOutcome::PromptRequired),
            Some(message) => {
                self.waiting.push((id, message));
                None
            }
            // It cannot be told whether it goes in.
            None => Some(SteerOutcome::Taken),
        }
    }

    /// The prompt has ended: steers that it has not taken in by now.
    pub(crate) fn left_over(&mut self) -> Vec<SteerId> {
        self.went_in.clear();
        std::mem::take(&mut self.waiting).into_iter().map(|(id, _)| id).collect()
    }
}

//! A message to a turn that runs, the best way the agent has, and what became of it.

use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chat::Chat;

/// How a message gets into a turn that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SteerWay {
    /// `session/inject`.
    Inject,
    /// `_session/steering`.
    Steering,
    /// goose's own, for the run of this id.
    OfRun(String),
    /// A second `session/prompt`.
    Prompt,
}

/// A message that was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentSteer {
    /// The id of its request.
    pub(crate) id: u64,
}

/// What became of a message that was sent as the fault struck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteerFate {
    /// The model was asked with it, this many seconds after it was sent.
    Reached(f64),
    /// The model got it with the next prompt only.
    ReachedLater,
    /// It was said that it was not taken.
    Refused(String),
    /// It was taken, or nothing was said about it, and no model ever got it.
    Lost(String),
}

impl SteerWay {
    fn of(chat: &Chat) -> Self {
        if chat.inject_modes().contains(&"steer") {
            return Self::Inject;
        }
        if chat.initialized["_meta"]["steering"]["supported"] == true {
            return Self::Steering;
        }
        let runs = chat.updates(0).filter_map(|update| update["_meta"]["goose"]["activeRunId"].as_str());
        runs.last().map_or(Self::Prompt, |run| Self::OfRun(run.to_owned()))
    }
}

/// Sends a message to the turn that runs.
pub(crate) fn send(chat: &mut Chat, text: &str) -> Result<SentSteer> {
    let (content, session) = (json!([{ "type": "text", "text": text }]), chat.session.clone());
    let (method, params) = match SteerWay::of(chat) {
        SteerWay::Inject => {
            ("session/inject", json!({ "sessionId": session, "mode": "steer", "content": content }))
        }
        SteerWay::Steering => ("_session/steering", json!({ "sessionId": session, "prompt": content })),
        SteerWay::OfRun(run) => (
            "_goose/unstable/session/steer",
            json!({ "sessionId": session, "prompt": content, "expectedRunId": run }),
        ),
        SteerWay::Prompt => ("session/prompt", json!({ "sessionId": session, "prompt": content })),
    };
    Ok(SentSteer { id: chat.client.send(method, &params)? })
}

impl SentSteer {
    /// What was answered to it so far.
    pub(crate) fn answer(self, chat: &Chat) -> Option<&Value> {
        chat.client.response_now(self.id)
    }

    /// What became of it if no model has got it.
    pub(crate) fn without_model(self, chat: &Chat, is_gone: bool) -> SteerFate {
        match self.answer(chat) {
            Some(answer) => fate_of(answer),
            // Whoever waits for an answer knows from the end of the connection that none will come.
            None if is_gone => SteerFate::Refused("the connection ended before it was answered".to_owned()),
            None => SteerFate::Lost("it was never answered".to_owned()),
        }
    }
}

/// What an answer says about a message that no model has got.
pub fn fate_of(answer: &Value) -> SteerFate {
    if answer.get("error").is_some() {
        return SteerFate::Refused("by an error".to_owned());
    }
    let result = &answer["result"];
    if result["outcome"] == "promptRequired" {
        return SteerFate::Refused("it has to be sent as a prompt".to_owned());
    }
    match result["stopReason"].as_str() {
        Some("cancelled") => SteerFate::Refused("cancelled".to_owned()),
        Some(reason) => SteerFate::Lost(format!("it was answered with `{reason}`")),
        None => SteerFate::Lost("it was accepted".to_owned()),
    }
}

/// How long a message is waited for before the turn is cancelled.
pub(crate) const STEER_PATIENCE: Duration = Duration::from_secs(20);

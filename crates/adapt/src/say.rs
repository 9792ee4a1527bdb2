//! The words in which an agent is told what the user says.

use nudge_backend::{PromptParams, UserMessage};
use nudge_bridge::{request_to_v1, request_to_v2};
use nudge_wire::{RawJson, Version};
use serde_json::json;

use crate::SteerTier;

/// What an agent is told whose turn was cut off for a steer that was taken back meanwhile.
const GO_ON: &str = "Go on where you stopped.";

/// For an agent whose turn was cut off for nothing.
pub(crate) fn go_on() -> UserMessage {
    let content = json!([{ "type": "text", "text": GO_ON }]);
    UserMessage { id: "".into(), content: RawJson::of(&content).expect("it is plain data"), params: None }
}

/// The request that gives a steer to an agent.
pub(crate) fn steer(tier: SteerTier, session: &str, content: &RawJson) -> (&'static str, RawJson) {
    let id = RawJson::of(session).expect("a string is JSON");
    let raw = |value| RawJson::of(&value).expect("it is plain data");
    match tier {
        SteerTier::Inject => {
            let mode = raw(json!("steer"));
            ("session/inject", RawJson::object(&[("sessionId", &id), ("mode", &mode), ("content", content)]))
        }
        SteerTier::Steering => {
            let meta = raw(json!({ "steering": { "idleBehavior": "promptRequired" } }));
            (
                "_session/steering",
                RawJson::object(&[("sessionId", &id), ("prompt", content), ("_meta", &meta)]),
            )
        }
        SteerTier::Goose | SteerTier::Prompt | SteerTier::Cancel => {
            ("session/prompt", RawJson::object(&[("sessionId", &id), ("prompt", content)]))
        }
    }
}

/// The params of a prompt: as they came if they say it all, otherwise what was said put together.
pub(crate) fn prompt(
    session: &str,
    version: Version,
    recap: Option<String>,
    messages: &[UserMessage],
) -> RawJson {
    let id = RawJson::of(session).expect("a string is JSON");
    if let ([UserMessage { params: Some(PromptParams { version: from, raw: params }), .. }], None) =
        (messages, &recap)
        && *from == version
    {
        let is_same = params.get(&["sessionId"]).is_some_and(|named| named == id);
        return if is_same {
            params.clone()
        } else {
            params.with(&["sessionId"], &id).unwrap_or_else(|_| params.clone())
        };
    }
    let recap =
        recap.map(|text| RawJson::of(&json!({ "type": "text", "text": text })).expect("it is plain data"));
    let blocks = messages.iter().flat_map(|message| message.content.to::<Vec<RawJson>>().unwrap_or_default());
    let blocks: Vec<RawJson> = recap.into_iter().chain(blocks).collect();
    let blocks = RawJson::of(&blocks).expect("a list of JSON is JSON");
    let params = RawJson::object(&[("sessionId", &id), ("prompt", &blocks)]);
    let convert = match version {
        Version::V1 => request_to_v1,
        Version::V2 => request_to_v2,
    };
    convert("session/prompt", &params).params
}

//! What happens in a random session.

use nudge_backend::{AgentQuestion, BackendEvent, QuestionId, REQUEST_PERMISSION, TurnEnd};
use nudge_mailbox::{ClientId, DeliveryMode};
use nudge_session::{InputContent, SessionRequest};
use nudge_wire::{RawJson, Version};
use serde_json::{Value, json};

use super::reference::{Did, Method};
use crate::choices::Choices;

/// Of version 1, and there from the beginning.
pub(super) const ANN: ClientId = ClientId(1);
/// Of version 2, and there from the beginning.
pub(super) const BOB: ClientId = ClientId(2);

/// What happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Happening {
    Say(Method),
    /// By the number of the request, counted from the last.
    Revoke(usize),
    Replace(usize),
    CancelRequest(usize),
    Cancel,
    Permit,
    Did(Did),
    CatJoins,
    Land,
}

/// Draws what happens from a number.
pub(super) fn happening(number: u64) -> Happening {
    let mut choices = Choices(number);
    let methods =
        [Method::PromptV1, Method::PromptV2, Method::Queue, Method::Steer, Method::Steer, Method::Steering];
    match choices.below(100) {
        0..22 => Happening::Say(choices.of(methods)),
        22..27 => Happening::Revoke(choices.small(5).into()),
        27..31 => Happening::Replace(choices.small(5).into()),
        31..33 => Happening::CancelRequest(choices.small(4).into()),
        33..35 => Happening::Cancel,
        35..38 => Happening::Permit,
        38..66 => Happening::Did(did(&mut choices)),
        66 => Happening::CatJoins,
        _ => Happening::Land,
    }
}

fn did(choices: &mut Choices) -> Did {
    let tool = choices.small(2);
    match choices.below(24) {
        0..6 => Did::Stream,
        6..8 => Did::StreamEnd,
        8..10 => Did::Tool(tool),
        10..13 => Did::ToolEnd(tool),
        13 => Did::Pause,
        14..16 => Did::Unpause,
        16 => Did::Ask,
        17..21 => Did::Break,
        21 => Did::End("cancelled"),
        _ => Did::End("end_turn"),
    }
}

/// What the agent reports. A question has this id.
pub(super) fn event(did: Did, question: QuestionId) -> BackendEvent {
    let id = |tool: u8| format!("tool {tool}").into();
    match did {
        Did::Stream => BackendEvent::StreamStarted,
        Did::StreamEnd => BackendEvent::StreamFinished,
        Did::Tool(tool) => BackendEvent::ToolStarted(id(tool)),
        Did::ToolEnd(tool) => BackendEvent::ToolFinished(id(tool)),
        Did::Pause => BackendEvent::Paused,
        Did::Unpause => BackendEvent::Resumed,
        Did::Break => BackendEvent::BreakPoint,
        Did::End(reason) => BackendEvent::TurnEnded(TurnEnd::stopped(reason)),
        Did::Ask => {
            let (method, params) = (REQUEST_PERMISSION.into(), raw(&json!({})));
            BackendEvent::Question(AgentQuestion { id: question, version: Version::V2, method, params })
        }
    }
}

/// Who says it, and how.
pub(super) fn said(method: Method, text: &str) -> (ClientId, SessionRequest) {
    let content = content(text);
    let body = InputContent { content: content.clone(), params: None };
    match method {
        Method::PromptV1 => (ANN, SessionRequest::Prompt { body, key: None }),
        Method::PromptV2 => (BOB, SessionRequest::Prompt { body, key: None }),
        Method::Queue => (BOB, SessionRequest::Inject { mode: DeliveryMode::Queue, content, key: None }),
        Method::Steer => (BOB, SessionRequest::Inject { mode: DeliveryMode::Steer, content, key: None }),
        Method::Steering => (ANN, SessionRequest::Steering { content, prompt_required: false }),
    }
}

pub(super) fn content(text: &str) -> RawJson {
    raw(&json!([{ "type": "text", "text": text }]))
}

pub(super) fn text_of(content: &RawJson) -> String {
    let blocks: Vec<Value> = content.to().expect("content is an array");
    blocks[0]["text"].as_str().expect("a text").to_owned()
}

pub(super) fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

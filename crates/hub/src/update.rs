//! One `session/update` of a session, with the little of it that is looked at.

use std::{borrow::Cow, sync::Arc};

use nudge_wire::{RawJson, acp::v2};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An `update` object of version 2 and what it is about.
#[derive(Debug, Clone)]
pub(crate) struct Update {
    pub(crate) kind: Kind,
    pub(crate) message_id: Option<Arc<str>>,
    pub(crate) tool_call_id: Option<Arc<str>>,
    pub(crate) raw: RawJson,
}

/// What matters of the kind of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    UserMessage,
    /// A chunk of a message or thought, which both versions write alike.
    Chunk(Arc<str>),
    /// `state_update`: kept to know whether a turn was under way, told live, not replayed.
    State,
    /// What tells of now and is no history.
    Live(Arc<str>),
    /// Everything else: history.
    Other(Arc<str>),
}

impl Kind {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::UserMessage => "user_message",
            Self::State => "state_update",
            Self::Chunk(name) | Self::Live(name) | Self::Other(name) => name,
        }
    }

    /// Whether it is written down.
    pub(crate) fn is_kept(&self) -> bool {
        !matches!(self, Self::Live(_))
    }

    /// Whether a client that asks for the history is shown it.
    pub(crate) fn is_history(name: &str) -> bool {
        name != "state_update"
    }

    fn of(name: &str) -> Self {
        match name {
            "user_message" => Self::UserMessage,
            "agent_message_chunk" | "agent_thought_chunk" => Self::Chunk(name.into()),
            "state_update" => Self::State,
            "notice" | "available_commands_update" | "config_option_update" | "session_info_update" => {
                Self::Live(name.into())
            }
            _ => Self::Other(name.into()),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Looked<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    #[serde(borrow, default)]
    message_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_call_id: Option<Cow<'a, str>>,
}

impl Update {
    /// `None` if it is not an object with a `sessionUpdate`.
    pub(crate) fn read(raw: RawJson) -> Option<Self> {
        let looked: Looked<'_> = serde_json::from_str(raw.as_str()).ok()?;
        let kind = Kind::of(&looked.session_update);
        let message_id = looked.message_id.map(|id| Arc::from(&*id));
        let tool_call_id = looked.tool_call_id.map(|id| Arc::from(&*id));
        Some(Self { kind, message_id, tool_call_id, raw })
    }

    /// One that was read before and stored with its kind. What else it is about is not looked at.
    pub(crate) fn stored(kind: &str, raw: RawJson) -> Self {
        Self { kind: Kind::of(kind), message_id: None, tool_call_id: None, raw }
    }

    /// What the user says.
    pub(crate) fn user_message(id: &str, content: &RawJson) -> Self {
        Self::made(&UserMessage { session_update: "user_message", message_id: id, content })
    }

    /// A whole message of the agent.
    pub(crate) fn agent_message(id: &str, text: &str, meta: &Value) -> Self {
        Self::made(&json!({
            "sessionUpdate": "agent_message",
            "messageId": id,
            "content": [{ "type": "text", "text": text }],
            "_meta": meta,
        }))
    }

    /// A tool call that will not end any more.
    pub(crate) fn tool_call_cancelled(id: &str) -> Self {
        Self::made(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "cancelled" }))
    }

    pub(crate) fn running() -> Self {
        Self::made(&json!({ "sessionUpdate": "state_update", "state": "running" }))
    }

    pub(crate) fn requires_action() -> Self {
        Self::made(&json!({ "sessionUpdate": "state_update", "state": "requires_action" }))
    }

    /// The turn is over; `error` says what went wrong where that is the reason.
    pub(crate) fn idle(stop_reason: Option<&str>, error: Option<&nudge_wire::Error>) -> Self {
        let mut update = json!({ "sessionUpdate": "state_update", "state": "idle" });
        if let Some(reason) = stop_reason {
            update["stopReason"] = json!(reason);
        }
        if let Some(error) = error {
            update["error"] = json!(error);
        }
        Self::made(&update)
    }

    /// The title or the time of the last change.
    pub(crate) fn info(title: Option<&str>, updated_at: &str) -> Self {
        let mut info = v2::SessionInfoUpdate::new().updated_at(updated_at.to_owned());
        if let Some(title) = title {
            info = info.title(title.to_owned());
        }
        Self::made(&v2::SessionUpdate::SessionInfoUpdate(info))
    }

    pub(crate) fn notice(severity: &str, title: &str, meta: &Value) -> Self {
        Self::made(&json!({ "sessionUpdate": "notice", "severity": severity, "title": title, "_meta": meta }))
    }

    fn made(update: &impl Serialize) -> Self {
        let raw = RawJson::of(update).expect("an update is plain data with string keys");
        Self::read(raw).expect("an update made here has its kind")
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UserMessage<'a> {
    session_update: &'a str,
    message_id: &'a str,
    content: &'a RawJson,
}

/// The params of `session/update`.
pub(crate) fn params(session: &str, update: &RawJson) -> RawJson {
    let session = RawJson::of(session).expect("a string is JSON");
    RawJson::object(&[("sessionId", &session), ("update", update)])
}

//! One `session/update` of a session, with the little of it that is looked at.

use std::{borrow::Cow, sync::Arc};

use nudge_adapt::Said;
use nudge_peer::RawNotification;
use nudge_wire::{RawJson, Version, acp::v2};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::shape;

/// An `update` object and what it is about.
#[derive(Debug, Clone)]
pub(crate) struct Update {
    /// The version it is written in: that of the agent, or version 2 for what Nudge says itself.
    pub(crate) version: Version,
    pub(crate) kind: Kind,
    /// The message it belongs to. In version 1 it need not say that itself.
    pub(crate) message_id: Option<Arc<str>>,
    pub(crate) tool_call_id: Option<Arc<str>>,
    pub(crate) raw: RawJson,
    /// The notification it came in, which passes as it is to clients of the same version.
    pub(crate) note: Option<RawNotification>,
}

/// What a user answered to a permission request: kept, because it is acted on, and no part of the conversation.
const PERMISSION_ANSWER: &str = "_nudge/permission_answer";

/// How the kinds begin that are Nudge's own.
const OWN: &str = "_nudge/";
/// What is noted as the kind of an update of an agent that says it is one of those.
const FOREIGN: &str = "_foreign";

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
        !matches!(name, "state_update" | PERMISSION_ANSWER)
    }

    fn of(name: &str) -> Self {
        match name {
            "user_message" => Self::UserMessage,
            "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" => Self::Chunk(name.into()),
            "state_update" => Self::State,
            "notice"
            | "available_commands_update"
            | "config_option_update"
            | "current_mode_update"
            | "session_info_update" => Self::Live(name.into()),
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
    /// How many bytes of text it keeps alive.
    pub(crate) fn size(&self) -> usize {
        self.note.as_ref().map_or(self.raw.as_str().len(), RawNotification::size)
    }

    /// `None` if it is not an object with a `sessionUpdate`.
    pub(crate) fn read(raw: RawJson) -> Option<Self> {
        let looked: Looked<'_> = serde_json::from_str(raw.as_str()).ok()?;
        let kind = Kind::of(&looked.session_update);
        let message_id = looked.message_id.map(|id| Arc::from(&*id));
        let tool_call_id = looked.tool_call_id.map(|id| Arc::from(&*id));
        Some(Self { version: Version::V2, kind, message_id, tool_call_id, raw, note: None })
    }

    /// What an agent of this version said.
    pub(crate) fn said(said: Said, version: Version) -> Self {
        let Said { note, update: raw, kind, message_id, tool_call_id, .. } = said;
        let kind = if kind.starts_with(OWN) { Kind::Other(FOREIGN.into()) } else { Kind::of(&kind) };
        Self { version, kind, message_id, tool_call_id, raw, note: Some(note) }
    }

    /// The params of a `session/update` with `raw` in place of this update; what came beside this one stays.
    pub(crate) fn params_with(&self, session: &str, raw: &RawJson) -> RawJson {
        let came = self.note.as_ref().and_then(RawNotification::params);
        let kept = came.filter(|came| has_more(came, &self.raw));
        let kept = kept.and_then(|came| came.with(&["update"], raw).ok());
        kept.map_or_else(|| params(session, raw), |kept| for_session(&kept, session))
    }

    /// One that was read before and stored with its kind.
    pub(crate) fn stored(version: Version, kind: &str, message_id: Option<Arc<str>>, raw: RawJson) -> Self {
        Self { version, kind: Kind::of(kind), message_id, tool_call_id: None, raw, note: None }
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

    /// A tool call that will not end any more, in the version that it was told in: who was shown it knows it in that.
    pub(crate) fn tool_call_cancelled(id: &str, version: Version) -> Self {
        // Version 1 has no word for it.
        let status = if version == Version::V1 { "failed" } else { "cancelled" };
        let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
        Self { version, ..Self::made(&update) }
    }

    /// What the user answered to a permission request, both written in this version.
    pub(crate) fn permission_answer(version: Version, request: &RawJson, answer: &RawJson) -> Self {
        let tool_call: &[&str] = match version {
            Version::V1 => &["toolCall", "toolCallId"],
            Version::V2 => &["subject", "toolCall", "toolCallId"],
        };
        let update = json!({
            "sessionUpdate": PERMISSION_ANSWER,
            "toolCallId": request.get(tool_call),
            "answer": answer,
        });
        Self { version, ..Self::made(&update) }
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

/// Names the messages that chunks belong to. Version 1 need not do that itself: a chunk belongs to the message of the one
/// before it, if it is of the same kind.
#[derive(Debug, Default)]
pub(crate) struct Runs(Option<(Arc<str>, Arc<str>)>);

impl Runs {
    pub(crate) fn name(&mut self, update: &mut Update) {
        let Kind::Chunk(kind) = &update.kind else {
            if update.kind.is_kept() {
                self.0 = None;
            }
            return;
        };
        if update.message_id.is_some() {
            self.0 = None;
        } else if let Some((_, id)) = self.0.as_ref().filter(|(run, _)| run == kind) {
            update.message_id = Some(Arc::clone(id));
        } else {
            let id = shape::mint("msg");
            self.0 = Some((Arc::clone(kind), Arc::clone(&id)));
            update.message_id = Some(id);
        }
    }
}

/// The same params with this session named in them.
pub(crate) fn for_session(params: &RawJson, session: &str) -> RawJson {
    let session = RawJson::of(session).expect("a string is JSON");
    if params.get(&["sessionId"]).is_some_and(|named| named == session) {
        return params.clone();
    }
    params.with(&["sessionId"], &session).unwrap_or_else(|_| params.clone())
}

/// Whether params hold anything beside a session's id and an update. That of most has a length that leaves no room.
fn has_more(params: &RawJson, update: &RawJson) -> bool {
    let Some(id) = params.get(&["sessionId"]) else { return true };
    let least = r#"{"sessionId":,"update":}"#.len() + id.as_str().len() + update.as_str().len();
    params.as_str().len() > least
}

/// The params of `session/update`.
pub(crate) fn params(session: &str, update: &RawJson) -> RawJson {
    let session = RawJson::of(session).expect("a string is JSON");
    RawJson::object(&[("sessionId", &session), ("update", update)])
}

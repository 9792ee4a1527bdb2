//! A `session/update` with the little of it that is looked at, found once.

use std::{borrow::Cow, sync::Arc};

use nudge_wire::{
    Message, MessageBody, RawJson, Version,
    slice::{self, MemberSlice},
};

use crate::UpdateKind;

/// The `update` object of a `session/update`, and what it is about. Cloning shares the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexedUpdate {
    /// The version it is written in: that of the agent, or version 2 for what Nudge says itself.
    pub version: Version,
    /// Its `sessionUpdate`.
    pub kind: UpdateKind,
    /// The message it belongs to. In version 1 it need not say that itself.
    pub message_id: Option<Arc<str>>,
    /// The tool call it belongs to.
    pub tool_call_id: Option<Arc<str>>,
    /// How far that has come, if it says so.
    pub call_progress: Option<CallProgress>,
    /// The object as it came.
    pub raw: RawJson,
    /// Behind a pointer: updates are moved from hand to hand, and few look at it.
    came_in: Option<Arc<Frame>>,
}

/// How far a tool call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallProgress {
    /// It waits to run, or runs.
    Open,
    /// It has ended, however.
    Over,
}

impl CallProgress {
    /// What an update of this kind says by this `status`, the JSON text of it. `null` says nothing.
    pub fn of(kind: &UpdateKind, status: Option<&str>) -> Option<Self> {
        match (kind, status.filter(|status| *status != "null")) {
            (UpdateKind::ToolCall | UpdateKind::ToolCallUpdate, Some("\"pending\"" | "\"in_progress\"")) => {
                Some(Self::Open)
            }
            (UpdateKind::ToolCall | UpdateKind::ToolCallUpdate, Some(_)) => Some(Self::Over),
            // Version 1 leaves the status out of a call that is pending.
            (UpdateKind::ToolCall, None) => Some(Self::Open),
            _ => None,
        }
    }
}

/// The message that an update came in, which passes as it is to clients of the same version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Frame {
    message: Message,
    /// The session it names, a JSON string.
    session_id: RawJson,
}

impl IndexedUpdate {
    /// What Nudge says itself, in version 2.
    pub fn new(kind: UpdateKind, raw: RawJson) -> Self {
        Self::from_store(Version::V2, kind, None, raw)
    }

    /// One that was indexed before, and stored with what is known of it here.
    pub fn from_store(
        version: Version,
        kind: UpdateKind,
        message_id: Option<Arc<str>>,
        raw: RawJson,
    ) -> Self {
        Self { version, kind, message_id, tool_call_id: None, call_progress: None, raw, came_in: None }
    }

    /// What Nudge or its built-in agent says, in version 2. `None` if it is not an object with a `sessionUpdate`.
    pub fn read(raw: &RawJson) -> Option<Self> {
        let mut members = Members::default();
        slice::each_member(raw.as_str(), |name, value| members.take(&name, value))?;
        members.index(Version::V2, UpdateKind::of, raw, raw.as_str())
    }

    /// What an agent of this version says. `None` if it is not a `session/update` as either version writes it, or names no
    /// session.
    pub fn from_message(message: &Message, version: Version) -> Option<Self> {
        let MessageBody::Notification { method, params: Some(params) } = &message.body else { return None };
        if *method != "session/update" {
            return None;
        }
        let (mut members, mut update, mut named) = (Members::default(), None, None);
        let mut is_named_twice = false;
        slice::each_member_with(params.as_str(), "update", |member, value| match member {
            MemberSlice::Inner(name) => members.take(&name, value),
            MemberSlice::Outer(name) if name == "update" => {
                update = Some((std::mem::take(&mut members), value));
            }
            MemberSlice::Outer(name) if name == "sessionId" => {
                is_named_twice |= named.replace(value).is_some();
            }
            MemberSlice::Outer(_) => {}
        })?;
        let named = named.filter(|named| !is_named_twice && slice::unquoted(named).is_some())?;
        let (members, text) = update?;
        let frame = Frame { message: message.clone(), session_id: params.part(named) };
        let indexed = members.index(version, UpdateKind::of_agent, params, text)?;
        Some(Self { came_in: Some(Arc::new(frame)), ..indexed })
    }

    /// The same in another version.
    pub fn in_version(self, version: Version) -> Self {
        Self { version, ..self }
    }

    /// The same of a message.
    pub fn of_message(self, id: impl Into<Arc<str>>) -> Self {
        Self { message_id: Some(id.into()), ..self }
    }

    /// The same of a tool call.
    pub fn of_tool_call(self, id: impl Into<Arc<str>>) -> Self {
        Self { tool_call_id: Some(id.into()), ..self }
    }

    /// A copy without the message it came in.
    pub fn without_message(&self) -> Self {
        Self {
            version: self.version,
            kind: self.kind.clone(),
            message_id: self.message_id.clone(),
            tool_call_id: self.tool_call_id.clone(),
            call_progress: self.call_progress,
            raw: self.raw.clone(),
            came_in: None,
        }
    }

    /// The message it came in.
    pub fn message(&self) -> Option<&Message> {
        self.came_in.as_ref().map(|frame| &frame.message)
    }

    /// The message it came in.
    pub fn into_message(self) -> Option<Message> {
        self.came_in.map(|frame| Arc::unwrap_or_clone(frame).message)
    }

    /// The session that the message it came in names.
    pub fn session_id(&self) -> Option<Cow<'_, str>> {
        slice::unquoted(self.came_in.as_ref()?.session_id.as_str())
    }

    /// The message it came in, if that names this session.
    pub fn message_for(&self, session: &str) -> Option<&Message> {
        let frame = self.came_in.as_ref()?;
        let is_same = frame.session_id.as_str().trim_matches('"') == session;
        is_same.then_some(&frame.message)
    }

    /// How many bytes of text it keeps alive.
    pub fn size(&self) -> usize {
        self.message().map_or(self.raw.as_str().len(), |message| message.frame().len())
    }

    /// The params of a `session/update` with `raw` in place of this update; what came beside this one stays.
    pub fn params_with(&self, session: &str, raw: &RawJson) -> RawJson {
        let kept = self.came_in.as_ref().filter(|frame| frame.has_more(&self.raw));
        let kept = kept.and_then(|frame| frame.params_with(session, raw));
        kept.unwrap_or_else(|| update_params(session, raw))
    }
}

impl Frame {
    /// Whether the params hold anything beside a session's id and an update. That of most has a length that leaves no room.
    fn has_more(&self, update: &RawJson) -> bool {
        let least =
            r#"{"sessionId":,"update":}"#.len() + self.session_id.as_str().len() + update.as_str().len();
        self.message.params().is_some_and(|params| params.as_str().len() > least)
    }

    fn params_with(&self, session: &str, update: &RawJson) -> Option<RawJson> {
        let params = self.message.params()?.with(&["update"], update).ok()?;
        let session = string(session);
        if self.session_id == session {
            return Some(params);
        }
        Some(params.with(&["sessionId"], &session).unwrap_or(params))
    }
}

/// The params of a `session/update`.
pub fn update_params(session: &str, update: &RawJson) -> RawJson {
    RawJson::object(&[("sessionId", &string(session)), ("update", update)])
}

fn string(text: &str) -> RawJson {
    RawJson::of(text).expect("a string is JSON")
}

/// The members of an update that are looked at, each as its text.
#[derive(Default)]
struct Members<'a> {
    kind: Option<&'a str>,
    message_id: Option<&'a str>,
    tool_call_id: Option<&'a str>,
    status: Option<&'a str>,
    /// Which of two counts differs between readers.
    is_ambiguous: bool,
}

impl<'a> Members<'a> {
    fn take(&mut self, name: &str, value: &'a str) {
        let place = match name {
            "sessionUpdate" => &mut self.kind,
            "messageId" => &mut self.message_id,
            "toolCallId" => &mut self.tool_call_id,
            "status" => &mut self.status,
            _ => return,
        };
        self.is_ambiguous |= place.replace(value).is_some();
    }

    /// The update that these are members of: `text`, found in `whole`.
    fn index(
        self,
        version: Version,
        kind: fn(&str) -> UpdateKind,
        whole: &RawJson,
        text: &str,
    ) -> Option<IndexedUpdate> {
        let kind = kind(&slice::unquoted(self.kind.filter(|_| !self.is_ambiguous)?)?);
        Some(IndexedUpdate {
            version,
            message_id: id(self.message_id)?,
            tool_call_id: id(self.tool_call_id)?,
            call_progress: CallProgress::of(&kind, self.status),
            kind,
            raw: whole.part(text),
            came_in: None,
        })
    }
}

/// An id that may be left out or `null`; `None` if it is something else than a string.
#[allow(clippy::option_option, reason = "not readable and not there are two things")]
fn id(text: Option<&str>) -> Option<Option<Arc<str>>> {
    match text {
        None | Some("null") => Some(None),
        Some(text) => slice::unquoted(text).map(|id| Some(Arc::from(&*id))),
    }
}

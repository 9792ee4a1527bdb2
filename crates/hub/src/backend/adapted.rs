//! An adapted agent as a backend.

use std::sync::Arc;

use nudge_adapt::{Agent, Offers, Session};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_wire::{RawJson, Version};
use serde_json::json;

use super::{Answer, AtBreak, ClientRequest, Event, Question, UserMessage, ended};
use crate::shape;

/// The adapted agent of one session.
pub(crate) struct Adapted {
    pub(crate) session: Session,
    pub(crate) version: Version,
    offers: Offers,
    takes_steers: bool,
    /// What it answered when the session was opened, kept up to date.
    result: RawJson,
    news: Vec<IndexedUpdate>,
    _agent: Arc<Agent>,
}

impl Adapted {
    pub(crate) fn new(agent: Arc<Agent>, offers: Offers, session: Session, result: RawJson) -> Self {
        let version = session.version().unwrap_or(Version::V1);
        let takes_steers = session.tier().is_some_and(|tier| tier != nudge_adapt::Tier::Cancel);
        Self { session, version, offers, takes_steers, result, news: Vec::new(), _agent: agent }
    }

    pub(super) async fn next(&mut self) -> Event {
        loop {
            let event = self.session.next().await;
            if let Some(event) = self.event(event) {
                return event;
            }
        }
    }

    pub(super) fn try_next(&mut self) -> Option<Event> {
        loop {
            let event = self.session.try_next()?;
            if let Some(event) = self.event(event) {
                return Some(event);
            }
        }
    }

    pub(super) fn takes_steers(&self) -> bool {
        self.takes_steers
    }

    pub(super) fn takes(&self, kind: &str) -> bool {
        match kind {
            "image" => self.offers.image,
            "audio" => self.offers.audio,
            "resource" => self.offers.embedded_context,
            // What is not known here may be known there.
            _ => true,
        }
    }

    pub(super) fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson {
        let result = self.result.clone();
        if let Some(id) = id.map(|id| shape::raw(&id)) {
            let is_named = result.get(&["sessionId"]).is_some_and(|named| named == id);
            return if is_named { result } else { result.with(&["sessionId"], &id).unwrap_or(result) };
        }
        let inject = meta.get(&["inject"]).unwrap_or_else(shape::empty);
        let result = without(&result, "sessionId");
        result.with(&["_meta", "inject"], &inject).unwrap_or(result)
    }

    pub(super) fn news(&self) -> Vec<IndexedUpdate> {
        self.news.clone()
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

    /// Changes a member of the result that is there.
    fn note(&mut self, path: &[&str], value: &RawJson) {
        if self.result.get(&path[..1]).is_some_and(|member| member.as_str() != "null") {
            self.result = self.result.with(path, value).unwrap_or_else(|_| self.result.clone());
        }
    }

    fn event(&mut self, event: nudge_adapt::Event) -> Option<Event> {
        use nudge_adapt::Event as From;
        Some(match event {
            From::Update(update) => {
                self.keep(&update);
                Event::Update(update)
            }
            From::Request(request) if &**request.method() == "session/request_permission" => {
                let params = request.params().cloned().unwrap_or_else(shape::empty);
                let answer = Answer::Adapted(request.into_responder());
                Event::Permission(Question { version: self.version, params, answer })
            }
            From::Request(request) => {
                Event::Client(ClientRequest::Adapted { version: self.version, request })
            }
            From::Notification(note) => Event::Notification(note),
            From::TurnStarted => Event::TurnStarted,
            From::StreamStarted => Event::StreamStarted,
            From::ToolStarted(id) => Event::ToolStarted(id),
            From::ToolFinished(id) => Event::ToolFinished(id),
            From::BreakPoint(reply) => Event::BreakPoint(AtBreak::Adapted(reply)),
            From::Ended(end) => Event::Ended(ended(end)),
            From::Lost(error) => Event::Lost(error),
            From::Back { id, result, is_recap } => {
                self.version = self.session.version().unwrap_or(self.version);
                self.takes_steers = self.session.tier().is_some_and(|tier| tier != nudge_adapt::Tier::Cancel);
                self.result = result;
                Event::Back { id, is_recap }
            }
            _ => return None,
        })
    }

    /// Remembers what tells of now.
    pub(crate) fn keep(&mut self, update: &IndexedUpdate) {
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
            // A client that joins later has to be told as well.
            UpdateKind::AvailableCommandsUpdate => {
                self.news.retain(|other| other.kind != update.kind);
                self.news.push(update.clone());
            }
            _ => {}
        }
    }
}

pub(super) fn messages(said: Vec<UserMessage>) -> Vec<nudge_adapt::UserMessage> {
    let message = |UserMessage { content, params, .. }| nudge_adapt::UserMessage { content, params };
    said.into_iter().map(message).collect()
}

fn without(object: &RawJson, name: &str) -> RawJson {
    let Ok(mut members) = object.to::<serde_json::Map<String, serde_json::Value>>() else {
        return object.clone();
    };
    members.shift_remove(name);
    shape::raw(&json!(members))
}

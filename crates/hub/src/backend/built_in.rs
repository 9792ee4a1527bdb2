//! The built-in agent as a backend.

use std::{collections::VecDeque, sync::Arc};

use nudge_agent::{Handle, Setup};
use nudge_bridge::IndexedUpdate;
use nudge_model::Model;
use nudge_wire::{Error, RawJson, Version};
use nudge_workspace::Environment;
use serde_json::json;
use tokio::sync::mpsc;

use super::{Answer, AtBreak, ClientRequest, Ended, Event, Question, UserMessage};
use crate::{own_updates, shape};

/// The built-in agent of one session.
pub(crate) struct BuiltIn {
    handle: Option<Handle>,
    events: mpsc::Receiver<nudge_agent::Event>,
    /// Options that will be set, oldest first.
    will_set: VecDeque<(String, RawJson)>,
}

impl BuiltIn {
    pub(crate) fn start(model: Arc<dyn Model>, setup: Setup) -> Self {
        let (handle, events) = nudge_agent::start(model, setup);
        Self { handle: Some(handle), events, will_set: VecDeque::new() }
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = event(self.events.recv().await?) {
                return Some(event);
            }
        }
    }

    pub(super) fn try_next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = event(self.events.try_recv().ok()?) {
                return Some(event);
            }
        }
    }

    pub(super) fn prompt(&self, said: Vec<UserMessage>, environment: Option<Environment>) {
        if let Some(handle) = &self.handle {
            handle.prompt(messages(said), environment);
        }
    }

    pub(super) fn interrupt(&self) {
        if let Some(handle) = &self.handle {
            handle.interrupt();
        }
    }

    pub(super) fn cancel(&self) {
        if let Some(handle) = &self.handle {
            handle.cancel();
        }
    }

    /// Notes an option that will be set; gives all of them as they will be then, and what is to be kept of them.
    pub(crate) fn will_set(&mut self, id: &str, value: &RawJson) -> Result<(RawJson, RawJson), Error> {
        let handle = self.handle.as_ref().ok_or_else(|| Error::internal("The agent has ended"))?;
        let ahead = self.will_set.iter().map(|(id, value)| (&**id, value)).chain([(id, value)]);
        let options = handle.options_after(ahead);
        let options = options.map_err(|error| Error::invalid_params(format!("Invalid params: {error}")))?;
        self.will_set.push_back((id.to_owned(), value.clone()));
        Ok(options)
    }

    /// Sets an option that was noted, the oldest.
    pub(crate) fn set_option(&mut self, id: &str, value: &RawJson) {
        self.will_set.pop_front();
        // It was tried before, on the same options.
        if let Some(Err(error)) = self.handle.as_ref().map(|handle| handle.set_option(id, value)) {
            tracing::warn!(%error, "an option could not be set");
        }
    }

    /// Forgets the options that were to be set.
    pub(crate) fn will_set_none(&mut self) {
        self.will_set.clear();
    }

    /// All options, as version 2 writes them.
    pub(super) fn options(&self) -> RawJson {
        self.handle.as_ref().map_or_else(|| shape::raw(&json!([])), Handle::options)
    }

    pub(super) fn option(&self, id: &str) -> Option<String> {
        super::option(&self.options(), id)
    }

    /// The commands it offers, as an update.
    pub(super) fn commands(&self) -> IndexedUpdate {
        let commands = self.handle.as_ref().map_or_else(|| shape::raw(&json!([])), Handle::commands);
        own_updates::available_commands(&commands)
    }

    pub(super) async fn end(&mut self) {
        self.handle = None;
        self.events.close();
        while self.events.recv().await.is_some() {}
    }
}

pub(super) fn messages(said: Vec<UserMessage>) -> Vec<nudge_agent::UserMessage> {
    let message = |UserMessage { id, content, .. }| nudge_agent::UserMessage { id, content };
    said.into_iter().map(message).collect()
}

fn event(event: nudge_agent::Event) -> Option<Event> {
    use nudge_agent::Event as From;
    Some(match event {
        From::Update(raw) => Event::Update(IndexedUpdate::read(&raw)?),
        From::StreamStarted => Event::StreamStarted,
        From::StreamFinished => Event::StreamFinished,
        From::ToolStarted(id) => Event::ToolStarted(id.into()),
        From::ToolFinished(id) => Event::ToolFinished(id.into()),
        From::Paused => Event::Paused,
        From::Resumed => Event::Resumed,
        From::BreakPoint(reply) => Event::BreakPoint(AtBreak::BuiltIn(reply)),
        From::Permission { request, answer } => {
            let answer = Answer::BuiltIn(answer);
            Event::Permission(Question { version: Version::V2, params: request, answer })
        }
        From::Client { method, params, answer } => {
            Event::Client(ClientRequest::BuiltIn { method, params, answer })
        }
        From::Config(config) => Event::Config(config),
        From::Idle { error: Some(error), .. } => Event::Ended(Ended::failed(error)),
        From::Idle { stop_reason, error: None } => Event::Ended(Ended::stopped(stop_reason)),
        _ => return None,
    })
}

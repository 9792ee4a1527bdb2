//! What runs the turns of a session: so far the built-in agent.

use std::sync::Arc;

use nudge_agent::{Event, Handle, Setup, UserMessage};
use nudge_model::Model;
use nudge_wire::{Error, RawJson};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{shape, update::Update};

/// The agent of one session.
pub(crate) struct Backend {
    handle: Option<Handle>,
    events: mpsc::Receiver<Event>,
}

impl Backend {
    pub(crate) fn start(model: Arc<dyn Model>, setup: Setup) -> Self {
        let (handle, events) = nudge_agent::start(model, setup);
        Self { handle: Some(handle), events }
    }

    /// What it does next; `None` once it has ended.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// What it has done already.
    pub(crate) fn try_next(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    pub(crate) fn prompt(&self, messages: Vec<UserMessage>) {
        if let Some(handle) = &self.handle {
            handle.prompt(messages);
        }
    }

    pub(crate) fn interrupt(&self) {
        if let Some(handle) = &self.handle {
            handle.interrupt();
        }
    }

    pub(crate) fn cancel(&self) {
        if let Some(handle) = &self.handle {
            handle.cancel();
        }
    }

    /// Sets an option; gives all of them.
    pub(crate) fn set_option(&self, id: &str, value: &RawJson) -> Result<RawJson, Error> {
        let handle = self.handle.as_ref().ok_or_else(|| Error::internal("The agent has ended"))?;
        handle
            .set_option(id, value)
            .map_err(|error| Error::invalid_params(format!("Invalid params: {error}")))
    }

    /// All options, as version 2 writes them.
    pub(crate) fn options(&self) -> RawJson {
        self.handle.as_ref().map_or_else(|| shape::raw(&json!([])), Handle::options)
    }

    /// The current value of an option that is a choice.
    pub(crate) fn option(&self, id: &str) -> Option<String> {
        let options: Vec<Value> = self.options().to().ok()?;
        let option = options.into_iter().find(|option| option["configId"] == id)?;
        option["currentValue"].as_str().map(str::to_owned)
    }

    /// The commands it offers, as an update.
    pub(crate) fn commands(&self) -> Update {
        let commands = self.handle.as_ref().map_or_else(|| shape::raw(&json!([])), Handle::commands);
        let update = json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands });
        Update::read(shape::raw(&update)).expect("an update made here has its kind")
    }

    /// Ends it with everything it has started.
    pub(crate) async fn end(&mut self) {
        self.handle = None;
        self.events.close();
        while self.events.recv().await.is_some() {}
    }
}

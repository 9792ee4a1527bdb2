//! Starting an agent and telling it what to do.

use std::sync::{Arc, Mutex, PoisonError};

use nudge_model::Model;
use nudge_wire::RawJson;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    Environment, Error, Event, Setup, UserMessage, config::Config, control::Control, session::Session, update,
};

/// How many events may wait to be taken.
const EVENTS: usize = 64;

/// Starts the agent of a session; needs a tokio runtime.
///
/// The task ends when the handle or the receiver is dropped, and the commands it runs end with it.
pub fn start(model: Arc<dyn Model>, setup: Setup) -> (Handle, mpsc::Receiver<Event>) {
    let (events, receiver) = mpsc::channel(EVENTS);
    let control = Arc::new(Control::default());
    let config = Arc::new(Mutex::new(Config::restore(setup.config.as_ref())));
    let commands = commands(&*model);
    let session = Session::new(model, setup, Arc::clone(&config), Arc::clone(&control), events);
    tokio::spawn(session.run());
    (Handle { control, config, commands }, receiver)
}

/// The command side of an agent. Nothing here waits. Dropping it ends the agent.
#[derive(Debug)]
pub struct Handle {
    control: Arc<Control>,
    config: Arc<Mutex<Config>>,
    commands: RawJson,
}

impl Handle {
    /// Starts a turn. To be called between turns: after the start, or after [`Event::Idle`]. Its commands see this environment;
    /// that of this process unless given.
    pub fn prompt(&self, messages: Vec<UserMessage>, environment: Option<Environment>) {
        self.control.prompt(messages, environment);
    }

    /// Cuts off the model's stream that is running, so that a break-point follows at once, or after the tools it has
    /// called so far. While the provider pauses the cut waits for the end of the pause. Outside a stream it does nothing;
    /// so it is to be called after [`Event::StreamStarted`] was seen.
    pub fn interrupt(&self) {
        self.control.interrupt();
    }

    /// Ends the turn. [`Event::Idle`] follows soon, with the stop reason `cancelled`, unless it is already on its way.
    /// Between turns it does nothing.
    pub fn cancel(&self) {
        self.control.cancel();
    }

    /// Sets an option and gives them all, in the version 2 shape. Told to everybody by [`Event::Config`] and a
    /// `config_option_update`.
    pub fn set_option(&self, id: &str, value: &RawJson) -> Result<RawJson, Error> {
        let mut config = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        config.set(id, value)?;
        self.control.report_config();
        Ok(update::raw(&config.options()))
    }

    /// All options as they would be with these set, and what [`Event::Config`] would report of them.
    pub fn options_after<'a>(
        &self,
        set: impl IntoIterator<Item = (&'a str, &'a RawJson)>,
    ) -> Result<(RawJson, RawJson), Error> {
        let mut config = self.config.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (id, value) in set {
            config.set(id, value)?;
        }
        Ok((update::raw(&config.options()), config.save()))
    }

    /// The options with their values: a version 2 `configOptions` array.
    pub fn options(&self) -> RawJson {
        update::raw(&self.config.lock().unwrap_or_else(PoisonError::into_inner).options())
    }

    /// The slash commands: a version 2 `availableCommands` array.
    pub fn commands(&self) -> RawJson {
        self.commands.clone()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.control.close();
    }
}

fn commands(model: &dyn Model) -> RawJson {
    let describe = |command: nudge_model::Command| {
        let mut shown =
            json!({ "type": "command", "name": command.name, "description": command.description });
        if let Some(hint) = command.hint {
            shown["input"] = json!({ "type": "text", "hint": hint });
        }
        shown
    };
    update::raw(&model.commands().into_iter().map(describe).collect::<Vec<Value>>())
}

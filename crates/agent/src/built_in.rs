//! The built-in agent as the backend of a session.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
};

use nudge_backend::{
    AgentQuestion, Backend, BackendEvent, BackendFuture, BackendParting, CancellableWork, OptionChange,
    OptionPlan, PassThrough, QuestionAnswer, QuestionId, SteerMethod, UserMessage, nobody_answers,
    not_cancellable,
};
use nudge_bridge::{IndexedUpdate, MethodCall, UpdateKind};
use nudge_model::{ModelSource, SlashCommand};
use nudge_wire::{
    ClientContext, Environment, Error as WireError, RawJson, RequestOrigin, Version, caps::ElicitationModes,
};
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::{
    AgentSetup, SetOptionError,
    asked::AskedQuestions,
    config::SessionConfig,
    control::TurnControl,
    running_work::RunningWork,
    session::{AgentSession, SharedWithSession},
    update,
};

/// How many events may wait to be taken.
const EVENTS: usize = 64;

/// The built-in agent of one session. Dropping it ends the agent with the commands it runs.
#[derive(Debug)]
pub struct BuiltInAgent {
    control: Arc<TurnControl>,
    asked: Arc<AskedQuestions>,
    work: Arc<RunningWork>,
    config: Arc<Mutex<SessionConfig>>,
    commands: RawJson,
    events: mpsc::Receiver<BackendEvent>,
    /// Options that will be set, oldest first.
    will_set: VecDeque<OptionChange>,
}

/// `session/set_config_option`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetParams {
    config_id: String,
    value: RawJson,
}

impl BuiltInAgent {
    /// Starts the agent of a session; needs a tokio runtime.
    pub fn start(models: Arc<dyn ModelSource>, setup: AgentSetup) -> Self {
        let (sender, events) = mpsc::channel(EVENTS);
        let (control, asked) = (Arc::new(TurnControl::default()), Arc::new(AskedQuestions::default()));
        let mut config = SessionConfig::restore(setup.config.as_ref());
        config.offer(models.choices(&setup.client));
        let config = Arc::new(Mutex::new(config));
        let commands = commands(models.commands(&setup.client));
        let work = Arc::<RunningWork>::default();
        let shared = SharedWithSession {
            config: Arc::clone(&config),
            control: Arc::clone(&control),
            asked: Arc::clone(&asked),
            work: Arc::clone(&work),
        };
        tokio::spawn(AgentSession::new(models, setup, shared, sender).run());
        Self { control, asked, work, config, commands, events, will_set: VecDeque::new() }
    }

    /// Sets an option. It is told to everybody by [`BackendEvent::Config`](nudge_backend::BackendEvent::Config) and a
    /// `config_option_update`.
    pub fn set(&mut self, id: &str, value: &RawJson) -> Result<(), SetOptionError> {
        self.config().set(id, value)?;
        self.control.report_config();
        Ok(())
    }

    /// The options as they will be once all that will be set is, and this.
    fn planned(&self, option: &OptionChange) -> Result<SessionConfig, SetOptionError> {
        let mut config = self.config().clone();
        for OptionChange { config_id, value } in self.will_set.iter().chain([option]) {
            config.set(config_id, value)?;
        }
        Ok(config)
    }

    /// The options with their values: a version 2 `configOptions` array.
    pub fn options(&self) -> RawJson {
        update::raw(&self.config().options())
    }

    fn config(&self) -> MutexGuard<'_, SessionConfig> {
        self.config.lock()
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<BackendEvent>> {
        if let Some(id) = self.asked.poll_withdrawn(cx) {
            return Poll::Ready(Some(BackendEvent::QuestionWithdrawn(id)));
        }
        let event = ready!(self.events.poll_recv(cx));
        Poll::Ready(event.inspect(|event| self.take(event)))
    }

    fn take(&self, event: &BackendEvent) {
        if let BackendEvent::Question(question) = event {
            self.asked.taken(question.id);
        }
    }
}

impl Backend for BuiltInAgent {
    fn next(&mut self) -> BackendFuture<'_, Option<BackendEvent>> {
        Box::pin(poll_fn(|cx| self.poll_next(cx)))
    }

    fn try_next(&mut self) -> Option<BackendEvent> {
        self.events.try_recv().ok().inspect(|event| self.take(event))
    }

    fn prompt(&mut self, messages: Vec<UserMessage>, client: ClientContext) {
        self.control.prompt(messages, client);
    }

    /// It takes steers at break-points only.
    fn steer(&mut self, messages: Vec<UserMessage>) {
        self.go_on(messages);
    }

    /// What goes in is taken in, to be remembered, even if the turn is cancelled at the same time.
    fn go_on(&mut self, messages: Vec<UserMessage>) {
        self.asked.go_on(messages);
    }

    /// A break-point follows at once, or after the tools that the model has called so far. While the provider pauses the cut
    /// waits for the end of the pause. Outside a stream it does nothing.
    fn interrupt(&mut self) {
        self.control.interrupt();
    }

    fn cancel(&mut self) {
        self.control.cancel();
    }

    fn cancel_work(&mut self, work: &CancellableWork) -> Result<(), WireError> {
        if self.work.cancel(work) { Ok(()) } else { Err(not_cancellable(work)) }
    }

    fn answer(&mut self, question: QuestionId, answer: QuestionAnswer) {
        self.asked.answer(question, answer);
    }

    /// It has tools of its own and does not ask for files.
    fn serve(&mut self, question: AgentQuestion, _: Option<Environment>) {
        self.answer(question.id, Err(nobody_answers(&question.method)));
    }

    fn plan_option(&mut self, call: &MethodCall, _: Option<RequestOrigin>) -> Result<OptionPlan, WireError> {
        let read = call.params.to::<SetParams>();
        let SetParams { config_id, value } =
            read.map_err(|error| WireError::bad_params("session/set_config_option", &error))?;
        let option = OptionChange { config_id, value };
        let config = self.planned(&option);
        let config = config.map_err(|error| WireError::invalid_params(format!("Invalid params: {error}")))?;
        self.will_set.push_back(option.clone());
        let answer = update::raw(&json!({ "configOptions": config.options() }));
        Ok(OptionPlan::Keep { option, config: config.save(), answer })
    }

    fn set_option(&mut self, option: &OptionChange) {
        if let Some(at) = self.will_set.iter().position(|planned| planned == option) {
            self.will_set.remove(at);
        }
        // It was tried before, on the same options.
        if let Err(error) = self.set(&option.config_id, &option.value) {
            tracing::warn!(%error, "an option could not be set");
        }
    }

    fn forget_options(&mut self) {
        self.will_set.clear();
    }

    /// Its options are planned, and set once they are kept.
    fn option_answered(&mut self, _: &MethodCall, _: &RawJson) {}

    fn steer_method(&self) -> SteerMethod {
        if self.config().is_cut_by_steers() { SteerMethod::Interrupt } else { SteerMethod::Wait }
    }

    fn version(&self) -> Version {
        Version::V2
    }

    fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson {
        let mut result = Map::new();
        result.extend(id.map(|id| ("sessionId".to_owned(), json!(id))));
        result.insert("configOptions".to_owned(), json!(self.options()));
        result.insert("_meta".to_owned(), json!(meta));
        update::raw(&result)
    }

    fn standing(&self) -> Vec<IndexedUpdate> {
        let kind = UpdateKind::AvailableCommandsUpdate;
        let update = json!({ "sessionUpdate": kind.name(), "availableCommands": self.commands });
        vec![IndexedUpdate::new(kind, update::raw(&update))]
    }

    fn takes(&self, content: &str) -> bool {
        let (images, audio) =
            self.config().choice().map_or((false, false), |model| (model.images, model.audio));
        match content {
            "text" | "resource_link" | "resource" => true,
            "image" => images,
            "audio" => audio,
            _ => false,
        }
    }

    fn wants_title(&self) -> bool {
        true
    }

    fn has_own_tools(&self) -> bool {
        true
    }

    /// It knows its clients one by one.
    fn elicitation_modes(&self) -> ElicitationModes {
        ElicitationModes::default()
    }

    fn end(&mut self, _: BackendParting) -> BackendFuture<'_, ()> {
        self.control.close();
        self.asked.close();
        self.events.close();
        Box::pin(async { while self.events.recv().await.is_some() {} })
    }
}

impl<M> PassThrough<M> for BuiltInAgent {
    fn pass(&mut self, message: M) -> Result<(), M> {
        Err(message)
    }
}

impl Drop for BuiltInAgent {
    fn drop(&mut self) {
        self.control.close();
        self.asked.close();
    }
}

fn commands(commands: Vec<SlashCommand>) -> RawJson {
    let describe = |command: SlashCommand| {
        let mut shown =
            json!({ "type": "command", "name": command.name, "description": command.description });
        if let Some(hint) = command.hint {
            shown["input"] = json!({ "type": "text", "hint": hint });
        }
        shown
    };
    update::raw(&commands.into_iter().map(describe).collect::<Vec<Value>>())
}

//! The task of a session: between turns, and how a turn ends.

mod ask;
mod command;
mod open;
mod stream;
mod tool;
mod turn;

use std::{borrow::Cow, path::PathBuf, pin::pin, sync::Arc, time::SystemTime};

use nudge_backend::{
    AgentQuestion, BackendEvent, QuestionAnswer, SIGNED_OUT, TurnEnd, UserMessage, is_file_or_terminal,
    is_last_word,
};
use nudge_bridge::IndexedUpdate;
use nudge_model::{ModelChoice, ModelError, ModelSource, SecretText};
use nudge_wire::{ClientContext, Error as WireError, ErrorCode, RawJson, Version, scrub::SecretScrubber};
use nudge_workspace::{IdSource, SessionDirectories};
use parking_lot::{Mutex, MutexGuard};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use crate::{
    AgentSetup, Conversation,
    asked::AskedQuestions,
    config::SessionConfig,
    control::{BetweenTurns, TurnControl, TurnSignal},
    running_work::RunningWork,
    tools::ToolSet,
    update,
};
pub(crate) use ask::{GuardedDeed, PermissionVerdict, StandingPermission};
use open::OpenWork;
pub(crate) use tool::ToolRun;

/// Everything the task of a session has.
pub(crate) struct AgentSession {
    models: Arc<dyn ModelSource>,
    id: String,
    cwd: PathBuf,
    /// For whom the turn is.
    client: ClientContext,
    roots: Arc<SessionDirectories>,
    tools: ToolSet,
    history: Conversation,
    ids: IdSource,
    outlet: Outlet,
    control: Arc<TurnControl>,
    work: Arc<RunningWork>,
    /// What a cancelled turn has to put in order.
    open: OpenWork,
    /// What the session has cost so far, as far as prices are known.
    cost: f64,
    /// Whether the user knows which model answers.
    is_model_told: bool,
    /// Who was asked last.
    last_asked: Option<AskedModel>,
    /// Whether that was in this turn, which then stays with it.
    is_asked_in_turn: bool,
}

/// What an agent and its task have in common.
pub(crate) struct SharedWithSession {
    pub(crate) config: Arc<Mutex<SessionConfig>>,
    pub(crate) control: Arc<TurnControl>,
    pub(crate) asked: Arc<AskedQuestions>,
    pub(crate) work: Arc<RunningWork>,
}

/// Who was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AskedModel {
    /// A model that there is no choice of.
    Fixed,
    /// `provider/model`.
    Chosen(String),
}

/// Why a turn stops before its end.
#[derive(Debug)]
pub(crate) enum Halt {
    /// Nobody listens, or nobody can command any more.
    Gone,
    /// The user does not want it any more.
    Cancelled,
    /// The model failed.
    Failed(ModelError),
}

impl AgentSession {
    pub(crate) fn new(
        models: Arc<dyn ModelSource>,
        setup: AgentSetup,
        shared: SharedWithSession,
        events: mpsc::Sender<BackendEvent>,
    ) -> Self {
        let SharedWithSession { config, control, asked, work } = shared;
        let (is_model_told, cost) = (!setup.history.is_empty(), setup.history.restored_cost());
        Self {
            models,
            id: setup.session_id,
            roots: Arc::new(SessionDirectories::new(setup.cwd.clone(), setup.additional_directories)),
            cwd: setup.cwd,
            tools: ToolSet::built_in(),
            client: setup.client,
            history: setup.history,
            ids: IdSource::new(),
            outlet: Outlet { config, events, asked, scrubber: Arc::default() },
            control,
            work,
            open: OpenWork::default(),
            cost,
            is_model_told,
            last_asked: None,
            is_asked_in_turn: false,
        }
    }

    /// Runs until nobody needs it.
    pub(crate) async fn run(mut self) {
        let mut changes = self.models.changes();
        // There may be others since the session was opened.
        let mut done = self.offer_models().await;
        while done.is_ok() {
            let gone = self.outlet.events.clone();
            let work = tokio::select! {
                biased;
                work = self.control.work() => work,
                () = gone.closed() => BetweenTurns::Leave,
                Ok(()) = changes.changed() => BetweenTurns::OfferModels,
            };
            done = match work {
                BetweenTurns::Prompt(messages, client) => {
                    self.client = client;
                    self.learn_secrets();
                    self.offer_models().await.and(self.turn(messages).await)
                }
                BetweenTurns::OfferModels => self.offer_models().await,
                BetweenTurns::ReportConfig => self.outlet.report_config().await,
                BetweenTurns::Leave => Err(Halt::Gone),
            };
        }
        self.stop_commands().await;
    }

    /// What is told from now on has none of the client's secrets in it.
    fn learn_secrets(&mut self) {
        let secrets = self.models.secrets(&self.client);
        self.outlet.scrubber = Arc::new(SecretScrubber::new(secrets.iter().map(SecretText::reveal)));
    }

    /// Tells which models there are, if there are others than before.
    async fn offer_models(&self) -> Result<(), Halt> {
        self.outlet.offer_models(self.models.choices(&self.client)).await
    }

    /// One turn, to its end.
    async fn turn(&mut self, messages: Vec<UserMessage>) -> Result<(), Halt> {
        let (control, outlet) = (Arc::clone(&self.control), self.outlet.clone());
        let (models, client) = (Arc::clone(&self.models), self.client.clone());
        let mut changes = models.changes();
        let end = {
            let mut play = pin!(self.play(messages));
            loop {
                tokio::select! {
                    biased;
                    signal = control.signal() => match signal {
                        TurnSignal::Cancel => break Err(Halt::Cancelled),
                        TurnSignal::Leave => break Err(Halt::Gone),
                        TurnSignal::ReportConfig => outlet.report_config().await?,
                    },
                    () = outlet.events.closed() => break Err(Halt::Gone),
                    Ok(()) = changes.changed() => outlet.offer_models(models.choices(&client)).await?,
                    end = &mut play => break end,
                }
            }
        };
        let end = match end {
            Ok(stop_reason) => TurnEnd::stopped(stop_reason),
            Err(Halt::Cancelled) => TurnEnd::cancelled(),
            Err(Halt::Failed(error)) => TurnEnd::Failed(failure(&error)),
            Err(Halt::Gone) => return Err(Halt::Gone),
        };
        self.put_in_order().await?;
        // Before the event, so that a cancel that follows it is not taken for one of the next turn.
        self.control.turn_is_over();
        self.outlet.send(BackendEvent::TurnEnded(end)).await
    }
}

/// How a turn ends whose model failed. One word says why, and a time when it may work again, if the provider has said so; nothing that
/// was sent or came is quoted.
fn failure(error: &ModelError) -> WireError {
    let said = match error {
        // With this reason what waits is not tried either.
        ModelError::NotSetUp | ModelError::SignedOut { .. } => {
            return WireError::new(ErrorCode::AUTH_REQUIRED, error.to_string()).reason(SIGNED_OUT);
        }
        error if error.wants_another_login() => WireError::new(ErrorCode::AUTH_REQUIRED, error.to_string()),
        error => WireError::internal(error.to_string()),
    };
    match error.reset() {
        Some(reset) => {
            let now = SystemTime::now();
            let reset = humantime::format_rfc3339_seconds(now + reset.from(now)).to_string();
            said.data(&json!({ "reason": error.word(), "reset": reset }))
        }
        None => said.reason(error.word()),
    }
}

/// Where events go, and the options they report.
#[derive(Clone)]
struct Outlet {
    config: Arc<Mutex<SessionConfig>>,
    events: mpsc::Sender<BackendEvent>,
    asked: Arc<AskedQuestions>,
    /// Takes the secrets of the turn's client out of all that is told.
    scrubber: Arc<SecretScrubber>,
}

impl Outlet {
    async fn send(&self, event: BackendEvent) -> Result<(), Halt> {
        self.events.send(event).await.map_err(|_| Halt::Gone)
    }

    /// Asks the owner; gives where the answer comes.
    async fn ask(
        &self,
        version: Version,
        method: &'static str,
        params: RawJson,
    ) -> Result<oneshot::Receiver<QuestionAnswer>, Halt> {
        // What is to be written or run is done as it was permitted.
        let params = if is_file_or_terminal(method) { params } else { self.scrubbed(params) };
        let (id, coming) = self.asked.question(is_last_word(method));
        self.send(BackendEvent::Question(AgentQuestion { id, version, method: method.into(), params }))
            .await?;
        Ok(coming)
    }

    async fn update(&self, update: RawJson) -> Result<(), Halt> {
        let update = self.scrubbed(update);
        let update = IndexedUpdate::read(&update).expect("an update made here has its kind");
        self.send(BackendEvent::Update(update)).await
    }

    /// JSON without secrets.
    fn scrubbed(&self, json: RawJson) -> RawJson {
        match self.scrubber.scrub_json(json.as_str()) {
            Cow::Borrowed(_) => json,
            Cow::Owned(text) => RawJson::written(text),
        }
    }

    fn config(&self) -> MutexGuard<'_, SessionConfig> {
        self.config.lock()
    }

    async fn offer_models(&self, choices: Vec<ModelChoice>) -> Result<(), Halt> {
        let is_other = self.config().offer(choices);
        if is_other {
            let options = self.config().options();
            self.update(update::config_options(&options)).await?;
        }
        Ok(())
    }

    async fn report_config(&self) -> Result<(), Halt> {
        let (saved, options) = {
            let config = self.config();
            (config.save(), config.options())
        };
        self.send(BackendEvent::Config(saved)).await?;
        self.update(update::config_options(&options)).await
    }
}

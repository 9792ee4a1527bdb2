//! The task of a session: between turns, and how a turn ends.

mod ask;
mod command;
mod open;
mod stream;
mod tool;
mod turn;

use std::{path::PathBuf, pin::pin, sync::Arc};

use nudge_backend::{AgentQuestion, BackendEvent, QuestionAnswer, TurnEnd, UserMessage, is_last_word};
use nudge_bridge::IndexedUpdate;
use nudge_model::LanguageModel;
use nudge_wire::{Environment, RawJson, Version};
use nudge_workspace::{IdSource, SessionDirectories};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, oneshot};

use crate::{
    AgentSetup, Conversation,
    asked::AskedQuestions,
    config::SessionConfig,
    control::{BetweenTurns, TurnControl, TurnSignal},
    update,
};
use open::OpenWork;

/// Everything the task of a session has.
pub(crate) struct AgentSession {
    model: Arc<dyn LanguageModel>,
    id: String,
    cwd: PathBuf,
    /// What commands of the turn see of the environment.
    environment: Option<Environment>,
    roots: Arc<SessionDirectories>,
    history: Conversation,
    ids: IdSource,
    outlet: Outlet,
    control: Arc<TurnControl>,
    /// What a cancelled turn has to put in order.
    open: OpenWork,
}

/// Why a turn stops before its end.
#[derive(Debug)]
enum Halt {
    /// Nobody listens, or nobody can command any more.
    Gone,
    /// The user does not want it any more.
    Cancelled,
    /// The model failed.
    Failed(nudge_model::ModelError),
}

impl AgentSession {
    pub(crate) fn new(
        model: Arc<dyn LanguageModel>,
        setup: AgentSetup,
        (config, control, asked): (Arc<Mutex<SessionConfig>>, Arc<TurnControl>, Arc<AskedQuestions>),
        events: mpsc::Sender<BackendEvent>,
    ) -> Self {
        Self {
            model,
            id: setup.session_id,
            roots: Arc::new(SessionDirectories::new(setup.cwd.clone(), setup.additional_directories)),
            cwd: setup.cwd,
            environment: None,
            history: setup.history,
            ids: IdSource::new(),
            outlet: Outlet { config, events, asked },
            control,
            open: OpenWork::default(),
        }
    }

    /// Runs until nobody needs it.
    pub(crate) async fn run(mut self) {
        loop {
            let gone = self.outlet.events.clone();
            let work = tokio::select! {
                biased;
                work = self.control.work() => work,
                () = gone.closed() => BetweenTurns::Leave,
            };
            let done = match work {
                BetweenTurns::Prompt(messages, environment) => {
                    self.environment = environment;
                    self.turn(messages).await
                }
                BetweenTurns::ReportConfig => self.outlet.report_config().await,
                BetweenTurns::Leave => Err(Halt::Gone),
            };
            if done.is_err() {
                break;
            }
        }
        self.stop_commands().await;
    }

    /// One turn, to its end.
    async fn turn(&mut self, messages: Vec<UserMessage>) -> Result<(), Halt> {
        let (control, outlet) = (Arc::clone(&self.control), self.outlet.clone());
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
                    end = &mut play => break end,
                }
            }
        };
        let end = match end {
            Ok(stop_reason) => TurnEnd::stopped(stop_reason),
            Err(Halt::Cancelled) => TurnEnd::cancelled(),
            Err(Halt::Failed(error)) => TurnEnd::Failed(nudge_wire::Error::internal(error.to_string())),
            Err(Halt::Gone) => return Err(Halt::Gone),
        };
        self.put_in_order().await?;
        // Before the event, so that a cancel that follows it is not taken for one of the next turn.
        self.control.turn_is_over();
        self.outlet.send(BackendEvent::TurnEnded(end)).await
    }
}

/// Where events go, and the options they report.
#[derive(Clone)]
struct Outlet {
    config: Arc<Mutex<SessionConfig>>,
    events: mpsc::Sender<BackendEvent>,
    asked: Arc<AskedQuestions>,
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
        let (id, coming) = self.asked.question(is_last_word(method));
        self.send(BackendEvent::Question(AgentQuestion { id, version, method: method.into(), params }))
            .await?;
        Ok(coming)
    }

    async fn update(&self, update: RawJson) -> Result<(), Halt> {
        let update = IndexedUpdate::read(&update).expect("an update made here has its kind");
        self.send(BackendEvent::Update(update)).await
    }

    fn config(&self) -> MutexGuard<'_, SessionConfig> {
        self.config.lock()
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

//! The task of a session: between turns, and how a turn ends.

mod ask;
mod command;
mod open;
mod stream;
mod tool;
mod turn;

use std::{
    path::PathBuf,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use nudge_model::Model;
use nudge_wire::RawJson;
use nudge_workspace::{Directories, Ids};
use tokio::sync::mpsc;

use crate::{
    Environment, Event, History, Setup, UserMessage,
    config::Config,
    control::{Control, Signal, Work},
    update,
};
use open::Open;

/// Everything the task of a session has.
pub(crate) struct Session {
    model: Arc<dyn Model>,
    id: String,
    cwd: PathBuf,
    /// What commands of the turn see of the environment.
    environment: Option<Environment>,
    roots: Arc<Directories>,
    history: History,
    ids: Ids,
    outlet: Outlet,
    control: Arc<Control>,
    /// What a cancelled turn has to put in order.
    open: Open,
}

/// Why a turn stops before its end.
#[derive(Debug)]
enum Halt {
    /// Nobody listens, or nobody can command any more.
    Gone,
    /// The user does not want it any more.
    Cancelled,
    /// The model failed.
    Failed(nudge_model::Error),
}

impl Session {
    pub(crate) fn new(
        model: Arc<dyn Model>,
        setup: Setup,
        config: Arc<Mutex<Config>>,
        control: Arc<Control>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        Self {
            model,
            id: setup.session_id,
            roots: Arc::new(Directories::new(setup.cwd.clone(), setup.additional_directories)),
            cwd: setup.cwd,
            environment: None,
            history: setup.history,
            ids: Ids::new(),
            outlet: Outlet { config, events },
            control,
            open: Open::default(),
        }
    }

    /// Runs until nobody needs it.
    pub(crate) async fn run(mut self) {
        loop {
            let gone = self.outlet.events.clone();
            let work = tokio::select! {
                biased;
                work = self.control.work() => work,
                () = gone.closed() => Work::Leave,
            };
            let done = match work {
                Work::Prompt(messages, environment) => {
                    self.environment = environment;
                    self.turn(messages).await
                }
                Work::ReportConfig => self.outlet.report_config().await,
                Work::Leave => Err(Halt::Gone),
            };
            if done.is_err() {
                break;
            }
        }
        self.stop_commands().await;
    }

    /// One turn, to its `Idle`.
    async fn turn(&mut self, messages: Vec<UserMessage>) -> Result<(), Halt> {
        let (control, outlet) = (Arc::clone(&self.control), self.outlet.clone());
        let end = {
            let mut play = pin!(self.play(messages));
            loop {
                tokio::select! {
                    biased;
                    signal = control.signal() => match signal {
                        Signal::Cancel => break Err(Halt::Cancelled),
                        Signal::Leave => break Err(Halt::Gone),
                        Signal::ReportConfig => outlet.report_config().await?,
                    },
                    () = outlet.events.closed() => break Err(Halt::Gone),
                    end = &mut play => break end,
                }
            }
        };
        let (stop_reason, error) = match end {
            Ok(stop_reason) => (stop_reason, None),
            Err(Halt::Cancelled) => ("cancelled", None),
            Err(Halt::Failed(error)) => ("_error", Some(nudge_wire::Error::internal(error.to_string()))),
            Err(Halt::Gone) => return Err(Halt::Gone),
        };
        self.put_in_order().await?;
        // Before the event, so that a cancel that follows it is not taken for one of the next turn.
        self.control.turn_is_over();
        self.outlet.send(Event::Idle { stop_reason, error }).await
    }
}

/// Where events go, and the options they report.
#[derive(Clone)]
struct Outlet {
    config: Arc<Mutex<Config>>,
    events: mpsc::Sender<Event>,
}

impl Outlet {
    async fn send(&self, event: Event) -> Result<(), Halt> {
        self.events.send(event).await.map_err(|_| Halt::Gone)
    }

    async fn update(&self, update: RawJson) -> Result<(), Halt> {
        self.send(Event::Update(update)).await
    }

    fn config(&self) -> MutexGuard<'_, Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn report_config(&self) -> Result<(), Halt> {
        let (saved, options) = {
            let config = self.config();
            (config.save(), config.options())
        };
        self.send(Event::Config(saved)).await?;
        self.update(update::config_options(&options)).await
    }
}

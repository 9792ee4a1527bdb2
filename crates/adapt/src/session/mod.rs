//! One session of an agent, driven: prompts and steers go in, what the agent does comes out.

mod backend;
mod pass;

use std::{collections::VecDeque, fmt, future::Future, pin::Pin, sync::Arc};

use nudge_backend::{Backend, BackendEvent, QuestionId, REQUEST_PERMISSION, TurnEnd, UserMessage};
use nudge_bridge::{IndexedUpdate, Speaker, UpdateKind};
use nudge_peer::Unhandled;
use nudge_wire::{Error, RawJson, Version};
use tokio::{sync::mpsc, time::Instant};

use crate::{
    Agent, Recap,
    echo::Echo,
    late::{self, LateReplay},
    open::{Base, Link, OpenedLink, TakenUp, take_up},
    pulse::{Change, Tools, is_word},
    question::OpenQuestions,
    recap,
    retold::Retold,
    route::Incoming,
    routed::RoutedMessage,
    say::prompt,
    standing::Standing,
    turn::{Answer, Step, Turn, of},
};
use pass::Passing;

/// How often a lost session is taken up again by itself; after that, the next prompt tries.
const TRIES: u32 = 4;

type TakingUp = Pin<Box<dyn Future<Output = Result<TakenUp, Error>> + Send>>;

/// One session of an agent. Dropping it leaves the session in the agent as it is.
pub struct Session {
    agent: Arc<Agent>,
    /// `None` while the agent is away.
    link: Option<Link>,
    id: Arc<str>,
    base: Base,
    recap: Recap,
    /// What was said so far, to be told with the next prompt.
    owed_recap: Option<String>,
    /// What the agent says before it is prompted may be a replay, and until the turn has ended what it says the user said.
    replay: Option<LateReplay>,
    /// Messages the agent did not take, to be told with the next prompt.
    debts: Vec<UserMessage>,
    turn: Option<Turn>,
    echo: Echo,
    tools: Tools,
    /// A prompt that waits for the agent to come back, or to have replayed what was said.
    waiting: Option<Vec<UserMessage>>,
    taking_up: Option<TakingUp>,
    failures: u32,
    ready: VecDeque<BackendEvent>,
    pub(crate) standing: Standing,
    pub(crate) questions: OpenQuestions,
    passing: Option<mpsc::UnboundedSender<Passing>>,
}

enum Happened {
    Said(Option<Incoming>),
    Step(Step),
    TakenUp(Result<TakenUp, Error>),
    Withdrawn(QuestionId),
    Replayed,
}

impl Session {
    pub(crate) fn new(agent: Arc<Agent>, opened: OpenedLink, base: Base, recap: Recap) -> Self {
        let OpenedLink { link, id, result } = opened;
        Self {
            standing: Standing::new(&link.running, result),
            questions: OpenQuestions::default(),
            agent,
            link: Some(link),
            id,
            base,
            recap,
            owed_recap: None,
            replay: None,
            debts: Vec::new(),
            turn: None,
            echo: Echo::default(),
            tools: Tools::default(),
            waiting: None,
            taking_up: None,
            failures: 0,
            ready: VecDeque::new(),
            passing: None,
        }
    }

    pub(crate) fn owe_recap(&mut self, recap: Option<String>, replay: Option<LateReplay>) {
        self.owed_recap = recap;
        self.replay = replay;
    }

    /// The agent's id of it.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Notes what a request that set something changed.
    pub fn set(&mut self, method: &str, params: &RawJson, answer: &RawJson) {
        self.standing.set(method, params, answer);
    }

    /// What the agent does next. Safe to drop and call again.
    async fn next_event(&mut self) -> BackendEvent {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return event;
            }
            let happened = {
                let Self { link, turn, taking_up, replay, waiting, questions, .. } = self;
                let is_held = link.is_some() && waiting.is_some();
                tokio::select! {
                    biased;
                    said = receive(link) => Happened::Said(said),
                    step = step(turn) => Happened::Step(step),
                    taken_up = of(taking_up) => Happened::TakenUp(taken_up),
                    id = questions.withdrawn() => Happened::Withdrawn(id),
                    () = late::over(*replay), if is_held => Happened::Replayed,
                }
            };
            match happened {
                Happened::Said(Some(incoming)) => self.hear(incoming.message),
                Happened::Said(None) => self.lose().await,
                Happened::Step(step) => self.step(step),
                Happened::TakenUp(taken_up) => self.taken_up(taken_up),
                Happened::Withdrawn(id) => self.withdraw(id),
                Happened::Replayed => self.send_held_prompt(),
            }
        }
    }

    /// An agent whose connection ends wants no answers either; that is told when all it said was heard.
    fn withdraw(&mut self, id: QuestionId) {
        if self.link.as_ref().is_some_and(|link| !link.running.cx.is_over()) {
            self.ready.push_back(BackendEvent::QuestionWithdrawn(id));
        }
    }

    /// Tells the agent to stop, once.
    fn stop(&mut self) {
        let (Some(turn), Some(link)) = (&mut self.turn, &self.link) else { return };
        if std::mem::replace(&mut turn.is_told, true) {
            return;
        }
        let id = RawJson::of(&*self.id).expect("a string is JSON");
        // Ahead of the answers that a cancel gives to open questions.
        link.running.cx.notify_now("session/cancel", Some(&RawJson::object(&[("sessionId", &id)])));
    }

    fn send_prompt(&mut self, messages: Vec<UserMessage>) {
        let (Some(turn), Some(link)) = (&mut self.turn, &self.link) else { return };
        let messages: Vec<_> = self.debts.drain(..).chain(messages).collect();
        let version = link.running.init.version;
        let recap = self.owed_recap.take().map(|conversation| recap::told(&conversation, &messages));
        let retold = turn.retold.as_ref().filter(|_| turn.was_cut_off()).map(Retold::tell);
        let recap = recap.or(retold);
        if link.running.forgets {
            turn.retold.get_or_insert_default().ask(&messages);
        }
        self.echo.told(recap.as_deref().unwrap_or_default());
        for message in &messages {
            self.echo.said(&message.content);
        }
        let params = prompt(&self.id, version, recap, &messages);
        let answer = link.running.cx.request_raw("session/prompt", Some(&params)).in_order();
        turn.prompted(answer);
        turn.prompted_with = messages;
        self.ready.push_back(BackendEvent::StreamStarted);
    }

    /// The agent is there, and has nothing more to say of the past.
    fn send_held_prompt(&mut self) {
        let Some(messages) = self.waiting.take() else { return };
        let is_interrupted = self.turn.as_ref().is_some_and(|turn| turn.is_interrupted);
        self.send_prompt(messages);
        if is_interrupted {
            self.interrupt();
        }
    }

    /// Takes what the agent says.
    fn hear(&mut self, message: RoutedMessage) {
        match message {
            RoutedMessage::Update(update) => self.hear_update(update),
            RoutedMessage::Other(Unhandled::Notification(note)) => {
                self.ready.push_back(BackendEvent::Notification(note.message().clone()));
            }
            RoutedMessage::Other(Unhandled::Request(request)) => {
                if self.turn.is_some() && &**request.method() == REQUEST_PERMISSION {
                    let change = request.params().and_then(|params| self.tools.asked_for(params));
                    self.ready.extend(change.map(Change::into_event));
                }
                let question = self.questions.ask(self.standing.version, request);
                self.ready.push_back(BackendEvent::Question(question));
            }
        }
    }

    fn hear_update(&mut self, said: IndexedUpdate) {
        if said.kind == UpdateKind::StateUpdate && self.standing.version == Version::V2 {
            return self.hear_state(&said);
        }
        if said.kind.speaker() == Speaker::User {
            let name = self.turn.as_ref().and_then(|turn| turn.message_id.as_ref());
            let is_named = name.is_some() && said.message_id.as_ref() == name;
            if is_named || self.replay.is_some() || self.echo.is_repeated(&said.raw) {
                return;
            }
        }
        let is_prompted = self.turn.is_some() && self.waiting.is_none();
        if let Some(turn) = self.turn.as_mut().filter(|_| is_prompted) {
            if let Some(retold) = &mut turn.retold {
                retold.hear(&said);
            }
            let change = self.tools.take(&said);
            if matches!(change, Some(Change::Finished(_))) {
                turn.has_spoken = false;
                turn.has_worked = true;
            }
            self.ready.extend(change.map(Change::into_event));
            turn.is_heard |= !said.kind.is_state();
            let is_first = !turn.has_spoken && is_word(&said);
            turn.has_spoken |= is_first;
            if is_first && turn.is_interrupted && !turn.is_cancelled {
                turn.deadline = None;
                self.stop();
            }
        }
        match &mut self.replay {
            Some(replay) if !is_prompted && !said.kind.is_state() => replay.goes_on(Instant::now()),
            _ => self.show(said),
        }
    }

    fn show(&mut self, update: IndexedUpdate) {
        self.standing.hear(&update);
        self.ready.push_back(BackendEvent::Update(update));
    }

    /// The states of a session are told by its owner; the agent's word for the end of its turn is what counts here.
    fn hear_state(&mut self, said: &IndexedUpdate) {
        let state = said.raw.get(&["state"]).and_then(|state| state.to::<String>().ok());
        match (state.as_deref(), &mut self.turn) {
            (Some("running"), Some(turn)) if turn.is_running() => turn.has_begun = true,
            (Some("running"), Some(_)) => self.goes_on(),
            // One that comes before that is about an earlier turn.
            (Some("idle"), Some(turn)) if turn.is_running() && turn.has_begun => {
                self.ended(TurnEnd::State(said.raw.clone()));
            }
            (Some("running"), None) => {
                self.turn = Some(Turn::of_its_own());
                self.ready.extend([BackendEvent::TurnStarted, BackendEvent::StreamStarted]);
            }
            _ => {}
        }
    }

    /// The agent had ended its turn when a steer reached it, and has begun another with that: ours goes on.
    fn goes_on(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.end = None;
        turn.has_begun = true;
        turn.is_interrupted = false;
        turn.is_told = false;
        self.ready.push_back(BackendEvent::StreamStarted);
        if turn.is_cancelled {
            self.cancel();
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Answered(answer) => self.answered(answer),
            Step::Steered(message, answer) => self.steered(message, &answer),
            Step::Late => self.late(),
        }
    }

    /// The answer to a prompt: in version 1 the end of the turn, in version 2 its beginning.
    fn answered(&mut self, answer: Answer) {
        match answer {
            Ok(result) if self.standing.version == Version::V2 => {
                let id = result.get(&["messageId"]).and_then(|id| id.to::<String>().ok());
                if let Some(turn) = &mut self.turn {
                    turn.message_id = id.map(Into::into);
                    turn.has_begun = true;
                }
            }
            Ok(result) => self.ended(TurnEnd::Answered(result)),
            // What became of the agent is told by its inbox, behind what it has said.
            Err(nudge_peer::CallError::Closed(_)) => {}
            Err(error) => self.ended(TurnEnd::Failed(error.into())),
        }
    }

    /// What an agent made of a steer. One that it did not take is prompted when its turn has ended.
    fn steered(&mut self, message: UserMessage, answer: &Answer) {
        let Some(turn) = &mut self.turn else { return };
        let outcome = match answer {
            Ok(result) => result.get(&["outcome"]).and_then(|outcome| outcome.to::<String>().ok()),
            Err(_) => Some("failed".to_owned()),
        };
        match outcome.as_deref() {
            Some("promptRequired") => turn.owed.push(message),
            Some("failed" | "rejected") => {
                tracing::info!(
                    agent = self.agent.name(),
                    "the agent did not take a steer; it is prompted with it"
                );
                turn.owed.push(message);
                self.interrupt();
            }
            _ => self.ready.push_back(BackendEvent::StreamStarted),
        }
        self.settle();
    }

    fn ended(&mut self, end: TurnEnd) {
        let Some(turn) = &mut self.turn else { return };
        turn.end = Some(end);
        turn.deadline = None;
        self.ready.extend(self.tools.end().into_iter().map(BackendEvent::ToolFinished));
        self.settle();
    }

    /// The agent's turn is over: ours goes on with what the agent did not take or what now goes in, or is over too.
    fn settle(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if turn.end.is_none() || turn.has_steers_under_way() || turn.is_at_break {
            return;
        }
        let is_final =
            turn.is_cancelled || matches!(turn.end, Some(TurnEnd::Failed(_))) || self.link.is_none();
        if is_final {
            return self.finish();
        }
        if !turn.owed.is_empty() {
            let owed = std::mem::take(&mut turn.owed);
            return self.send_prompt(owed);
        }
        turn.is_at_break = true;
        self.ready.push_back(BackendEvent::BreakPoint);
    }

    fn finish(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        self.replay = None;
        self.debts.extend(turn.owed);
        let end = turn.end.unwrap_or_else(TurnEnd::cancelled);
        self.ready.push_back(BackendEvent::TurnEnded(end));
    }

    /// It took too long to say its first word, or to stop.
    fn late(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if !turn.is_cancelled {
            return self.stop();
        }
        tracing::error!(agent = self.agent.name(), "the agent does not stop; it is ended");
        if let Some(link) = &self.link {
            link.running.cx.close();
        }
    }

    /// The process has ended, and all it said was heard.
    async fn lose(&mut self) {
        let Some(link) = self.link.take() else { return };
        let error = link.running.why().await;
        self.questions.clear();
        self.ready.push_back(BackendEvent::Lost(error.clone()));
        let is_held = self.waiting.is_some();
        if let Some(turn) = self.turn.as_mut().filter(|turn| is_held && !turn.is_said_again) {
            turn.is_said_again = true;
        } else if let Some(turn) = self.turn.as_mut().filter(|turn| turn.may_be_said_again()) {
            // It had not begun with the prompt: it gets it when it is back.
            turn.is_said_again = true;
            self.waiting = Some(std::mem::take(&mut turn.prompted_with));
        } else if let Some(turn) = &mut self.turn {
            let end = if turn.is_cancelled { TurnEnd::cancelled() } else { TurnEnd::Failed(error) };
            turn.owed.extend(self.waiting.take().unwrap_or_default());
            turn.is_at_break = false;
            turn.end = Some(end);
            self.ready.extend(self.tools.end().into_iter().map(BackendEvent::ToolFinished));
            self.finish();
        }
        self.failures = 0;
        self.begin_taking_up();
    }

    fn begin_taking_up(&mut self) {
        if self.taking_up.is_some() {
            return;
        }
        let (agent, id) = (Arc::clone(&self.agent), Arc::clone(&self.id));
        let (base, recap) = (self.base.clone(), Arc::clone(&self.recap));
        self.taking_up = Some(Box::pin(async move { take_up(&agent, Some(&id), &base, &recap).await }));
    }

    fn taken_up(&mut self, taken_up: Result<TakenUp, Error>) {
        self.taking_up = None;
        match taken_up {
            Ok(TakenUp { link, id, result, recap, news, replay }) => {
                self.standing.is_back(&link.running, result);
                self.link = Some(link);
                self.id = Arc::clone(&id);
                let is_recap = recap.is_some();
                self.owe_recap(recap, replay);
                self.failures = 0;
                self.ready.push_back(BackendEvent::Back { id, is_recap });
                for update in news {
                    self.show(update);
                }
                if replay.is_none() {
                    self.send_held_prompt();
                }
            }
            Err(error) => {
                self.failures += 1;
                if let Some(messages) = self.waiting.take() {
                    self.debts.extend(messages);
                    self.ended(TurnEnd::Failed(error));
                } else if self.failures < TRIES {
                    self.begin_taking_up();
                }
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            link.running.routes.release(&self.id);
        }
    }
}

async fn receive(link: &mut Option<Link>) -> Option<Incoming> {
    match link {
        Some(link) => link.inbox.recv().await,
        None => std::future::pending().await,
    }
}

async fn step(turn: &mut Option<Turn>) -> Step {
    match turn {
        Some(turn) => turn.step().await,
        None => std::future::pending().await,
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id).finish_non_exhaustive()
    }
}

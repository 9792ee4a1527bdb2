//! One session of an agent, driven: prompts and steers go in, what the agent does comes out.

mod act;
mod backend;
mod hear;
mod moving;
mod pass;
mod restore;

use std::{collections::VecDeque, fmt, sync::Arc};

use nudge_backend::{BackendEvent, QuestionId, SessionRecap};
use nudge_bridge::IndexedUpdate;
use nudge_peer::{CancellationToken, PassedMessage};
use nudge_wire::{ConnectionId, Error, RawJson};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use crate::{
    DownstreamAgent, ListenerGuard,
    calls::{AnsweredCall, OpenCalls, of},
    chosen_options::ChosenOptions,
    client_agent::SessionHome,
    echo::PromptEcho,
    goose_steers::GooseSteers,
    late_replay::{self, LateReplay},
    open::{OpenBase, OpenedFor, OpenedLink, SessionLink, TakenUp},
    open_requests::{OpenRequestGuard, RequestPurpose},
    prompt_run::PromptRun,
    question::OpenQuestions,
    qwen_steers::QwenSteers,
    route::SessionMessage,
    running::RunningAgent,
    serve::ServedFolders,
    standing::AgentStanding,
    tool_calls::OpenToolCalls,
    turn_so_far::TurnSoFar,
};
use restore::RestoreFuture;

/// One session of an agent. Dropping it leaves the session in the agent as it is.
pub struct AdaptedSession {
    agent: Arc<DownstreamAgent>,
    home: SessionHome,
    /// `None` while the agent is away.
    link: Option<SessionLink>,
    /// What has become of the agent that is away, for requests that wait for it.
    return_news: watch::Sender<AgentReturn>,
    id: Arc<str>,
    base: OpenBase,
    recap: SessionRecap,
    /// What was said so far, to be told with the next prompt.
    untold_recap: Option<String>,
    /// What the agent says before it is prompted may be a replay, and until the turn has ended what it says the user said.
    replay: Option<LateReplay>,
    /// Where the prompt that the agent works on stands, and every message it has not taken.
    run: PromptRun,
    /// What the agent has not answered of it.
    calls: OpenCalls,
    /// The prompt that the agent works on, also when it has answered it.
    prompt: Option<OpenRequestGuard>,
    /// Over which connection the turn was begun.
    prompter: Option<ConnectionId>,
    /// It is told what the agent says about no session, though its own agent may be another.
    prompter_hears: Option<ListenerGuard>,
    /// What happened in the turn so far, for an agent that forgets it when it is cut off.
    turn_so_far: Option<TurnSoFar>,
    echo: PromptEcho,
    tools: OpenToolCalls,
    taking_up: Option<RestoreFuture>,
    failures: u32,
    /// Whether its owner was told that the agent is gone.
    is_lost: bool,
    /// Why it could not be taken up last.
    why_away: Option<Error>,
    /// Told when something is set of the agent: one that did not take the session up may do so now.
    settings: watch::Receiver<()>,
    ready: VecDeque<BackendEvent>,
    pub(crate) standing: AgentStanding,
    /// What its clients have chosen.
    chosen: ChosenOptions,
    pub(crate) questions: OpenQuestions,
    goose_steers: GooseSteers,
    qwen_steers: QwenSteers,
    passing: Option<mpsc::UnboundedSender<AboutSession>>,
    served: ServedFolders,
}

/// What has become of an agent that was away: it is back and knows the session by this id, or does not take it up. Nothing while it is
/// awaited.
type AgentReturn = Option<Result<(Arc<RunningAgent>, Arc<str>), Error>>;

/// A message about the session, as whom the agent knows that, and which agent.
type AboutSession = (Arc<DownstreamAgent>, Arc<str>, PassedMessage);

enum Happened {
    Said(Option<SessionMessage>),
    Answered(AnsweredCall),
    Late,
    TakenUp(Result<TakenUp, Error>),
    Withdrawn(QuestionId),
    Replayed,
    Terminal(IndexedUpdate),
    /// Its process is another from now on.
    Moved(Arc<DownstreamAgent>),
    /// Something was set of the agent, which did not take the session up before.
    Set,
}

impl AdaptedSession {
    pub(crate) fn new(opened: OpenedFor, base: OpenBase, recap: SessionRecap) -> Self {
        let OpenedFor { agent, home, opened } = opened;
        let OpenedLink { link, id, result } = opened;
        let settings = agent.family.changes();
        Self {
            standing: AgentStanding::new(&link.running, result),
            questions: OpenQuestions::default(),
            goose_steers: GooseSteers::default(),
            qwen_steers: QwenSteers::default(),
            run: PromptRun::new(agent.patience()),
            agent,
            home,
            settings,
            chosen: ChosenOptions::default(),
            link: Some(link),
            return_news: watch::Sender::default(),
            id,
            base,
            recap,
            untold_recap: None,
            replay: None,
            calls: OpenCalls::default(),
            prompt: None,
            prompter: None,
            prompter_hears: None,
            turn_so_far: None,
            echo: PromptEcho::default(),
            tools: OpenToolCalls::default(),
            taking_up: None,
            failures: 0,
            is_lost: false,
            why_away: None,
            ready: VecDeque::new(),
            passing: None,
            served: ServedFolders::default(),
        }
    }

    /// What the agent is told with the next prompt, and whether it may still replay what was said.
    pub(crate) fn set_past(&mut self, recap: Option<String>, replay: Option<LateReplay>) {
        self.untold_recap = recap;
        self.replay = replay;
    }

    /// The agent's id of it.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Where it works: what no editor offers is served there.
    pub(crate) fn set_folders(&mut self, cwd: &str, additional_directories: &[String]) {
        self.served = ServedFolders::new(cwd, additional_directories);
    }

    /// What the agent does next. Safe to drop and call again.
    async fn next_event(&mut self) -> BackendEvent {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return event;
            }
            match self.happens().await {
                Happened::Said(Some(incoming)) => self.hear(incoming.message),
                Happened::Said(None) => self.lose().await,
                Happened::Answered(answered) => self.hear_answer(answered),
                Happened::Late => {
                    let actions = self.run.handle_timeout(Instant::now());
                    self.act(actions);
                }
                Happened::TakenUp(taken_up) => self.taken_up(taken_up),
                Happened::Withdrawn(id) => self.withdraw(id),
                Happened::Replayed => self.release(),
                Happened::Terminal(update) => self.ready.push_back(BackendEvent::Update(update)),
                Happened::Moved(agent) => self.go_to(agent),
                Happened::Set => {
                    self.failures = 0;
                    self.begin_taking_up();
                }
            }
        }
    }

    async fn happens(&mut self) -> Happened {
        let Self { agent, home, link, calls, run, taking_up, replay, questions, served, settings, .. } = self;
        let is_down = link.is_none() && taking_up.is_none();
        let (is_held, is_idle) = (link.is_some() && run.is_held(), run.is_idle());
        let retired = link.as_ref().map(|link| link.running.retired.clone());
        tokio::select! {
            biased;
            said = receive(link) => Happened::Said(said),
            answered = calls.next() => Happened::Answered(answered),
            () = until(run.deadline()) => Happened::Late,
            taken_up = of(taking_up) => Happened::TakenUp(taken_up),
            id = questions.withdrawn() => Happened::Withdrawn(id),
            () = late_replay::over(*replay), if is_held => Happened::Replayed,
            update = served.next_update() => Happened::Terminal(update),
            other = home.moved(agent), if is_idle => Happened::Moved(other.for_session()),
            Ok(()) = settings.changed(), if is_down => Happened::Set,
            () = when_cancelled(retired), if is_idle => Happened::Moved(Arc::clone(agent)),
        }
    }

    /// An agent whose connection ends wants no answers either; that is told when all it said was heard.
    fn withdraw(&mut self, id: QuestionId) {
        if self.link.as_ref().is_some_and(|link| !link.running.cx.is_over()) {
            self.ready.push_back(BackendEvent::QuestionWithdrawn(id));
        }
    }

    /// What a prompt or a steer is for.
    fn purpose(&self) -> RequestPurpose {
        RequestPurpose::Turn { session: Arc::clone(&self.id), client: self.prompter }
    }

    /// The agent has agreed to a request that sets an option.
    fn option_was_set(&mut self, method: &str, params: &RawJson, answer: &RawJson) {
        self.standing.set(method, params, answer);
        self.chosen.note(method, params, self.standing.version);
    }

    fn show(&mut self, update: IndexedUpdate) {
        self.standing.hear(&update);
        self.chosen.hear(&update);
        self.ready.push_back(BackendEvent::Update(update));
    }
}

impl Drop for AdaptedSession {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            link.running.routes.release(&self.id);
            self.agent.rest();
        }
    }
}

async fn receive(link: &mut Option<SessionLink>) -> Option<SessionMessage> {
    match link {
        Some(link) => link.inbox.recv().await,
        None => std::future::pending().await,
    }
}

async fn when_cancelled(token: Option<CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

impl fmt::Debug for AdaptedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptedSession").field("id", &self.id).finish_non_exhaustive()
    }
}

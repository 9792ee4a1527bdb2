//! The task of a session in use: feeds its core, commits what that decides, and does it.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use nudge_backend::{BackendEvent, BackendParting};
use nudge_mailbox::ClientId;
use nudge_peer::{CancellationToken, DropGuard, RequestResponder};
use nudge_session::{
    AgentTraits, AskId, AttachRequest, Attendee, ClientAnswer, EndWish, InputContent, Moment, RequestId,
    SessionCore, SessionEffect, SessionInput, SessionRequest, SessionStart, SessionState, SessionStep,
};
use nudge_store::{SessionLease, SessionRow};
use nudge_wire::{ClientContext, Error, RawJson, Version};
use tokio::time::Instant;

use crate::{
    client::{ClientMessage, ConnectedClient},
    hub::HubShared,
    session::{
        Commands, InUseRequest, LiveStatus, SessionCommand, SessionHandle,
        commits::{CommitQueue, CommitResult},
        contexts::SessionContexts,
        recover::{RETRY, retry},
        view::{ClientView, ShownUpdate, flush_time},
        waiters::{AnswerWaiter, JoiningClient},
    },
    shape,
    sources::SessionAgent,
    time::now,
};

/// Events of the agent taken before the rest of the world is looked at again.
const AT_ONCE: usize = 64;
/// Bytes of them.
const AT_ONCE_BYTES: usize = 256 * 1024;

/// A session in use.
pub(crate) struct SessionDriver {
    pub(crate) hub: Arc<HubShared>,
    /// What is known of the session that does not change while it is in use.
    pub(crate) row: SessionRow,
    pub(crate) lease: SessionLease,
    pub(crate) core: SessionCore,
    pub(crate) agent: SessionAgent,
    /// The version that it speaks, as the views know it.
    agent_version: Version,
    pub(crate) views: Vec<ClientView>,
    /// Requests that are not answered yet.
    pub(crate) waiters: HashMap<RequestId, AnswerWaiter>,
    next_request: u64,
    /// What clients are being asked; dropping one withdraws it.
    pub(crate) asks: HashMap<(AskId, ClientId), DropGuard>,
    pub(crate) contexts: SessionContexts,
    commits: CommitQueue,
    /// What is to be done, oldest first.
    effects: VecDeque<SessionEffect>,
    is_performing: bool,
    /// Set once the session is not in use any more.
    pub(crate) leaving: Option<LeaveReason>,
    /// What the agent has done, for which the store had no room.
    parked: Option<BackendEvent>,
    /// When to look whether a store that could not be written can be.
    pub(crate) retry_at: Instant,
    started: Instant,
    commands: Commands,
    handle: SessionHandle,
}

/// How a session is left.
pub(crate) struct LeaveReason {
    pub(crate) parting: BackendParting,
    /// Those who wait for it.
    pub(crate) waiting: Vec<RequestId>,
}

/// What a driver is made from.
pub(crate) struct DriverParts {
    pub(crate) row: SessionRow,
    pub(crate) lease: SessionLease,
    pub(crate) agent: SessionAgent,
    pub(crate) stored: StoredParts,
    pub(crate) client: ClientContext,
}

/// What a core begins with of what is stored.
#[derive(Default)]
pub(crate) struct StoredParts {
    pub(crate) mailbox: nudge_mailbox::Mailbox<InputContent>,
    pub(crate) is_held: bool,
    pub(crate) next_seq: u64,
    pub(crate) next_input: u64,
}

impl SessionDriver {
    /// Starts the task.
    pub(crate) fn start(hub: Arc<HubShared>, parts: DriverParts) -> SessionHandle {
        let DriverParts { row, lease, agent, stored, client } = parts;
        let (handle, commands) = SessionHandle::new(&row.cwd, &row.backend);
        let core = SessionCore::new(start_of(&hub, &row, &agent, stored), Moment::default());
        let driver = Self {
            hub,
            row,
            lease,
            core,
            agent_version: agent.version(),
            agent,
            views: Vec::new(),
            waiters: HashMap::new(),
            next_request: 0,
            asks: HashMap::new(),
            contexts: SessionContexts::new(client),
            commits: CommitQueue::default(),
            effects: VecDeque::new(),
            is_performing: false,
            leaving: None,
            parked: None,
            retry_at: Instant::now() + RETRY,
            started: Instant::now(),
            commands,
            handle: handle.clone(),
        };
        tokio::spawn(driver.run());
        handle
    }

    async fn run(mut self) {
        while self.leaving.is_none() {
            self.detach_gone();
            // With one client, the agent goes as fast as that reads; with several, nobody waits for another.
            let behind = match &self.views[..] {
                [only] if only.client.is_behind() => Some(Arc::clone(&only.client)),
                _ => None,
            };
            let flush_at = ClientView::next_flush(&self.views);
            let is_writing = !self.commits.is_failing();
            let hears_agent = behind.is_none() && is_writing && self.core.hears_agent();
            let hears_clients = is_writing && self.core.hears_clients();
            let store = Arc::clone(&self.hub.store);
            let has_room = store.has_room();
            if hears_agent
                && has_room
                && let Some(event) = self.parked.take()
            {
                self.events(Some(event));
                continue;
            }
            let deadline = self.core.deadline().map(|at| self.started + at);
            tokio::select! {
                biased;
                landed = self.commits.next(), if !self.commits.is_empty() => self.landed(landed),
                Some(command) = self.commands.recv(), if hears_clients => self.take(command).await,
                event = self.agent.next(), if hears_agent && has_room => self.events(event),
                () = store.room(), if hears_agent && !has_room => {}
                () = room(behind.as_ref()), if behind.is_some() => {}
                () = flush_time(flush_at), if flush_at.is_some() => ClientView::flush_due(&mut self.views, &self.row.id),
                () = retry(self.retry_at), if self.core.is_stalled() => {
                    let _ = self.recover().await;
                }
                () = until(deadline), if deadline.is_some() => self.feed(SessionInput::Tick),
            }
        }
        self.leave().await;
    }

    pub(crate) fn now(&self) -> Moment {
        Moment { unix_millis: now(), uptime: self.started.elapsed() }
    }

    /// Has the core take an input in, and does what comes of it.
    pub(crate) fn feed(&mut self, input: SessionInput) {
        self.core.handle(input, self.now());
        self.finish();
    }

    fn finish(&mut self) {
        let SessionStep { commits, effects } = self.core.finish();
        for commit in commits {
            let ticket = self.write(commit);
            self.commits.push(ticket);
        }
        self.effects.extend(effects);
        self.perform_all();
    }

    /// Does what is to be done, in order; what comes of that, behind it.
    fn perform_all(&mut self) {
        if std::mem::replace(&mut self.is_performing, true) {
            return;
        }
        while let Some(effect) = self.effects.pop_front() {
            self.perform(effect);
        }
        self.is_performing = false;
        self.cut_off();
    }

    fn landed(&mut self, landed: CommitResult) {
        self.feed(match landed {
            CommitResult::Written => SessionInput::Committed,
            CommitResult::Failed(failed) => SessionInput::CommitFailed(failed.into_failure(&self.row.id)),
        });
        if self.core.is_stalled() {
            self.retry_at = Instant::now() + RETRY;
            if let Some(event) = self.parked.take() {
                self.events(Some(event));
            }
        }
    }

    /// Takes an event and those that came with it, so that they share a transaction.
    fn events(&mut self, event: Option<BackendEvent>) {
        let Some(event) = event else {
            tracing::error!(session = %self.row.id, "the agent's task has ended");
            return self.feed(SessionInput::AgentEnded);
        };
        // Other sessions may have filled the store since this one began to listen.
        if !self.core.is_stalled() && !self.hub.store.has_room() {
            self.parked = Some(event);
            return;
        }
        self.event(event);
        for _ in 0..AT_ONCE {
            // What waits for the disk must not wait for more.
            if self.core.wants_finish(AT_ONCE_BYTES) {
                break;
            }
            let Some(event) = self.agent.try_next() else { break };
            self.event(event);
        }
        self.finish();
    }

    fn event(&mut self, event: BackendEvent) {
        let now = self.now();
        if matches!(event, BackendEvent::Back { .. }) {
            self.core.handle(SessionInput::SteerMethod(self.agent.steer_method()), now);
            self.core.handle(SessionInput::ElicitationModes(self.agent.elicitation_modes()), now);
            self.tell_version();
        }
        self.core.handle(SessionInput::Agent(event), now);
    }

    /// An agent that speaks another version than before tells clients how things stand as they read that.
    fn tell_version(&mut self) {
        let version = self.agent.version();
        if std::mem::replace(&mut self.agent_version, version) == version {
            return;
        }
        let opened = self.agent.opened(None, &RawJson::object(&[]));
        for view in &mut self.views {
            let (_, updates) = view.opened(&self.row.id, version, opened.clone());
            for update in updates {
                view.client.push(update);
            }
        }
    }

    /// Takes a command. What has to be written down waits for a store that can be written, or is refused.
    async fn take(&mut self, command: SessionCommand) {
        if self.core.is_stalled()
            && command.is_written()
            && let Err(error) = self.recover().await
        {
            return command.refuse(&error);
        }
        self.command(command);
    }

    fn command(&mut self, command: SessionCommand) {
        match command {
            SessionCommand::Attach(joining) => self.attach(joining),
            SessionCommand::Detach(client) => self.detach(client),
            SessionCommand::Cancel => self.feed(SessionInput::Cancel),
            SessionCommand::CancelRequest(request) => self.feed(SessionInput::CancelRequest(request)),
            SessionCommand::Request { client, request, responder } => {
                self.request(&client, request, responder);
            }
            SessionCommand::Answered { ask, client, answer } => self.answered(ask, client, answer),
            SessionCommand::SetDone(done) => self.set_done(*done),
            SessionCommand::Pass(message) => {
                if let Err(refused) = self.agent.pass(message) {
                    tokio::spawn(refused.message.refuse());
                }
            }
            SessionCommand::OwnTerminal { client, terminal } => {
                if let Some(view) = self.view(client) {
                    view.own_terminal(&terminal);
                }
            }
            // Whoever asked may be gone.
            SessionCommand::Status(reply) => drop(reply.send(self.status())),
            SessionCommand::Question(wanted) => self.question(wanted),
            SessionCommand::Delete(done) => self.end(AnswerWaiter::Delete(done), EndWish::Delete),
            SessionCommand::Leave(done) => self.end(AnswerWaiter::Leave(done), EndWish::LeaveIfUnused),
            SessionCommand::End { is_patient } => {
                self.feed(SessionInput::End(EndWish::Process { is_patient }));
            }
        }
    }

    fn request(&mut self, client: &Arc<ConnectedClient>, request: InUseRequest, responder: RequestResponder) {
        let what = match request {
            InUseRequest::Close(closing) => {
                let close = |request| EndWish::Close(client.id, request);
                return self.end(AnswerWaiter::Close(closing, responder), close);
            }
            InUseRequest::Set { is_mode, params } => return self.set(client, is_mode, &params, responder),
            InUseRequest::CancelWork(work) => {
                // Its end is told by the agent, as an update.
                let accepted = self.agent.cancel_work(&work).map(|()| shape::empty());
                return client.push(ClientMessage::Answer(responder, accepted));
            }
            other => self.read(client, other).unwrap_or_else(SessionRequest::Refused),
        };
        let is_prompt = matches!(what, SessionRequest::Prompt { .. });
        self.ask_core(client, responder, what, is_prompt);
    }

    /// Gives the core a request of a client. If it is cancelled and `is_watched`, the core is told.
    pub(crate) fn ask_core(
        &mut self,
        client: &Arc<ConnectedClient>,
        responder: RequestResponder,
        what: SessionRequest,
        is_watched: bool,
    ) {
        let request = self.request_id();
        let watch = is_watched.then(|| self.watch(client, request, &responder));
        let waiter = AnswerWaiter::Client { client: Arc::clone(client), responder, _watch: watch };
        self.waiters.insert(request, waiter);
        self.feed(SessionInput::Request { client: client.id, request, what });
    }

    fn request_id(&mut self) -> RequestId {
        self.next_request += 1;
        RequestId(self.next_request)
    }

    /// `$/cancel_request` on a prompt is told to the core. A connection that ends says nothing.
    fn watch(
        &self,
        client: &Arc<ConnectedClient>,
        request: RequestId,
        responder: &RequestResponder,
    ) -> DropGuard {
        let (token, handle) = (responder.cancellation(), self.handle());
        let answered = CancellationToken::new();
        let watch = answered.clone().drop_guard();
        let asker = Arc::clone(client);
        tokio::spawn(async move {
            tokio::select! {
                () = answered.cancelled() => return,
                () = token.cancelled() => {}
            }
            if !asker.is_gone() {
                let _ = handle.send(SessionCommand::CancelRequest(request)).await;
            }
        });
        watch
    }

    fn end(&mut self, waiter: AnswerWaiter, wish: impl FnOnce(RequestId) -> EndWish) {
        let request = self.request_id();
        self.waiters.insert(request, waiter);
        self.feed(SessionInput::End(wish(request)));
    }

    /// A client joins in its place among all that is shown.
    fn attach(&mut self, joining: Box<JoiningClient>) {
        if joining.attach.view.client.is_gone() {
            // Nothing is delivered because of somebody who is not there.
            return;
        }
        let request = self.request_id();
        let client = &joining.attach.view.client;
        let attendee = Attendee { id: client.id, version: client.version, offers: client.offers };
        let (from, options) = (joining.attach.view.from, joining.attach.options);
        self.waiters.insert(request, AnswerWaiter::Join(joining));
        self.feed(SessionInput::Attach(AttachRequest { request, attendee, from, options }));
    }

    pub(crate) fn detach(&mut self, client: ClientId) {
        self.views.retain(|view| view.client.id != client);
        self.waiters.retain(|_, waiter| !waiter.is_join_of(client));
        self.feed(SessionInput::Detach(client));
        self.forget_contexts();
    }

    fn detach_gone(&mut self) {
        let joining = self.waiters.values().filter_map(AnswerWaiter::joining);
        let clients = self.views.iter().map(|view| &view.client).chain(joining);
        let gone = clients.filter(|client| client.is_gone()).map(|client| client.id);
        for client in gone.collect::<Vec<_>>() {
            self.detach(client);
        }
    }

    fn answered(&mut self, ask: AskId, client: ClientId, answer: ClientAnswer) {
        self.asks.remove(&(ask, client));
        self.feed(SessionInput::Answered { ask, client, answer });
    }

    pub(crate) fn view(&mut self, client: ClientId) -> Option<&mut ClientView> {
        self.views.iter_mut().find(|view| view.client.id == client)
    }

    pub(crate) fn handle(&self) -> SessionHandle {
        self.handle.clone()
    }

    /// Keeps the contexts of those who are here or whose messages wait.
    pub(crate) fn forget_contexts(&mut self) {
        let Self { contexts, core, .. } = self;
        contexts.retain(|client| core.knows_client(client));
    }

    fn status(&self) -> LiveStatus {
        let state = match self.core.state() {
            SessionState::Idle => "idle",
            SessionState::Running => "running",
            SessionState::RequiresAction => "requires_action",
        };
        let additional_directories = self.row.additional_directories.clone();
        let (clients, pending) = (self.views.len(), self.core.pending_on_disk().to_vec());
        LiveStatus { state, clients, pending, shown: self.core.shown(), additional_directories }
    }

    /// Nobody waits for a client that does not read. One that is alone makes the agent wait instead.
    fn cut_off(&self) {
        if self.views.len() > 1 {
            for view in self.views.iter().filter(|view| view.client.is_hopeless()) {
                view.client.cut_off();
            }
        }
    }

    /// Lets go of the session: what is queued is written, the agent ends with all it has started, and the lease is free.
    /// Commands that came too late begin anew.
    async fn leave(mut self) {
        while !self.commits.is_empty() {
            match tokio::time::timeout(Duration::from_secs(5), self.commits.next()).await {
                Ok(landed) => self.landed(landed),
                Err(_) => break,
            }
        }
        if self.core.is_stalled() {
            let _ = self.recover().await;
        }
        let LeaveReason { parting, waiting } = self.leaving.take().unwrap_or_default();
        let Self { hub, row, lease, agent, commands, views, waiters, .. } = &mut self;
        agent.end(parting).await;
        hub.release(lease.clone()).await;
        hub.forget(&row.id);
        let unheard = commands.close();
        for view in views.iter_mut() {
            view.flush(&row.id);
            view.show(&mut ShownUpdate::new(&row.id, &shape::left()));
        }
        for request in waiting {
            if let Some(waiter) = waiters.remove(&request) {
                waiter.answer(Ok(shape::empty()));
            }
        }
        for command in unheard {
            let (hub, id) = (Arc::clone(hub), row.id.clone());
            tokio::spawn(async move { hub.send_again(&id, command).await });
        }
    }
}

impl Default for LeaveReason {
    fn default() -> Self {
        Self { parting: BackendParting::Leave, waiting: Vec::new() }
    }
}

fn start_of(hub: &HubShared, row: &SessionRow, agent: &SessionAgent, stored: StoredParts) -> SessionStart {
    let StoredParts { mailbox, is_held, next_seq, next_input } = stored;
    SessionStart {
        seed: shape::seed(),
        title: row.title.clone(),
        agent_session_id: row.agent_session_id.clone(),
        mailbox,
        is_held,
        next_seq,
        next_input,
        agent: AgentTraits {
            steer_method: agent.steer_method(),
            wants_title: agent.wants_title(),
            has_own_tools: agent.has_own_tools(),
            elicitation: agent.elicitation_modes(),
        },
        linger: hub.linger,
        outlives_clients: hub.outlives_clients,
    }
}

async fn room(client: Option<&Arc<ConnectedClient>>) {
    if let Some(client) = client {
        client.room().await;
    }
}

async fn until(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        tokio::time::sleep_until(deadline).await;
    }
}

impl SessionDriver {
    /// What a client says, as the core takes it; or why it cannot be taken.
    fn read(&self, client: &ConnectedClient, request: InUseRequest) -> Result<SessionRequest, Error> {
        let check =
            |content: &[_]| shape::check_content(client.version, content, |kind| self.agent.takes(kind));
        Ok(match request {
            InUseRequest::Prompt(prompt) => {
                let content = check(&prompt.content)?;
                let raw = prompt.params;
                let params = raw.map(|raw| nudge_backend::PromptParams { version: client.version, raw });
                SessionRequest::Prompt { body: InputContent { content, params }, key: prompt.key }
            }
            InUseRequest::Inject { mode, content, key } => {
                let mode = shape::mode(&mode)?;
                SessionRequest::Inject { mode, content: check(&content)?, key }
            }
            InUseRequest::Steering { content, prompt_required } => {
                SessionRequest::Steering { content: check(&content)?, prompt_required }
            }
            InUseRequest::Revoke { id } => SessionRequest::Revoke { id },
            InUseRequest::Replace { id, content } => {
                SessionRequest::Replace { id, content: check(&content)? }
            }
            InUseRequest::Set { .. } | InUseRequest::CancelWork(_) | InUseRequest::Close(_) => {
                return Err(nudge_session::unknown_session());
            }
        })
    }
}

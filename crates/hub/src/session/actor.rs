//! The task of a session in use: takes commands and events one at a time, writes down, then shows.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use nudge_backend::{BackendEvent, Parting, PromptParams, QuestionId};
use nudge_bridge::IndexedUpdate;
use nudge_mailbox::{ClientId, Mailbox, MessageId, Mode};
use nudge_peer::{DropGuard, Responder};
use nudge_store::{Lease, Session};
use nudge_wire::{Environment, Error, RawJson};
use nudge_workspace::Workspace;
use tokio::{sync::oneshot, time::Instant};

use crate::{
    backend::SessionAgent,
    client::{Client, Out},
    door::Closing,
    hub::Shared,
    message_runs::MessageRuns,
    permission::Permission,
    session::{
        Command, Commands, Handle, Live, Pending, Request,
        environments::Environments,
        outbox::{Outbox, Step},
        question::Form,
        stall::{Stall, retry},
        view::{Shown, View, flush_time},
    },
    shape,
};

/// Bytes of permission requests that may be open before the backend has to wait for answers.
const ASKED_BYTES: usize = 16 * 1024 * 1024;
/// Events of the backend taken before the rest of the world is looked at again.
const AT_ONCE: usize = 64;
/// Bytes of them.
const AT_ONCE_BYTES: usize = 256 * 1024;

/// A session in use.
pub(crate) struct Actor {
    pub(crate) hub: Arc<Shared>,
    pub(crate) row: Session,
    pub(crate) lease: Lease,
    pub(crate) mailbox: Mailbox<RawJson>,
    pub(crate) backend: SessionAgent,
    pub(crate) views: Vec<View>,
    /// Requests that are answered when their message is delivered or its turn ends.
    pub(crate) waiting: HashMap<MessageId, Asked>,
    pub(crate) turn: Option<Turn>,
    /// The client whose message began the last turn: the agent may still have to tell it something.
    pub(crate) last_prompter: Option<ClientId>,
    pub(crate) permissions: Vec<Permission>,
    /// Forms that a client is asked to fill in, which somebody else may answer.
    pub(crate) forms: Vec<Form>,
    /// Questions of the agent that have no answer yet.
    pub(crate) questions: HashMap<QuestionId, OpenQuestion>,
    pub(crate) at_break: AtBreak,
    /// Steers that were given out in the midst of a turn and wait for the disk.
    pub(crate) steers_under_way: usize,
    /// The params of prompts that wait, which pass to an agent of the same version as they came.
    pub(crate) params: HashMap<MessageId, PromptParams>,
    pub(crate) runs: MessageRuns,
    /// Files and terminals for an adapted agent that no editor offers.
    pub(crate) workspace: Option<Arc<Workspace>>,
    pub(crate) environments: Environments,
    /// Whether a client has joined. What an adapted agent says before is kept for the first.
    pub(crate) has_been_seen: bool,
    /// Whether a steer cuts a stream off, rather than wait for its end.
    pub(crate) interrupts: bool,
    /// Whether the stream that runs is asked to end for a steer.
    pub(crate) interrupt: Interrupt,
    /// What waits to be delivered, as it is on disk.
    pub(crate) pending_on_disk: Vec<Pending>,
    pub(crate) ending: Option<Ending>,
    pub(crate) stage: Stage,
    /// The newest entries shown, and all of those that are not on disk.
    pub(crate) recent: VecDeque<(u64, IndexedUpdate)>,
    pub(crate) recent_bytes: usize,
    /// The number of the next entry of the transcript.
    pub(crate) next_seq: u64,
    /// The number after that of the last entry shown.
    pub(crate) shown: u64,
    /// The number after that of the last entry on disk.
    pub(crate) on_disk: u64,
    /// The backend was prompted and has not ended its turn.
    pub(crate) is_prompted: bool,
    /// The store cannot be written.
    pub(crate) stall: Option<Stall>,
    /// Counts permission requests.
    pub(crate) asks: u64,
    /// The number of the next input.
    pub(crate) next_input: u64,
    commands: Commands,
    handle: Handle,
    pub(crate) outbox: Outbox,
    /// What the backend has done, for which the store had no room.
    pub(crate) parked: Option<BackendEvent>,
    unused_since: Instant,
}

/// A running turn.
pub(crate) struct Turn {
    /// The client whose message began it: requests of the agent go there.
    pub(crate) prompter: ClientId,
    /// The prompt of version 1 that began it.
    pub(crate) prompt: Option<MessageId>,
    /// A prompt of version 1 that is answered when the turn ends.
    pub(crate) owner: Option<(MessageId, Asked)>,
}

impl Turn {
    /// The client that learns of the end of the turn by the answer to its prompt.
    pub(crate) fn told(&self) -> Option<ClientId> {
        self.owner.as_ref().map(|(_, asked)| asked.client.id)
    }
}

/// A question of the agent that has no answer yet.
pub(crate) enum OpenQuestion {
    /// One of [`Actor::permissions`], or its answer is on its way to the disk.
    Permission,
    /// Asked of one client, or about to be; dropping this withdraws it.
    Client(Option<DropGuard>),
    /// Its answer comes, whatever becomes of the session.
    Answering,
}

/// Whether the backend stands at a break-point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtBreak {
    Not,
    /// It waits to be told what goes in.
    Waits,
    /// It waits for steers that were given out before and are not on disk yet.
    WaitsForSteers,
    /// It goes on as soon as what goes in is on disk.
    GoesOn,
}

/// Whether a stream is asked to end for a steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    Not,
    /// Once the steer is on disk.
    Due,
    Done,
}

/// How far the end of a session's use has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Open,
    /// The end is being written: who comes now finds the session as it is then.
    Ending,
    Left,
}

/// A prompt that is not answered yet.
pub(crate) struct Asked {
    pub(crate) client: Arc<Client>,
    pub(crate) responder: Responder,
    /// Ends the task that waits for the request to be cancelled.
    pub(crate) _watched: DropGuard,
}

impl Asked {
    pub(crate) fn answer(self, outcome: Result<RawJson, Error>) {
        self.client.push(Out::Answer(self.responder, outcome));
    }
}

/// What happens once the session is idle.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each says something else of the same end")]
pub(crate) struct Ending {
    /// The session is deleted, and whoever waits for that is told.
    pub(crate) deleted: Vec<oneshot::Sender<Result<(), Error>>>,
    /// The turn that runs may end by itself.
    pub(crate) is_patient: bool,
    /// The session is not closed by it.
    pub(crate) is_open: bool,
    /// The session is left whether or not that can be written down.
    pub(crate) is_final: bool,
    /// A turn is cut off by it that waited for an answer when nobody was there.
    pub(crate) cuts_off: bool,
    /// Nothing was to be delivered before it either.
    pub(crate) was_held: bool,
    /// Those who wait for it to be left.
    pub(crate) left: Vec<oneshot::Sender<()>>,
    /// Requests of clients to close it.
    pub(crate) answers: Vec<(Closing, Responder)>,
}

impl Ending {
    /// Both: the session is deleted if either says so, and waits for a turn only if both do.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.deleted.extend(other.deleted);
        self.left.extend(other.left);
        self.answers.extend(other.answers);
        self.is_patient &= other.is_patient;
        self.is_open &= other.is_open;
        self.is_final |= other.is_final;
        self.cuts_off |= other.cuts_off;
        self
    }

    /// Tells those who wait for it that it does not come about.
    pub(crate) fn refuse(self, error: &Error) {
        for (closing, responder) in self.answers {
            closing.refuse(responder, error);
        }
        for done in self.deleted {
            let _ = done.send(Err(error.clone()));
        }
    }

    /// Tells those who wait for it.
    fn tell(self) {
        for (closing, responder) in self.answers {
            closing.client().push(Out::Answer(responder, Ok(shape::empty())));
        }
        for done in self.deleted {
            let _ = done.send(Ok(()));
        }
        for done in self.left {
            let _ = done.send(());
        }
    }
}

/// What an actor is made from.
pub(crate) struct Parts {
    pub(crate) row: Session,
    pub(crate) lease: Lease,
    pub(crate) mailbox: Mailbox<RawJson>,
    pub(crate) backend: SessionAgent,
    pub(crate) next_seq: u64,
    pub(crate) next_input: u64,
    pub(crate) environment: Option<Environment>,
}

impl Actor {
    /// Starts the task.
    pub(crate) fn start(hub: Arc<Shared>, parts: Parts) -> Handle {
        let (handle, commands) = Handle::new();
        let Parts { row, lease, mailbox, backend, next_seq, next_input, environment } = parts;
        let mut actor = Self {
            hub,
            row,
            lease,
            mailbox,
            backend,
            views: Vec::new(),
            waiting: HashMap::new(),
            turn: None,
            last_prompter: None,
            permissions: Vec::new(),
            forms: Vec::new(),
            questions: HashMap::new(),
            at_break: AtBreak::Not,
            steers_under_way: 0,
            params: HashMap::new(),
            runs: MessageRuns::default(),
            workspace: None,
            environments: Environments::new(environment),
            has_been_seen: false,
            interrupts: true,
            interrupt: Interrupt::Not,
            pending_on_disk: Vec::new(),
            ending: None,
            stage: Stage::Open,
            recent: VecDeque::new(),
            recent_bytes: 0,
            next_seq,
            shown: next_seq,
            on_disk: next_seq,
            is_prompted: false,
            stall: None,
            asks: 0,
            next_input,
            commands,
            handle: handle.clone(),
            outbox: Outbox::default(),
            parked: None,
            unused_since: Instant::now(),
        };
        actor.set_in_stream();
        actor.pending_on_disk = actor.pending();
        tokio::spawn(actor.run());
        handle
    }

    async fn run(mut self) {
        while self.stage != Stage::Left {
            self.views.retain(|view| !view.client.is_gone());
            let linger = self.unused_since + self.hub.linger;
            // With one client, the backend goes as fast as that reads; with several, nobody waits for another.
            let behind = match &self.views[..] {
                [only] if only.client.is_behind() => Some(Arc::clone(&only.client)),
                _ => None,
            };
            let flush_at = View::next_flush(&self.views);
            let is_listening = self.is_listening(behind.is_some());
            let store = Arc::clone(&self.hub.store);
            let has_room = store.has_room();
            if is_listening
                && has_room
                && let Some(event) = self.parked.take()
            {
                self.events(Some(event));
                continue;
            }
            tokio::select! {
                biased;
                done = self.outbox.next(), if !self.outbox.is_empty() => match done {
                    Ok(landed) => self.landed(landed),
                    Err(failed) => self.fail(failed),
                },
                Some(command) = self.commands.recv(), if self.hears_commands() => self.take(command).await,
                event = self.backend.next(), if is_listening && has_room => self.events(event),
                () = store.room(), if is_listening && !has_room => {}
                () = room(behind.as_ref()), if behind.is_some() => {}
                () = flush_time(flush_at), if flush_at.is_some() => View::flush_due(&mut self.views, &self.row.id),
                () = retry(self.stall.as_ref()), if self.stall.is_some() => {
                    let _ = self.recover().await;
                }
                () = tokio::time::sleep_until(linger), if self.is_unused() => self.stage = Stage::Left,
            }
        }
        self.leave().await;
    }

    /// Whether the backend is heard: not while its words or its questions would only pile up.
    fn is_listening(&self, is_behind: bool) -> bool {
        let asked = self.permissions.iter().map(|permission| permission.request.as_str().len());
        let is_writing = !self.outbox.is_full() && !self.outbox.is_failing();
        !is_behind && is_writing && self.has_been_seen && asked.sum::<usize>() < ASKED_BYTES
    }

    /// Whether commands are taken. Those that come while the end is written wait: they find the session as it is then, left
    /// or in use as before.
    fn hears_commands(&self) -> bool {
        !self.outbox.is_brimful() && !self.outbox.is_failing() && self.stage == Stage::Open
    }

    /// Nothing runs and nobody looks. What is pending is held until somebody comes back.
    fn is_unused(&self) -> bool {
        self.views.is_empty() && self.turn.is_none() && self.outbox.is_empty() && self.ending.is_none()
    }

    /// Takes a command. What has to be written down waits for a store that can be written, or is refused.
    async fn take(&mut self, command: Command) {
        if self.stall.is_some()
            && is_written(&command)
            && let Err(error) = self.recover().await
        {
            return refuse(command, &error);
        }
        self.command(command);
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Attach(attach, reply) => self.attach(*attach, reply),
            Command::Detach(client) => self.detach(client),
            Command::Cancel => self.cancel(),
            Command::CancelPrompt(id) => self.cancel_prompt(&id),
            Command::Request { client, request, responder } => self.request(&client, request, responder),
            Command::Permission { id, client, answer } => self.permission_answered(id, client, answer),
            Command::Answered { question, answer } => self.answered(question, answer),
            Command::SetDone(done) => self.set_done(*done),
            Command::Terminal(_) if self.stall.is_some() => {}
            Command::Terminal(update) => {
                let mut step = Step::default();
                if let Some(update) = IndexedUpdate::read(&update) {
                    self.record(&mut step, update, None);
                }
                self.finish(step);
            }
            Command::Pass(version, message, room) => match &mut self.backend {
                SessionAgent::Adapted(agent) => agent.pass(version, message, room),
                SessionAgent::BuiltIn(_) => drop(tokio::spawn(message.refuse())),
            },
            Command::OwnTerminal { client, terminal } => {
                if let Some(view) = self.view(client) {
                    view.own_terminal(&terminal);
                }
            }
            Command::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Command::Leave(done) => self.leave_if_unused(done),
            Command::Question(wanted) => self.question(wanted),
            Command::Delete(done) => {
                self.end(Ending { deleted: vec![done], is_final: true, ..Ending::default() });
            }
            Command::End { is_patient } => {
                self.end(Ending { is_patient, is_open: true, is_final: true, ..Ending::default() });
            }
        }
        if self.is_unused() {
            self.unused_since = Instant::now();
        }
    }

    fn request(&mut self, client: &Arc<Client>, request: Request, responder: Responder) {
        if self.view(client.id).is_none() {
            return client.push(Out::Answer(responder, Err(super::unknown())));
        }
        match request {
            Request::Prompt(prompt) => self.prompt(client, prompt, responder),
            Request::Inject { mode, content, key } => self.inject(client, &mode, &content, key, responder),
            Request::Revoke { id } => self.revoke(client, &id, responder),
            Request::Replace { id, content } => self.replace(client, &id, &content, responder),
            Request::Steering { content, prompt_required } => {
                self.steering(client, &content, prompt_required, responder);
            }
            Request::Set { is_mode, params } => self.set(client, is_mode, params, responder),
            Request::Close(closing) => {
                let answers = vec![(closing, responder)];
                self.end(Ending { answers, ..Ending::default() });
            }
        }
    }

    /// Takes an event and those that came with it, so that they share a transaction.
    fn events(&mut self, event: Option<BackendEvent>) {
        let Some(event) = event else {
            return self.backend_died();
        };
        if self.stall.is_some() {
            return self.event_in_stall(event);
        }
        // Other sessions may have filled the store since this one began to listen.
        if !self.hub.store.has_room() {
            self.parked = Some(event);
            return;
        }
        let mut step = Step::default();
        self.event(event, &mut step);
        for _ in 0..AT_ONCE {
            // What waits for the disk must not wait for more.
            if step.is_durable || step.bytes >= AT_ONCE_BYTES {
                break;
            }
            let Some(event) = self.backend.try_next() else { break };
            self.event(event, &mut step);
        }
        self.finish(step);
    }

    fn backend_died(&mut self) {
        tracing::error!(session = %self.row.id, "the agent's task has ended");
        self.refuse_waiting(&Error::internal("The agent has failed. Load the session again"));
        self.stage = Stage::Left;
    }

    pub(crate) fn view(&mut self, client: ClientId) -> Option<&mut View> {
        self.views.iter_mut().find(|view| view.client.id == client)
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    fn detach(&mut self, client: ClientId) {
        self.views.retain(|view| view.client.id != client);
        self.withdraw_from(client);
        self.forget_environments();
    }

    /// A client is not asked any more.
    pub(crate) fn withdraw_from(&mut self, client: ClientId) {
        for permission in &mut self.permissions {
            permission.withdraw_from(client);
        }
    }

    pub(crate) fn status(&self) -> Live {
        let state = match () {
            () if self.mailbox.is_idle() => "idle",
            () if !self.is_asking() => "running",
            () => "requires_action",
        };
        let additional_directories = self.row.additional_directories.clone();
        let (clients, pending) = (self.views.len(), self.pending_on_disk.clone());
        Live { state, clients, pending, shown: self.shown, additional_directories }
    }

    /// What waits to be delivered and cannot be lost any more.
    pub(crate) fn pending_on_disk(&self) -> &[Pending] {
        &self.pending_on_disk
    }

    pub(crate) fn pending(&self) -> Vec<Pending> {
        let waiting = self.mailbox.pending();
        waiting
            .map(|message| Pending {
                message_id: message.id.to_string(),
                mode: if message.mode == Mode::Steer { "steer" } else { "queue" },
                content: message.content.clone(),
            })
            .collect()
    }

    /// Lets go of the session: what is queued is written, the backend ends with all it has started, and the lease is
    /// free. Commands that came too late begin anew.
    async fn leave(mut self) {
        while !self.outbox.is_empty() {
            match tokio::time::timeout(Duration::from_secs(5), self.outbox.next()).await {
                Ok(Ok(landed)) => self.landed(landed),
                Ok(Err(failed)) => self.fail_to_leave(failed),
                Err(_) => break,
            }
        }
        self.recover_to_leave().await;
        let Self { hub, row, lease, backend, commands, ending, views, .. } = &mut self;
        backend.end(parting(ending.as_ref())).await;
        hub.release(lease.clone()).await;
        hub.forget(&row.id);
        let unheard = commands.close();
        for view in views.iter_mut() {
            view.flush(&row.id);
            view.show(&mut Shown::new(&row.id, &shape::left()));
        }
        if let Some(ending) = ending.take() {
            ending.tell();
        }
        for command in unheard {
            let (hub, id) = (Arc::clone(hub), row.id.clone());
            tokio::spawn(async move { hub.send_again(&id, command).await });
        }
    }
}

fn parting(ending: Option<&Ending>) -> Parting {
    match ending {
        Some(ending) if !ending.deleted.is_empty() => Parting::Delete,
        Some(ending) if !ending.is_open => Parting::Close,
        _ => Parting::Leave,
    }
}

/// Whether a command has to be written down.
fn is_written(command: &Command) -> bool {
    matches!(command, Command::Attach(..) | Command::Request { .. })
}

/// Answers a command that cannot be written down.
fn refuse(command: Command, error: &Error) {
    match command {
        Command::Attach(attach, _) => {
            attach.view.client.push(Out::Answer(attach.responder, Err(error.clone())));
        }
        Command::Request { request: Request::Close(closing), responder, .. } => {
            closing.refuse(responder, error);
        }
        Command::Request { client, responder, .. } => {
            client.push(Out::Answer(responder, Err(error.clone())));
        }
        _ => {}
    }
}

async fn room(client: Option<&Arc<Client>>) {
    if let Some(client) = client {
        client.room().await;
    }
}

//! The task of a session in use: takes commands and events one at a time, writes down, then shows.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use nudge_mailbox::{Change, ClientId, Mailbox, MessageId, Mode};
use nudge_peer::{DropGuard, Responder};
use nudge_store::{Batch, Entry, InputState, Lease, Op, Session, StoreError};
use nudge_wire::{Error, RawJson, Version};
use nudge_workspace::{Environment, Workspace};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use crate::{
    backend::{AtBreak, Backend, Event, Parting},
    client::{Client, Out},
    hub::Shared,
    permission::Permission,
    session::{
        Command, Handle, Live, Pending, Request,
        environments::Environments,
        outbox::{Effect, Outbox, Step},
        view::{Shown, View},
    },
    shape,
    time::now,
    update::{Runs, Update},
};

/// Updates kept in memory, so that a client that reads the history can catch up with what is not on disk yet.
const RECENT: usize = 1024;
const RECENT_BYTES: usize = 4 * 1024 * 1024;
/// Events of the backend taken before the rest of the world is looked at again.
const AT_ONCE: usize = 64;

/// A session in use.
pub(crate) struct Actor {
    pub(crate) hub: Arc<Shared>,
    pub(crate) row: Session,
    pub(crate) lease: Lease,
    pub(crate) mailbox: Mailbox<RawJson>,
    pub(crate) backend: Backend,
    pub(crate) views: Vec<View>,
    /// Requests that are answered when their message is delivered or its turn ends.
    pub(crate) waiting: HashMap<MessageId, Asked>,
    pub(crate) turn: Option<Turn>,
    /// The client whose message began the last turn: the agent may still have to tell it something.
    pub(crate) last_prompter: Option<ClientId>,
    pub(crate) permissions: Vec<Permission>,
    /// The backend stands at a break-point and waits for this.
    pub(crate) at_break: Option<AtBreak>,
    /// Steers that were given out in the midst of a turn and wait for the disk.
    pub(crate) steers_under_way: usize,
    /// The backend stands at a break-point and waits for those.
    pub(crate) held_break: Option<AtBreak>,
    /// The params of prompts that wait, which pass to an agent of the same version as they came.
    pub(crate) params: HashMap<MessageId, (Version, RawJson)>,
    runs: Runs,
    /// Files and terminals for an adapted agent that no editor offers.
    pub(crate) workspace: Option<Arc<Workspace>>,
    pub(crate) environments: Environments,
    /// Whether a client has joined. What an adapted agent says before is kept for the first.
    pub(crate) has_been_seen: bool,
    /// Whether a steer cuts a stream off, rather than wait for its end.
    pub(crate) interrupts: bool,
    /// Whether the stream that runs was asked to end for a steer.
    pub(crate) is_interrupted: bool,
    pub(crate) ending: Option<Ending>,
    pub(crate) stage: Stage,
    late: Vec<Command>,
    pub(crate) recent: VecDeque<(u64, Update)>,
    recent_bytes: usize,
    /// The number of the next entry of the transcript.
    pub(crate) next_seq: u64,
    /// The number after that of the last entry shown.
    pub(crate) shown: u64,
    /// Counts permission requests.
    pub(crate) asks: u64,
    /// The number of the next input.
    next_input: u64,
    commands: mpsc::Receiver<Command>,
    handle: Handle,
    outbox: Outbox,
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
pub(crate) struct Ending {
    /// The session is deleted, and whoever waits for that is told.
    pub(crate) deleted: Vec<oneshot::Sender<()>>,
    /// The turn that runs may end by itself.
    pub(crate) is_patient: bool,
    /// The session is not closed by it.
    pub(crate) is_open: bool,
    /// A turn is cut off by it that waited for an answer when nobody was there.
    pub(crate) cuts_off: bool,
    /// Requests of clients to close it.
    pub(crate) answers: Vec<(Arc<Client>, Responder)>,
}

impl Ending {
    /// Both: the session is deleted if either says so, and waits for a turn only if both do.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.deleted.extend(other.deleted);
        self.answers.extend(other.answers);
        self.is_patient &= other.is_patient;
        self.is_open &= other.is_open;
        self.cuts_off |= other.cuts_off;
        self
    }

    /// Tells those who wait for it.
    fn tell(self) {
        for (client, responder) in self.answers {
            client.push(Out::Answer(responder, Ok(shape::empty())));
        }
        for done in self.deleted {
            let _ = done.send(());
        }
    }
}

/// What an actor is made from.
pub(crate) struct Parts {
    pub(crate) row: Session,
    pub(crate) lease: Lease,
    pub(crate) mailbox: Mailbox<RawJson>,
    pub(crate) backend: Backend,
    pub(crate) next_seq: u64,
    pub(crate) next_input: u64,
    pub(crate) environment: Option<Environment>,
}

impl Actor {
    /// Starts the task.
    pub(crate) fn start(hub: Arc<Shared>, parts: Parts) -> Handle {
        let (sender, commands) = mpsc::channel(super::COMMANDS);
        let handle = Handle { commands: sender };
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
            at_break: None,
            steers_under_way: 0,
            held_break: None,
            params: HashMap::new(),
            runs: Runs::default(),
            workspace: None,
            environments: Environments::new(environment),
            has_been_seen: false,
            interrupts: true,
            is_interrupted: false,
            ending: None,
            stage: Stage::Open,
            late: Vec::new(),
            recent: VecDeque::new(),
            recent_bytes: 0,
            next_seq,
            shown: next_seq,
            asks: 0,
            next_input,
            commands,
            handle: handle.clone(),
            outbox: Outbox::default(),
            unused_since: Instant::now(),
        };
        actor.set_in_stream();
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
            tokio::select! {
                biased;
                done = self.outbox.next(), if !self.outbox.is_empty() => match done {
                    Ok(effects) => self.perform_all(effects),
                    Err((error, effects)) => self.fail(&error, effects),
                },
                Some(command) = self.commands.recv() => self.command(command),
                event = self.backend.next(), if self.is_listening(behind.is_some()) => self.events(event),
                () = room(behind.as_ref()), if behind.is_some() => {}
                () = tokio::time::sleep_until(linger), if self.is_unused() => self.stage = Stage::Left,
            }
        }
        self.leave().await;
    }

    /// Whether the backend is heard: not while its words would only pile up.
    fn is_listening(&self, is_behind: bool) -> bool {
        !is_behind && !self.outbox.is_full() && self.has_been_seen
    }

    /// Nothing runs and nobody looks. What is pending is held until somebody comes back.
    fn is_unused(&self) -> bool {
        self.views.is_empty() && self.turn.is_none() && self.outbox.is_empty() && self.ending.is_none()
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Attach(..) if self.stage != Stage::Open => self.late.push(command),
            Command::Request { client, responder, .. } if self.stage != Stage::Open => {
                client.push(Out::Answer(responder, Err(super::unknown())));
            }
            Command::Attach(attach, reply) => self.attach(*attach, reply),
            Command::Detach(client) => self.detach(client),
            Command::Cancel => self.cancel(),
            Command::CancelPrompt(id) => self.cancel_prompt(&id),
            Command::Request { client, request, responder } => self.request(&client, request, responder),
            Command::Permission { id, client, answer } => self.permission_answered(id, client, answer),
            Command::SetDone(done) => self.set_done(*done),
            Command::Terminal(update) => {
                let mut step = Step::default();
                if let Some(update) = Update::read(update) {
                    self.record(&mut step, update, None);
                }
                self.finish(step);
            }
            Command::Pass(version, message) => self.backend.pass(version, message),
            Command::OwnTerminal { client, terminal } => {
                if let Some(view) = self.view(client) {
                    view.own_terminal(&terminal);
                }
            }
            Command::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Command::Delete(done) => self.end(Ending { deleted: vec![done], ..Ending::default() }),
            Command::End { is_patient } => {
                self.end(Ending { is_patient, is_open: true, ..Ending::default() });
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
            Request::Close => {
                let answers = vec![(Arc::clone(client), responder)];
                self.end(Ending { answers, ..Ending::default() });
            }
        }
    }

    /// Takes an event and those that came with it, so that they share a transaction.
    fn events(&mut self, event: Option<Event>) {
        let Some(event) = event else {
            return self.backend_died();
        };
        let mut step = Step::default();
        self.event(event, &mut step);
        for _ in 0..AT_ONCE {
            // What waits for the disk must not wait for more.
            if step.is_durable {
                break;
            }
            let Some(event) = self.backend.try_next() else { break };
            self.event(event, &mut step);
        }
        self.finish(step);
    }

    /// Numbers an update, notes it to be written down, and shows it.
    pub(crate) fn record(&mut self, step: &mut Step, mut update: Update, but: Option<ClientId>) {
        self.runs.name(&mut update);
        if !update.kind.is_kept() {
            return step.show(update, but);
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        step.ops.push(Op::Append(entry(seq, &update)));
        step.effects.push(Effect::Show { update, seq: Some(seq), but });
    }

    /// Writes down what a step changes and shows its effects, after the commit if they depend on it.
    pub(crate) fn finish(&mut self, mut step: Step) {
        self.deliver(&mut step);
        if !step.ops.is_empty() {
            let batch = Batch { session: self.row.id.clone(), lease: self.lease.clone(), ops: step.ops };
            if step.is_durable {
                let ticket = self.hub.store.commit(batch);
                return self.outbox.wait(ticket, step.effects, true);
            }
            let ticket = self.hub.store.append(batch);
            self.show_now(step.effects);
            return self.outbox.wait(ticket, Vec::new(), false);
        }
        self.show_now(step.effects);
    }

    /// Shows effects that wait for nothing themselves, in their place behind those that do.
    fn show_now(&mut self, effects: Vec<Effect>) {
        match self.outbox.behind() {
            Some(waiting) => waiting.extend(effects),
            None => self.perform_all(effects),
        }
    }

    /// Turns what the mailbox did into what is to be written down.
    pub(crate) fn note_changes(&mut self, step: &mut Step) {
        let changes = self.mailbox.take_changes();
        step.is_durable |= !changes.is_empty();
        for change in changes {
            match change {
                Change::Added(message) => {
                    step.ops.push(Op::AddInput(shape::input(&message, self.next_input())));
                }
                Change::Replaced { id, content } => {
                    let content = content.as_str().to_owned();
                    step.ops.push(Op::ReplaceInput { id, content });
                }
                Change::Revoked { id } => step.ops.push(set_input(&id, InputState::Revoked)),
                Change::Delivered { ids } => {
                    step.ops.extend(ids.iter().map(|id| set_input(id, InputState::Delivered)));
                }
            }
        }
    }

    fn next_input(&mut self) -> u64 {
        self.next_input += 1;
        self.next_input - 1
    }

    fn perform_all(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Show { update, seq, but } => self.show(update, seq, but),
            Effect::Answer { client, responder, outcome } => client.push(Out::Answer(responder, outcome)),
            Effect::Prompt(messages) => {
                self.backend.prompt(messages, self.environments.now().cloned());
            }
            Effect::Cancel => {
                self.backend.cancel();
                self.permissions.clear();
            }
            Effect::GoOn(at_break, messages) => at_break.send(messages),
            Effect::Steer(messages) => {
                self.steers_under_way -= 1;
                match self.held_break.take() {
                    Some(at_break) => at_break.send(messages),
                    None => self.backend.steer(messages),
                }
            }
            Effect::Ask(id) => self.ask_all(id),
            Effect::AskClient(request) => self.ask_client(request),
            Effect::Pass(note) => self.pass(&note),
            Effect::Attach(attaching) => self.join(*attaching),
            Effect::Leave(ending) => {
                self.stage = Stage::Left;
                self.ending = Some(ending);
            }
        }
    }

    fn show(&mut self, update: Update, seq: Option<u64>, but: Option<ClientId>) {
        let mut shown = Shown::new(&self.row.id, &update);
        for view in &mut self.views {
            let is_shown_already = seq.is_some_and(|seq| seq < view.from);
            if !is_shown_already && but != Some(view.client.id) {
                view.show(&mut shown);
            }
        }
        self.cut_off();
        if let Some(seq) = seq {
            self.shown = seq + 1;
            self.recent_bytes += update.raw.as_str().len();
            self.recent.push_back((seq, Update { note: None, ..update }));
            while self.recent.len() > RECENT || self.recent_bytes > RECENT_BYTES {
                let Some((_, oldest)) = self.recent.pop_front() else { break };
                self.recent_bytes -= oldest.raw.as_str().len();
            }
        }
    }

    /// Nobody waits for a client that does not read. One that is alone makes the agent wait instead.
    fn cut_off(&mut self) {
        if self.views.len() > 1 {
            for view in self.views.iter().filter(|view| view.client.is_hopeless()) {
                view.client.cut_off();
            }
        }
    }

    /// The store did not take a commit: what is in memory is ahead of it, so the session is left as it is on disk.
    fn fail(&mut self, error: &StoreError, effects: Vec<Effect>) {
        tracing::error!(session = %self.row.id, %error, "the session cannot be written and is left");
        let what = Error::internal(format!("The session cannot be stored: {error}. Load it again"));
        for effect in effects {
            if let Effect::Answer { client, responder, .. } = effect {
                client.push(Out::Answer(responder, Err(what.clone())));
            }
        }
        self.refuse_waiting(&what);
        self.stage = Stage::Left;
    }

    /// Answers every request that still waits for a turn.
    pub(crate) fn refuse_waiting(&mut self, error: &Error) {
        let owner = self.turn.take().and_then(|turn| turn.owner);
        for (_, asked) in self.waiting.drain().chain(owner) {
            asked.answer(Err(error.clone()));
        }
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
            () if self.permissions.is_empty() => "running",
            () => "requires_action",
        };
        Live { state, clients: self.views.len(), pending: self.pending(), shown: self.shown }
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
                Ok(Ok(effects)) => self.perform_all(effects),
                Ok(Err(_)) | Err(_) => break,
            }
        }
        let Self { hub, row, lease, backend, commands, ending, views, .. } = &mut self;
        backend.end(parting(ending.as_ref())).await;
        hub.release(lease.clone()).await;
        hub.forget(&row.id);
        commands.close();
        for view in views.iter_mut() {
            view.show(&mut Shown::new(&row.id, &shape::left()));
        }
        if let Some(ending) = ending.take() {
            ending.tell();
        }
        let mut late = std::mem::take(&mut self.late);
        let Self { hub, row, commands, .. } = &mut self;
        while let Ok(command) = commands.try_recv() {
            late.push(command);
        }
        for command in late {
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

async fn room(client: Option<&Arc<Client>>) {
    if let Some(client) = client {
        client.room().await;
    }
}

fn set_input(id: &MessageId, state: InputState) -> Op {
    Op::SetInput { id: id.clone(), state }
}

pub(crate) fn entry(seq: u64, update: &Update) -> Entry {
    Entry {
        seq,
        at: now(),
        dialect: match update.version {
            Version::V1 => nudge_store::Dialect::V1,
            Version::V2 => nudge_store::Dialect::V2,
        },
        kind: update.kind.name().into(),
        message_id: update.message_id.as_deref().map(Into::into),
        tool_call_id: update.tool_call_id.as_deref().map(Into::into),
        origin: None,
        frame: update.raw.as_bytes().clone(),
    }
}

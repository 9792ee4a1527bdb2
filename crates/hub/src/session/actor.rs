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
use tokio::{sync::oneshot, time::Instant};

use crate::{
    backend::{AtBreak, Backend, Event, Parting},
    client::{Client, Out},
    hub::Shared,
    permission::Permission,
    session::{
        Command, Commands, Handle, Live, Pending, Request,
        environments::Environments,
        outbox::{Effect, Landed, Outbox, Step, UnderWay},
        question::Form,
        restore,
        stall::{Stall, retry},
        view::{Shown, View, flush_time},
    },
    shape,
    time::now,
    update::{Kind, Runs, Update},
};

/// Updates kept in memory, so that a client that reads the history can catch up with what is not on disk yet.
const RECENT: usize = 1024;
const RECENT_BYTES: usize = 4 * 1024 * 1024;
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
    pub(crate) backend: Backend,
    pub(crate) views: Vec<View>,
    /// Requests that are answered when their message is delivered or its turn ends.
    pub(crate) waiting: HashMap<MessageId, Asked>,
    pub(crate) turn: Option<Turn>,
    /// The client whose message began the last turn: the agent may still have to tell it something.
    pub(crate) last_prompter: Option<ClientId>,
    pub(crate) permissions: Vec<Permission>,
    /// Forms that a client is asked to fill in, which somebody else may answer.
    pub(crate) forms: Vec<Form>,
    /// The backend stands at a break-point and waits for this.
    pub(crate) at_break: Option<AtBreak>,
    /// Steers that were given out in the midst of a turn and wait for the disk.
    pub(crate) steers_under_way: usize,
    /// The backend stands at a break-point and waits for those.
    pub(crate) held_break: Option<AtBreak>,
    /// The params of prompts that wait, which pass to an agent of the same version as they came.
    pub(crate) params: HashMap<MessageId, (Version, RawJson)>,
    pub(crate) runs: Runs,
    /// Files and terminals for an adapted agent that no editor offers.
    pub(crate) workspace: Option<Arc<Workspace>>,
    pub(crate) environments: Environments,
    /// Whether a client has joined. What an adapted agent says before is kept for the first.
    pub(crate) has_been_seen: bool,
    /// Whether a steer cuts a stream off, rather than wait for its end.
    pub(crate) interrupts: bool,
    /// Whether the stream that runs was asked to end for a steer.
    pub(crate) is_interrupted: bool,
    /// Whether it will be, once that is on disk.
    pub(crate) is_interrupt_due: bool,
    /// What waits to be delivered, as it is on disk.
    pub(crate) pending_on_disk: Vec<Pending>,
    pub(crate) ending: Option<Ending>,
    pub(crate) stage: Stage,
    late: Vec<Command>,
    /// The newest entries shown, and all of those that are not on disk.
    pub(crate) recent: VecDeque<(u64, Update)>,
    recent_bytes: usize,
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
    outbox: Outbox,
    /// What the backend has done, for which the store had no room.
    pub(crate) parked: Option<Event>,
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
    /// The session is left whether or not that can be written down.
    pub(crate) is_final: bool,
    /// A turn is cut off by it that waited for an answer when nobody was there.
    pub(crate) cuts_off: bool,
    /// Those who wait for it to be left.
    pub(crate) left: Vec<oneshot::Sender<()>>,
    /// Requests of clients to close it.
    pub(crate) answers: Vec<(Arc<Client>, Responder)>,
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
        for (client, responder) in self.answers {
            client.push(Out::Answer(responder, Err(error.clone())));
        }
    }

    /// Tells those who wait for it.
    fn tell(self) {
        for (client, responder) in self.answers {
            client.push(Out::Answer(responder, Ok(shape::empty())));
        }
        for done in self.deleted.into_iter().chain(self.left) {
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
            is_interrupt_due: false,
            pending_on_disk: Vec::new(),
            ending: None,
            stage: Stage::Open,
            late: Vec::new(),
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
                    Err((error, effects)) => self.fail(&error, effects),
                },
                Some(command) = self.commands.recv(), if !self.outbox.is_brimful() => self.take(command).await,
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

    /// Whether the backend is heard: not while its words would only pile up.
    fn is_listening(&self, is_behind: bool) -> bool {
        !is_behind && !self.outbox.is_full() && self.has_been_seen
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
            Command::Attach(..) | Command::Leave(_) if self.stage != Stage::Open => self.late.push(command),
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
            Command::Terminal(_) if self.stall.is_some() => {}
            Command::Terminal(update) => {
                let mut step = Step::default();
                if let Some(update) = Update::read(update) {
                    self.record(&mut step, update, None);
                }
                self.finish(step);
            }
            Command::Pass(version, message, room) => self.backend.pass(version, message, room),
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

    /// Numbers an update, notes it to be written down, and shows it.
    pub(crate) fn record(&mut self, step: &mut Step, mut update: Update, but: Option<ClientId>) {
        self.runs.name(&mut update);
        if !update.kind.is_kept() {
            return step.show(update, but);
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        step.bytes += update.raw.as_str().len();
        step.ops.push(Op::Append(entry(seq, &update)));
        step.effects.push(Effect::Show { update, seq: Some(seq), but });
    }

    /// Numbers an update and notes it to be written down, but shows it to nobody.
    pub(crate) fn keep_quietly(&mut self, step: &mut Step, update: &Update) {
        step.ops.push(Op::Append(entry(self.next_seq, update)));
        self.next_seq += 1;
    }

    /// Writes down what a step changes and shows its effects, after the commit if they depend on it.
    pub(crate) fn finish(&mut self, mut step: Step) {
        self.deliver(&mut step);
        if step.is_input {
            step.effects.insert(0, Effect::Pending(self.pending()));
        }
        if !step.ops.is_empty() {
            let batch = Batch { session: self.row.id.clone(), lease: self.lease.clone(), ops: step.ops };
            let (bytes, next_seq) = (batch.weight(), self.next_seq);
            if step.is_durable {
                let ticket = self.hub.store.commit(batch);
                return self.outbox.wait(UnderWay { ticket, bytes, next_seq }, step.effects, true);
            }
            let ticket = self.hub.store.append(batch);
            self.show_now(step.effects);
            return self.outbox.wait(UnderWay { ticket, bytes, next_seq }, Vec::new(), false);
        }
        self.show_now(step.effects);
    }

    /// Shows effects that wait for nothing themselves, in their place behind those that do.
    fn show_now(&mut self, effects: Vec<Effect>) {
        if let Some(effects) = self.outbox.follow(effects) {
            self.perform_all(effects);
        }
    }

    /// Turns what the mailbox did into what is to be written down.
    pub(crate) fn note_changes(&mut self, step: &mut Step) {
        let changes = self.mailbox.take_changes();
        step.is_durable |= !changes.is_empty();
        step.is_input |= !changes.is_empty();
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

    fn landed(&mut self, landed: Landed) {
        self.on_disk = landed.next_seq;
        self.perform_all(landed.effects);
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
                self.is_prompted = true;
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
            Effect::Interrupt => self.interrupt(),
            Effect::Permit { permission, by, answer } => permission.answer(by, answer),
            Effect::SetOption(set) => self.set_option(&set),
            Effect::Pending(pending) => self.pending_on_disk = pending,
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

    pub(crate) fn show(&mut self, update: Update, seq: Option<u64>, but: Option<ClientId>) {
        let mut shown = Shown::new(&self.row.id, &update);
        for view in &mut self.views {
            let is_shown_already = seq.is_some_and(|seq| seq < view.from);
            if !is_shown_already && but != Some(view.client.id) {
                view.show(&mut shown);
            } else if update.kind == Kind::State {
                // It learns of the state by an answer, which says that all has been sent.
                view.flush(&self.row.id);
            }
        }
        self.cut_off();
        if let Some(seq) = seq {
            self.remember(seq, update);
        }
    }

    /// Keeps an entry in memory until it is on disk, and for a while after that.
    pub(crate) fn remember(&mut self, seq: u64, update: Update) {
        self.shown = seq + 1;
        self.recent_bytes += update.raw.as_str().len();
        self.recent.push_back((seq, Update { note: None, ..update }));
        while self.recent.len() > RECENT || self.recent_bytes > RECENT_BYTES {
            let on_disk = self.on_disk;
            let Some((_, oldest)) = self.recent.pop_front_if(|(seq, _)| *seq < on_disk) else { break };
            self.recent_bytes -= oldest.raw.as_str().len();
        }
    }

    /// Nobody waits for a client that does not read. One that is alone makes the agent wait instead.
    pub(crate) fn cut_off(&self) {
        if self.views.len() > 1 {
            for view in self.views.iter().filter(|view| view.client.is_hopeless()) {
                view.client.cut_off();
            }
        }
    }

    /// The store did not take a commit: what is in memory is ahead of it. If that may pass, the session waits for it; else
    /// it is left as it is on disk.
    fn fail(&mut self, error: &StoreError, effects: Vec<Effect>) {
        let what = restore::told(error, "The session cannot be stored");
        let mut is_final = false;
        let ending = self.ending.take().map(Effect::Leave);
        for effect in effects.into_iter().chain(ending) {
            is_final |= matches!(&effect, Effect::Leave(ending) if ending.is_final);
            effect.refuse(&what);
        }
        tracing::error!(session = %self.row.id, %error, "the session cannot be written");
        if error.may_pass() {
            self.begin_stall(&what);
            self.stage = if is_final { Stage::Left } else { Stage::Open };
        } else {
            self.refuse_waiting(&what);
            self.stage = Stage::Left;
        }
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
                Ok(Err(_)) | Err(_) => break,
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
        let late = std::mem::take(&mut self.late);
        let Self { hub, row, .. } = &mut self;
        for command in late.into_iter().chain(unheard) {
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

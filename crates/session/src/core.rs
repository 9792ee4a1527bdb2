//! The core of a session: a value that takes inputs and gives steps.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use nudge_backend::BackendParting;
use nudge_bridge::IndexedUpdate;
use nudge_mailbox::{ClientId, DeliveryMode, Mailbox, MessageId};
use nudge_wire::{Error, RawJson};

use crate::{
    AgentTraits, DeliveredMessages, InputContent, InputDelivery, Moment, PendingMessage, RequestId,
    RowChange, RunningTurn, SessionCommit, SessionEffect, SessionInput, SessionStep, StoreOperation,
    attendance::Attendance,
    effect::InputChange,
    ids::IdMint,
    lifecycle::{LifecycleStage, SessionLifecycle},
    outbox::{CommitOutbox, InDoubt, OutboxAct},
    questions::UnansweredQuestions,
    transcript::SessionTranscript,
    turn::UnansweredPrompt,
};

/// Bytes of questions to the user that may be open before the agent has to wait for answers.
const ASKED_BYTES: usize = 16 * 1024 * 1024;

/// The core of a session: all that is decided about it, and nothing that is done.
///
/// # Order of calls
///
/// 1. [`handle`](Self::handle) one input, or several events of the agent.
/// 2. [`finish`](Self::finish): give the commits of the step to the store, in order, and do its effects, in order.
/// 3. When the oldest commit is on disk, [`handle`](Self::handle) [`SessionInput::Committed`]; what waited for it comes with
///    the step that follows. If one fails, wait for all those behind it and tell it by [`SessionInput::CommitFailed`].
///
/// No order of calls panics. If the process dies, what is on disk is what [`RestoredSession`](crate::RestoredSession) begins from.
///
/// # What holds
///
/// - What a user said is shown, answered and acted on in steps that follow its commit, never before.
/// - Effects come in the order in which they were decided.
/// - Every request is answered by exactly one [`SessionEffect::Answer`], [`SessionEffect::Joined`], [`SessionEffect::ReadOn`] or
///   [`SessionEffect::Leave`], but for the wish to join of a client that has gone.
/// - Every break-point of the agent is followed by exactly one [`SessionEffect::GoOn`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionCore {
    pub(crate) turn: Option<RunningTurn>,
    /// How many turns there have been.
    turns: u64,
    /// The client whose message began the last turn: the agent may still have to tell it something.
    pub(crate) last_prompter: Option<ClientId>,
    pub(crate) delivery: InputDelivery<InputContent>,
    /// Prompts that wait, and who waits for the answer.
    pub(crate) unanswered: BTreeMap<MessageId, UnansweredPrompt>,
    /// What waits to be delivered, as it is on disk.
    pub(crate) pending_on_disk: Vec<PendingMessage>,
    /// The number of the next input.
    pub(crate) next_input: u64,
    pub(crate) transcript: SessionTranscript,
    pub(crate) attendance: Attendance,
    pub(crate) questions: UnansweredQuestions,
    pub(crate) lifecycle: SessionLifecycle,
    pub(crate) agent: AgentTraits,
    /// What the session is called.
    pub(crate) title: Option<String>,
    /// By which id the agent knows it.
    pub(crate) agent_session_id: Option<String>,
    /// Whether the process stays when a client goes.
    pub(crate) outlives_clients: bool,
    pub(crate) ids: IdMint,
    pub(crate) outbox: CommitOutbox,
    pub(crate) draft: StepDraft,
    pub(crate) step: SessionStep,
    pub(crate) now: Moment,
}

/// What a core begins with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionStart {
    /// Two cores must not have the same.
    pub seed: u64,
    /// What the session is called.
    pub title: Option<String>,
    /// By which id the agent knows it.
    pub agent_session_id: Option<String>,
    /// What waits.
    pub mailbox: Mailbox<InputContent>,
    /// Whether that is held until somebody comes back.
    pub is_held: bool,
    /// The number of the next entry of the transcript.
    pub next_seq: u64,
    /// The number of the next input.
    pub next_input: u64,
    /// What is to be known of its agent.
    pub agent: AgentTraits,
    /// How long a session that nobody looks at and that does nothing stays in use.
    pub linger: Duration,
    /// Whether the process stays when a client goes: what is asked then waits for another client.
    pub outlives_clients: bool,
}

/// What is decided and not sealed yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct StepDraft {
    pub(crate) operations: Vec<StoreOperation>,
    pub(crate) acts: Vec<OutboxAct>,
    /// How long what the agent says in it is.
    pub(crate) bytes: usize,
    /// Whether the acts wait for the disk.
    pub(crate) is_durable: bool,
    /// Whether it changes what waits to be delivered.
    is_input: bool,
    pub(crate) in_doubt: InDoubt,
}

/// How a session in use stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// No turn runs.
    Idle,
    /// A turn runs.
    Running,
    /// A turn runs and waits for the user.
    RequiresAction,
}

impl SessionCore {
    /// A session that comes into use now.
    pub fn new(start: SessionStart, now: Moment) -> Self {
        let method = start.agent.steer_method;
        let delivery =
            InputDelivery { mailbox: start.mailbox, is_held: start.is_held, ..InputDelivery::new(method) };
        let mut core = Self {
            turn: None,
            turns: 0,
            last_prompter: None,
            delivery,
            unanswered: BTreeMap::new(),
            pending_on_disk: Vec::new(),
            next_input: start.next_input,
            transcript: SessionTranscript::new(start.next_seq),
            attendance: Attendance::default(),
            questions: UnansweredQuestions::default(),
            lifecycle: SessionLifecycle::new(start.linger, now),
            agent: start.agent,
            title: start.title,
            agent_session_id: start.agent_session_id,
            outlives_clients: start.outlives_clients,
            ids: IdMint::new(start.seed),
            outbox: CommitOutbox::default(),
            draft: StepDraft::default(),
            step: SessionStep::default(),
            now,
        };
        core.pending_on_disk = core.pending();
        core
    }

    /// Takes an input in. [`finish`](Self::finish) gives what comes of it.
    pub fn handle(&mut self, input: SessionInput, now: Moment) {
        self.now = now;
        match input {
            SessionInput::Attach(attach) => self.attach(attach),
            SessionInput::Detach(client) => self.detach(client),
            SessionInput::Request { client, request, what } => self.request(client, request, what),
            SessionInput::CancelRequest(request) => self.cancel_request(request),
            SessionInput::Cancel => self.cancel(),
            SessionInput::Agent(event) if self.is_stalled() => self.agent_event_in_stall(event),
            SessionInput::Agent(event) => self.agent_event(event),
            SessionInput::AgentEnded => self.agent_ended(),
            SessionInput::SteerMethod(method) => {
                self.delivery.steer_method = method;
                self.interrupt_now();
            }
            SessionInput::ElicitationModes(modes) => self.agent.elicitation = modes,
            SessionInput::Answered { ask, client, answer } => self.answered(ask, client, answer),
            SessionInput::Committed => self.committed(),
            SessionInput::CommitFailed(failure) => self.commit_failed(failure),
            SessionInput::Recovered(recovery) => self.recovered(recovery),
            SessionInput::End(wish) => self.end(wish),
            SessionInput::Tick => self.tick(),
        }
    }

    /// What comes of all that was handled since the last call.
    pub fn finish(&mut self) -> SessionStep {
        self.deliver();
        self.interrupt_later();
        while !self.draft.operations.is_empty() || !self.draft.acts.is_empty() {
            self.seal();
            self.deliver();
        }
        self.draft = StepDraft::default();
        self.note_use();
        std::mem::take(&mut self.step)
    }

    /// Whether what was handled should be finished before more of the agent is: something waits for the disk, or it is long.
    pub fn wants_finish(&self, bytes: usize) -> bool {
        self.draft.is_durable || self.draft.bytes >= bytes
    }

    /// Whether the agent is to be heard: not while its words or its questions would only pile up, and not before somebody is
    /// there.
    pub fn hears_agent(&self) -> bool {
        let has_room = !self.outbox.is_full() && self.questions.user_question_bytes() < ASKED_BYTES;
        has_room && self.attendance.has_been_seen
    }

    /// Whether clients are to be heard. Who comes while the end is written waits: it finds the session as it is then, left or
    /// in use as before.
    pub fn hears_clients(&self) -> bool {
        !self.outbox.is_brimful() && self.lifecycle.stage == LifecycleStage::Open
    }

    /// How the session stands.
    pub fn state(&self) -> SessionState {
        match &self.turn {
            None => SessionState::Idle,
            Some(_) if self.is_stalled() => SessionState::Idle,
            Some(_) if self.questions.needs_user() => SessionState::RequiresAction,
            Some(_) => SessionState::Running,
        }
    }

    /// Whether a client is here, or has said something that waits or is being worked on.
    pub fn knows_client(&self, client: ClientId) -> bool {
        let prompts = || self.turn.as_ref().is_some_and(|turn| turn.prompter == client);
        let waits = || self.delivery.mailbox.pending().any(|message| message.client == client);
        // What waits is on disk alone.
        self.is_stalled() || self.attendance.get(client).is_some() || prompts() || waits()
    }

    /// The prompt that the turn began with, if this client waits for its answer.
    pub fn open_prompt_of(&self, client: ClientId) -> Option<RequestId> {
        let prompt = self.turn.as_ref()?.unanswered.as_ref()?;
        (prompt.client == client).then_some(prompt.request)
    }

    /// What waits to be delivered and cannot be lost any more.
    pub fn pending_on_disk(&self) -> &[PendingMessage] {
        &self.pending_on_disk
    }

    /// The number after that of the last entry shown.
    pub fn shown(&self) -> u64 {
        self.transcript.shown()
    }

    /// Forgets entries of the transcript before this number that are on disk: whoever wants them reads them there.
    pub fn forget_entries(&mut self, before: u64) {
        self.transcript.forget(before);
    }

    /// What waits, in the order in which it will be delivered.
    pub(crate) fn pending(&self) -> Vec<PendingMessage> {
        let waiting = self.delivery.mailbox.pending();
        let told = waiting.map(|message| PendingMessage {
            message_id: message.id.to_string(),
            mode: if message.mode == DeliveryMode::Steer { "steer" } else { "queue" },
            content: message.content.content.clone(),
        });
        told.collect()
    }

    /// A number for a turn that begins.
    pub(crate) fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Numbers an update, notes it to be written down, and shows it to everybody but one.
    pub(crate) fn record(&mut self, mut update: IndexedUpdate, but: Option<ClientId>) {
        self.transcript.name(&mut update, &mut self.ids);
        if !update.kind.is_stored() {
            return self.show(update, but);
        }
        let seq = self.transcript.number();
        self.draft.bytes += update.raw.as_str().len();
        self.draft.operations.push(StoreOperation::Append { seq, update: update.without_message() });
        self.draft.acts.push(OutboxAct::Show { update, seq: Some(seq), but });
    }

    /// Numbers an update and notes it to be written down, but shows it to nobody.
    pub(crate) fn keep_quietly(&mut self, update: IndexedUpdate) {
        let seq = self.transcript.number();
        self.draft.bytes += update.raw.as_str().len();
        self.draft.operations.push(StoreOperation::Append { seq, update });
    }

    /// Shows an update that is not written down.
    pub(crate) fn show(&mut self, update: IndexedUpdate, but: Option<ClientId>) {
        self.draft.bytes += update.raw.as_str().len();
        self.draft.acts.push(OutboxAct::Show { update, seq: None, but });
    }

    /// Answers a request once all that was decided before is done.
    pub(crate) fn answer(&mut self, request: RequestId, outcome: Result<RawJson, Error>) {
        self.draft.acts.push(OutboxAct::Answer { request, outcome });
    }

    /// Answers a request ahead of all that waits.
    pub(crate) fn answer_now(&mut self, request: RequestId, outcome: Result<RawJson, Error>) {
        self.step.effects.push(SessionEffect::Answer { request, outcome });
    }

    /// Changes the session's row, and with it the time of its last change.
    pub(crate) fn update_row(&mut self, change: RowChange) {
        self.draft.operations.push(StoreOperation::UpdateSession(change));
    }

    /// Turns what the mailbox did into what is to be written down.
    pub(crate) fn note_input_changes(&mut self) {
        let changes = self.delivery.mailbox.take_changes();
        self.draft.is_durable |= !changes.is_empty();
        self.draft.is_input |= !changes.is_empty();
        for change in changes {
            let seq = self.next_input;
            if let nudge_mailbox::MailboxChange::Added(message) = &change {
                self.draft.in_doubt.accepted.push(Arc::clone(&message.id));
                self.next_input += 1;
            }
            self.draft.operations.push(StoreOperation::Input(InputChange { change, seq }));
        }
    }

    /// Gives out what may be delivered now, and notes it together with all else that changed in the mailbox.
    pub(crate) fn deliver(&mut self) {
        loop {
            let delivery = self.delivery.poll(self.turn.as_mut(), self.questions.needs_user());
            self.note_input_changes();
            match delivery {
                Some(DeliveredMessages::Turn(messages)) => self.begin_turn(messages),
                Some(DeliveredMessages::Steer(opening, messages)) => self.steer(opening, messages),
                None => break,
            }
        }
    }

    /// What was decided is written down, and done: at once, or once it and all before it is on disk.
    fn seal(&mut self) {
        let StepDraft { operations, mut acts, is_durable, is_input, in_doubt, .. } =
            std::mem::take(&mut self.draft);
        if is_input {
            acts.insert(0, OutboxAct::Pending(self.pending()));
        }
        if operations.is_empty() {
            return self.act_in_place(acts);
        }
        let bytes = operations.iter().map(StoreOperation::size).sum();
        let next_seq = self.transcript.next_seq();
        self.step.commits.push(SessionCommit { operations, is_durable, at: self.now.unix_millis });
        if is_durable {
            self.outbox.wait(acts, next_seq, in_doubt, bytes);
        } else {
            self.outbox.note(&acts, next_seq, bytes);
            self.act_in_place(acts);
        }
    }

    /// Does what waits for nothing itself, in its place behind what does.
    fn act_in_place(&mut self, acts: Vec<OutboxAct>) {
        if let Some(acts) = self.outbox.follow(acts) {
            self.act_all(acts);
        }
    }

    fn committed(&mut self) {
        if let Some(group) = self.outbox.pop() {
            // What could not be written before is not on disk because something else is.
            if !self.is_stalled() {
                self.transcript.committed(group.next_seq);
            }
            self.act_all(group.acts);
        }
    }

    fn act_all(&mut self, acts: Vec<OutboxAct>) {
        for act in acts {
            self.act(act);
        }
    }

    /// The session is not in use any more.
    pub(crate) fn leave(&mut self, parting: BackendParting, waiting: Vec<RequestId>) {
        self.lifecycle.stage = LifecycleStage::Left;
        self.step.effects.push(SessionEffect::Leave { parting, waiting });
    }
}

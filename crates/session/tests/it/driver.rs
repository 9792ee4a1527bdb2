//! A driver for a session core with a disk that tests decide over. It looks at every effect: what must never be seen is
//! looked for in every test.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use nudge_backend::{BackendEvent, SteerMethod, UserMessage};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{Mailbox, MailboxChange, MessageFate, MessageId, SavedMailbox};
use nudge_session::{
    AgentTraits, CommitFailure, EndWish, FORMER_CLIENT, InputChange, InputContent, Moment, RequestId,
    RestoredSession, SessionCommit, SessionCore, SessionEffect, SessionInput, SessionStart, SessionStep,
    StoreOperation, StoredState, TranscriptPast,
};
use nudge_wire::Error;

/// What is on disk of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    pub(crate) inputs: SavedMailbox<InputContent>,
    pub(crate) entries: BTreeMap<u64, IndexedUpdate>,
    next_input: u64,
}

impl Disk {
    fn write(&mut self, operation: StoreOperation) {
        match operation {
            StoreOperation::Append { seq, update } => {
                assert!(self.entries.insert(seq, update).is_none(), "entry {seq} is written twice");
            }
            StoreOperation::Input(InputChange { change, seq }) => {
                if let MailboxChange::Added(_) = change {
                    assert!(seq >= self.next_input, "input {seq} is written twice");
                    self.next_input = seq + 1;
                }
                self.inputs.apply(forgetful(change));
            }
            StoreOperation::UpdateSession(_) | StoreOperation::DeleteSession => {}
        }
    }

    fn past(&self) -> TranscriptPast {
        let mut past = TranscriptPast::default();
        self.entries.iter().for_each(|(seq, update)| past.take(*seq, update));
        past
    }

    /// What became of a message; `None` for one that is not on disk.
    fn fate(&self, id: &MessageId) -> Option<MessageFate> {
        let SavedMailbox { pending, delivered, revoked, .. } = &self.inputs;
        let is_waiting = pending.iter().any(|message| message.id == *id);
        match () {
            () if delivered.contains(id) => Some(MessageFate::Delivered),
            () if revoked.contains(id) => Some(MessageFate::Revoked),
            () => is_waiting.then_some(MessageFate::Pending),
        }
    }
}

/// The store keeps neither who a message is from nor the params it came in.
fn forgetful(change: MailboxChange<InputContent>) -> MailboxChange<InputContent> {
    match change {
        MailboxChange::Added(mut message) => {
            message.client = FORMER_CLIENT;
            message.content.params = None;
            MailboxChange::Added(message)
        }
        other => other,
    }
}

/// A session core, its disk and its clock.
#[derive(Debug, Clone)]
pub(crate) struct Driver {
    pub(crate) core: SessionCore,
    pub(crate) disk: Disk,
    under_way: VecDeque<SessionCommit>,
    start: SessionStart,
    now: Moment,
    /// Requests that were made and not answered.
    unanswered: BTreeSet<RequestId>,
    /// Break-points at which the agent waits.
    breaks: usize,
}

/// What a session begins with that nothing is special about.
pub(crate) fn plain_start(steer_method: SteerMethod) -> SessionStart {
    let agent = AgentTraits {
        steer_method,
        wants_title: false,
        has_own_tools: false,
        elicitation: nudge_wire::caps::ElicitationModes::default(),
    };
    SessionStart {
        seed: 1,
        title: Some("title".to_owned()),
        agent_session_id: None,
        mailbox: Mailbox::new(),
        is_held: false,
        next_seq: 0,
        next_input: 0,
        agent,
        linger: Duration::from_mins(1),
        outlives_clients: true,
    }
}

impl Driver {
    pub(crate) fn new(start: SessionStart) -> Self {
        let now = Moment::default();
        let core = SessionCore::new(start.clone(), now);
        let (under_way, unanswered) = (VecDeque::new(), BTreeSet::new());
        Self { core, disk: Disk::default(), under_way, start, now, unanswered, breaks: 0 }
    }

    /// Gives the core an input. Its commits are under way then.
    pub(crate) fn step(&mut self, input: SessionInput) -> SessionStep {
        self.step_of([input])
    }

    /// Gives the core several inputs that share a step.
    pub(crate) fn step_of(&mut self, inputs: impl IntoIterator<Item = SessionInput>) -> SessionStep {
        for input in inputs {
            self.unanswered.extend(request_of(&input));
            self.breaks += usize::from(input == SessionInput::Agent(BackendEvent::BreakPoint));
            self.core.handle(input, self.now);
        }
        let step = self.core.finish();
        self.under_way.extend(step.commits.iter().cloned());
        step.effects.iter().for_each(|effect| self.look_at(effect));
        step
    }

    pub(crate) fn is_writing(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// The oldest commit is on disk.
    pub(crate) fn land(&mut self) -> SessionStep {
        let commit = self.under_way.pop_front().expect("a commit is under way");
        self.write(commit);
        self.step(SessionInput::Committed)
    }

    fn write(&mut self, commit: SessionCommit) {
        commit.operations.into_iter().for_each(|operation| self.disk.write(operation));
    }

    /// The oldest commit cannot be written; of those behind it these are, oldest first.
    pub(crate) fn fail(&mut self, error: Error, may_pass: bool, written: Vec<bool>) -> SessionStep {
        self.under_way.pop_front().expect("a commit is under way");
        let behind = std::mem::take(&mut self.under_way);
        for (commit, is_written) in
            behind.into_iter().zip(written.iter().copied().chain(std::iter::repeat(false)))
        {
            if is_written {
                self.write(commit);
            }
        }
        self.step(SessionInput::CommitFailed(CommitFailure { error, may_pass, written }))
    }

    /// There is room again: what has to be written for that, and what follows.
    pub(crate) fn recover(&mut self) -> (SessionCommit, SessionStep) {
        let on_disk = self.core.on_disk();
        let stored = StoredState {
            inputs: self.disk.inputs.clone(),
            next_input: self.disk.next_input,
            past: self.disk.past(),
            entries: self.disk.entries.range(on_disk..).map(|(seq, _)| *seq).collect(),
        };
        let (commit, recovery) = self.core.plan_recovery(stored, self.now).expect("it is stalled");
        self.write(commit.clone());
        (commit, self.step(SessionInput::Recovered(recovery)))
    }

    /// The process dies, and the session comes into use in another; gives what is written before anybody joins.
    pub(crate) fn crash(&mut self) -> Vec<StoreOperation> {
        self.start.seed += 1;
        let restored =
            RestoredSession::new(self.disk.inputs.clone(), &self.disk.past(), self.start.seed << 32);
        restored.operations.iter().for_each(|operation| self.disk.write(operation.clone()));
        let RestoredSession { mailbox, next_seq, operations, .. } = restored;
        let next_input = self.disk.next_input;
        let start = SessionStart { mailbox, next_seq, next_input, is_held: true, ..self.start.clone() };
        self.core = SessionCore::new(start, self.now);
        self.under_way.clear();
        self.unanswered.clear();
        self.breaks = 0;
        operations
    }

    pub(crate) fn wait(&mut self, time: Duration) -> SessionStep {
        self.now.uptime += time;
        self.now.unix_millis += u64::try_from(time.as_millis()).expect("tests are short");
        self.step(SessionInput::Tick)
    }

    /// What must hold for every effect.
    fn look_at(&mut self, effect: &SessionEffect) {
        match effect {
            SessionEffect::Answer { request, .. } | SessionEffect::ReadOn(request) => self.answered(*request),
            SessionEffect::Joined(joined) => self.answered(joined.request),
            SessionEffect::Leave { waiting, .. } => {
                for request in waiting {
                    self.answered(*request);
                }
            }
            SessionEffect::Show { update, .. } if update.kind == UpdateKind::UserMessage => {
                let id = update.message_id.as_ref().expect("messages of the user have ids");
                assert_eq!(
                    self.disk.fate(id),
                    Some(MessageFate::Delivered),
                    "{id} is shown before it is on disk"
                );
            }
            SessionEffect::Prompt { messages, .. } | SessionEffect::Steer(messages) => self.given(messages),
            SessionEffect::GoOn(messages) => {
                self.breaks = self.breaks.checked_sub(1).expect("the agent goes on only from a break-point");
                self.given(messages);
            }
            _ => {}
        }
    }

    fn answered(&mut self, request: RequestId) {
        assert!(self.unanswered.remove(&request), "{request:?} is answered twice");
    }

    fn given(&self, messages: &[UserMessage]) {
        for UserMessage { id, .. } in messages {
            assert_eq!(
                self.disk.fate(id),
                Some(MessageFate::Delivered),
                "{id} is given out before it is on disk"
            );
        }
    }

    /// Requests that were made and not answered.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = RequestId> {
        self.unanswered.iter().copied()
    }
}

fn request_of(input: &SessionInput) -> Option<RequestId> {
    match input {
        SessionInput::Attach(attach) => Some(attach.request),
        SessionInput::Request { request, .. }
        | SessionInput::End(
            EndWish::Close(_, request) | EndWish::Delete(request) | EndWish::LeaveIfUnused(request),
        ) => Some(*request),
        _ => None,
    }
}

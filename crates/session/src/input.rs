//! What a session is told: by its clients, its agent, its store and the clock.

use std::time::Duration;

use nudge_backend::{BackendEvent, OptionChange, SteerMethod};
use nudge_mailbox::{ClientId, DeliveryMode};
use nudge_wire::{Error, RawJson, caps::ElicitationModes};

use crate::{Attendee, InputContent, stall::StallRecovery};

/// A request that somebody waits for the answer of; the driver knows who. Never used twice in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A question as clients are asked it. Never used twice while a session is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(pub u64);

/// What time it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Milliseconds since 1970, to be written down.
    pub unix_millis: u64,
    /// How long the driver has been running: it only grows.
    pub uptime: Duration,
}

/// What a session is told.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionInput {
    /// A client wants to join.
    Attach(AttachRequest),
    /// A client is gone.
    Detach(ClientId),
    /// A request of a client.
    Request {
        /// Who asks.
        client: ClientId,
        /// What its answer names.
        request: RequestId,
        /// What is asked.
        what: SessionRequest,
    },
    /// A request is cancelled: a prompt is taken back, or its turn is ended.
    CancelRequest(RequestId),
    /// The user ends the turn.
    Cancel,
    /// What the agent does.
    Agent(BackendEvent),
    /// The agent has ended for good.
    AgentEnded,
    /// How the agent is steered from now on.
    SteerMethod(SteerMethod),
    /// Which ways of asking the user the agent was told of: another process of it may have been told of others.
    ElicitationModes(ElicitationModes),
    /// An answer to what clients were asked.
    Answered {
        /// Which question.
        ask: AskId,
        /// Who answers.
        client: ClientId,
        /// With what.
        answer: ClientAnswer,
    },
    /// The oldest commit is on disk.
    Committed,
    /// The oldest commit could not be written.
    CommitFailed(CommitFailure),
    /// What the session remembers and what is on disk are the same again.
    Recovered(StallRecovery),
    /// The session's use ends.
    End(EndWish),
    /// Time has passed.
    Tick,
}

/// What a client asks of a session it has joined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionRequest {
    /// `session/prompt`.
    Prompt {
        /// What it says.
        body: InputContent,
        /// The sender's mark for retries.
        key: Option<String>,
    },
    /// `session/inject`.
    Inject {
        /// When it is delivered.
        mode: DeliveryMode,
        /// An array of content blocks.
        content: RawJson,
        /// The sender's mark for retries.
        key: Option<String>,
    },
    /// `_session/steering`.
    Steering {
        /// An array of content blocks.
        content: RawJson,
        /// Whether an idle session asks for a prompt instead.
        prompt_required: bool,
    },
    /// `session/revoke_inject`.
    Revoke {
        /// Which message.
        id: String,
    },
    /// `session/replace_inject`.
    Replace {
        /// Which message.
        id: String,
        /// An array of content blocks.
        content: RawJson,
    },
    /// An option of the agent is set, which it has agreed to.
    SetOption {
        /// Which one, to what.
        option: OptionChange,
        /// All settings of the agent as they are then, to be kept.
        config: RawJson,
        /// The answer.
        answer: RawJson,
    },
    /// What was asked cannot be: it is answered in its place.
    Refused(Error),
}

/// A client wants to join.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttachRequest {
    /// What its answer names.
    pub request: RequestId,
    /// Who.
    pub attendee: Attendee,
    /// The number of the first entry that it has not been shown.
    pub from: u64,
    /// How.
    pub options: AttachOptions,
}

/// How a client joins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AttachOptions {
    /// Whether it is shown the history.
    pub wants_history: bool,
    /// Whether what waits stays where it is: the client only looks, or takes something back.
    pub keeps_hold: bool,
    /// Whether the answer names the session, as that to `session/new` does.
    pub is_new: bool,
}

/// What comes back from a client that was asked something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClientAnswer {
    /// Its answer, in its version.
    Answer(RawJson),
    /// It does not understand the question, or refuses.
    Refused(Error),
    /// It is gone, or will say nothing more.
    Gone,
}

/// The store did not take a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommitFailure {
    /// What clients are told.
    pub error: Error,
    /// Whether it may pass, as a full disk does.
    pub may_pass: bool,
    /// Which of the commits behind it were written after all, oldest first.
    pub written: Vec<bool>,
}

/// How a session's use is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndWish {
    /// `session/close`: a client that has joined it closes it.
    Close(ClientId, RequestId),
    /// `session/delete`: it is deleted.
    Delete(RequestId),
    /// It is left if nobody uses it, so that it can come into use anew.
    LeaveIfUnused(RequestId),
    /// The process ends. A patient one lets the turn that runs end by itself, unless it needs the user.
    Process {
        /// Whether the turn may end by itself.
        is_patient: bool,
    },
}

/// What a session has to know of its agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AgentTraits {
    /// How it is steered.
    pub steer_method: SteerMethod,
    /// Whether sessions are named after their first message.
    pub wants_title: bool,
    /// Whether it reads and writes files and runs commands itself where no client offers that.
    pub has_own_tools: bool,
    /// Which ways of asking the user it was told of: forms, pages.
    pub elicitation: ElicitationModes,
}

//! What a session does: what is to be written down, and every act towards the outside, as values.

use nudge_backend::{AgentQuestion, BackendParting, OptionChange, QuestionAnswer, QuestionId, UserMessage};
use nudge_bridge::IndexedUpdate;
use nudge_mailbox::{ClientId, MailboxChange};
use nudge_wire::{Error, Message, RawJson, Version};

use crate::{AskId, InputContent, RequestId};

/// What comes of an input: what is to be written down, and what is to be done now, in this order.
///
/// What depends on something that is written down is not in it: it comes with the step of
/// [`SessionInput::Committed`](crate::SessionInput::Committed).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SessionStep {
    /// To be given to the store in this order; each is told to be on disk in the same order.
    pub commits: Vec<SessionCommit>,
    /// To be done at once, in this order.
    pub effects: Vec<SessionEffect>,
}

/// What is written together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionCommit {
    /// In order.
    pub operations: Vec<StoreOperation>,
    /// Whether something waits for it to be on disk. What does not may be lost in a crash.
    pub is_durable: bool,
    /// When it was decided, in milliseconds since 1970.
    pub at: u64,
}

/// Something to write down.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StoreOperation {
    /// An entry of the transcript.
    Append {
        /// Its number.
        seq: u64,
        /// What it says.
        update: IndexedUpdate,
    },
    /// What became of the pending input; messages that are added are numbered.
    Input(InputChange),
    /// The session's row.
    UpdateSession(RowChange),
    /// The session is deleted with all that belongs to it.
    DeleteSession,
}

/// A change of the pending input, and the number of a message that is added.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputChange {
    /// What changes.
    pub change: MailboxChange<InputContent>,
    /// Numbers the messages that were ever added.
    pub seq: u64,
}

/// What changes in a session's row, beside the time of its last change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RowChange {
    /// What it is called.
    pub title: Option<String>,
    /// Settings of its agent.
    pub config: Option<RawJson>,
    /// Whether it is closed.
    pub closed: Option<bool>,
    /// By which id its agent knows it.
    pub agent_session_id: Option<String>,
}

/// Something that is done or seen outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionEffect {
    /// An update goes to every client but these.
    Show {
        /// What.
        update: IndexedUpdate,
        /// To whom not.
        skip: Vec<ClientId>,
    },
    /// A notification of the agent that is no update goes to every client.
    Notify(Message),
    /// A notification of the agent goes to one client.
    NotifyOne(ClientId, Message),
    /// A request is answered.
    Answer {
        /// Which.
        request: RequestId,
        /// With what.
        outcome: Result<RawJson, Error>,
    },
    /// A client has joined: it is shown what it missed and answered, and is shown from now on what comes.
    Joined(Box<JoinedClient>),
    /// A client that wants to join has to read on from the store first: more was written than is kept in memory.
    ReadOn(RequestId),
    /// What waits for somebody to come back is taken up by this client.
    TakenUpBy(ClientId),
    /// What is held back for clients is sent.
    Flush,
    /// What waits to be delivered has changed, and is on disk like this.
    TellPending(Vec<PendingMessage>),

    /// The agent begins a turn.
    Prompt {
        /// With these.
        messages: Vec<UserMessage>,
        /// The client whose message began it.
        prompter: ClientId,
    },
    /// The agent takes these while it works.
    Steer(Vec<UserMessage>),
    /// The agent goes on from a break-point, with these.
    GoOn(Vec<UserMessage>),
    /// The agent's stream is cut off.
    Interrupt,
    /// The agent's turn is ended.
    Cancel,
    /// A question of the agent is answered.
    AnswerAgent(QuestionId, QuestionAnswer),
    /// An option of the agent is set.
    SetOption(OptionChange),
    /// Options that were to be set are not.
    ForgetOptions,

    /// A client is asked.
    Ask {
        /// What its answer names.
        ask: AskId,
        /// Who.
        client: ClientId,
        /// What.
        question: AgentQuestion,
    },
    /// A client is not asked any more.
    WithdrawAsk {
        /// What.
        ask: AskId,
        /// Who.
        client: ClientId,
    },
    /// No client answers a question for a file or a terminal: the agent is served in the session's folders.
    Serve(AgentQuestion),

    /// The session is not in use any more.
    Leave {
        /// What its agent is told.
        parting: BackendParting,
        /// Those who wait for it.
        waiting: Vec<RequestId>,
    },
}

/// A client has joined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JoinedClient {
    /// What its answer names.
    pub request: RequestId,
    /// Who.
    pub client: ClientId,
    /// Whether the answer names the session.
    pub is_new: bool,
    /// What it missed of the history.
    pub missed: Vec<IndexedUpdate>,
    /// How the turn stands.
    pub state: IndexedUpdate,
    /// Whether a turn runs.
    pub is_running: bool,
    /// What waits to be delivered and cannot be lost any more.
    pub pending: Vec<PendingMessage>,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingMessage {
    /// What revoke and replace name it by.
    pub message_id: String,
    /// `queue` or `steer`.
    pub mode: &'static str,
    /// What it says.
    pub content: RawJson,
}

/// A question to the user that is open, for whoever is not attached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpenAsk {
    /// What its answer names.
    pub ask: AskId,
    /// The version of the params.
    pub version: Version,
    /// `session/request_permission` or `elicitation/create`.
    pub method: &'static str,
    /// Its params.
    pub params: RawJson,
}

impl StoreOperation {
    /// About how many bytes it takes up while it is on its way.
    pub(crate) fn size(&self) -> usize {
        let text = match self {
            Self::Append { update, .. } => {
                let id = |id: &Option<std::sync::Arc<str>>| id.as_ref().map_or(0, |id| id.len());
                update.raw.as_str().len() + id(&update.message_id) + id(&update.tool_call_id)
            }
            Self::Input(InputChange { change, .. }) => match change {
                MailboxChange::Added(message) => message.content.content.as_str().len(),
                MailboxChange::Replaced { content, .. } => content.content.as_str().len(),
                MailboxChange::Revoked { .. }
                | MailboxChange::Forgotten { .. }
                | MailboxChange::Delivered { .. } => 0,
            },
            Self::UpdateSession(change) => change.config.as_ref().map_or(0, |config| config.as_str().len()),
            Self::DeleteSession => 0,
        };
        size_of::<Self>() + text
    }
}

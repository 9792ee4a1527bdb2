//! A session in use: one task, reached by commands.

mod actor;
mod ask;
mod attach;
mod input;
mod outbox;
mod question;
mod restore;
mod set;
mod turn;
mod view;

use std::sync::Arc;

use nudge_mailbox::{ClientId, MessageId};
use nudge_peer::{CallError, Responder, Unhandled};
use nudge_wire::{Error, RawJson, Version, inject::Mode};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use crate::client::Client;

pub(crate) use actor::entry;
pub(crate) use attach::{Attach, Attached, How, join};
pub use question::OpenQuestion;
pub(crate) use question::Wanted;
pub(crate) use restore::{BUILT_IN, row, stored};
pub(crate) use restore::{Wish, begin, create, open};
pub(crate) use view::{Shown, View};

/// Commands that may wait for a session; past that, whoever sends one waits.
const COMMANDS: usize = 256;

/// How to reach a session in use.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    commands: mpsc::Sender<Command>,
}

impl Handle {
    /// Sends a command; gives it back if the session is not in use any more.
    pub(crate) async fn send(&self, command: Command) -> Result<(), Command> {
        self.commands.send(command).await.map_err(|refused| refused.0)
    }

    /// How the session stands; `None` if it is not in use any more.
    pub(crate) async fn status(&self) -> Option<Live> {
        let (reply, replied) = oneshot::channel();
        self.send(Command::Status(reply)).await.ok()?;
        replied.await.ok()
    }
}

/// What a session is asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// A client joins.
    Attach(Box<Attach>, oneshot::Sender<Attached>),
    /// A client leaves.
    Detach(ClientId),
    /// The user ends the turn.
    Cancel,
    /// The request of this prompt is cancelled: it is taken back, or its turn is ended.
    CancelPrompt(MessageId),
    /// A request of a client.
    Request { client: Arc<Client>, request: Request, responder: Responder },
    /// A client's answer to a permission request.
    Permission { id: u64, client: ClientId, answer: Result<RawJson, CallError> },
    /// A message about the session that only its agent understands, from a client of this version.
    Pass(Version, Unhandled),
    /// What a terminal shows that Nudge runs for the agent, as an update.
    Terminal(RawJson),
    /// The agent has answered a request that sets something.
    SetDone(Box<set::SetDone>),
    /// A client runs a terminal for the agent.
    OwnTerminal { client: ClientId, terminal: String },
    /// How it stands.
    Status(oneshot::Sender<Live>),
    /// Somebody who is not attached wants to know what it waits for, or answers.
    Question(question::Wanted),
    /// It is deleted, and somebody waits for that.
    Delete(oneshot::Sender<()>),
    /// The process ends: the session is left, after the turn or with the turn cancelled.
    End { is_patient: bool },
}

/// A request about a session in use.
#[derive(Debug)]
pub(crate) enum Request {
    Prompt(Prompt),
    Inject { mode: Mode, content: Vec<RawJson>, key: Option<String> },
    Revoke { id: String },
    Replace { id: String, content: Vec<RawJson> },
    Steering { content: Vec<RawJson>, prompt_required: bool },
    Set { is_mode: bool, params: RawJson },
    Close,
}

/// `session/prompt`.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) content: Vec<RawJson>,
    pub(crate) key: Option<String>,
    /// All of its params, as they came.
    pub(crate) params: Option<RawJson>,
}

/// How a session in use stands.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Live {
    /// `running`, `requires_action` or `idle`.
    pub state: &'static str,
    /// How many clients are attached.
    pub clients: usize,
    /// What waits to be delivered, in order.
    pub pending: Vec<Pending>,
    /// The number after that of the last entry shown.
    #[serde(skip)]
    pub(crate) shown: u64,
}

/// A message that waits.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// What revoke and replace name it by.
    pub message_id: String,
    /// `queue` or `steer`.
    pub mode: &'static str,
    /// What it says.
    pub content: RawJson,
}

/// The error for a session that is not there or not attached.
pub(crate) fn unknown() -> Error {
    Error::not_found("unknown_session")
}

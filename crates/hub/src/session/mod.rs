//! A session in use: one task, reached by commands.

mod asks;
mod attach;
mod commits;
mod contexts;
mod driver;
mod perform;
mod recover;
mod restore;
mod set;
mod stored_ops;
mod view;
mod waiters;

use std::sync::Arc;

use nudge_backend::CancellableWork;
use nudge_mailbox::ClientId;
use nudge_peer::{PassedMessage, RequestResponder, UnhandledMessage};
use nudge_session::{AskId, ClientAnswer, PendingMessage, RequestId};
use nudge_wire::{Error, RawJson, Version, inject::InjectMode};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::{
    client::{ClientMessage, ConnectedClient},
    joined_sessions::ClosingSession,
};

pub use asks::OpenQuestion;
pub(crate) use asks::QuestionWish;
pub(crate) use attach::{AttachOutcome, JoinRequest, join};
pub(crate) use restore::{RestoreWish, begin, open};
pub(crate) use restore::{row, store_error};
pub(crate) use stored_ops::{entry, stored_update};
pub(crate) use view::{ClientView, ShownUpdate};
pub(crate) use waiters::JoiningClient;

/// Commands that may wait for a session; past that, whoever sends one waits.
const COMMANDS: usize = 256;
/// Bytes of them.
const COMMANDS_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of messages that may be on their way through a session to its agent; past that, whoever sends one waits.
const PASSING_BYTES: usize = 4 * 1024 * 1024;
/// What a command costs beside its text.
const OVERHEAD: usize = 256;

/// How to reach a session in use.
#[derive(Debug, Clone)]
pub(crate) struct SessionHandle {
    /// The directory of the session.
    pub(crate) cwd: Arc<str>,
    /// What runs it, as the store calls that.
    pub(crate) backend: Arc<str>,
    commands: mpsc::Sender<Waiting>,
    /// Room for commands that wait.
    room: Arc<Semaphore>,
    /// Room for messages on their way to the agent, which may take them much later than the session does.
    passing: Arc<Semaphore>,
}

/// A command that waits for its session, and the room it takes up meanwhile.
#[derive(Debug)]
struct Waiting {
    command: SessionCommand,
    _room: Option<OwnedSemaphorePermit>,
}

/// The commands of a session, in order.
#[derive(Debug)]
struct Commands(mpsc::Receiver<Waiting>);

impl Commands {
    async fn recv(&mut self) -> Option<SessionCommand> {
        self.0.recv().await.map(|waiting| waiting.command)
    }

    /// Takes no more in; gives what has come.
    fn close(&mut self) -> Vec<SessionCommand> {
        self.0.close();
        std::iter::from_fn(|| self.0.try_recv().ok()).map(|waiting| waiting.command).collect()
    }
}

impl SessionHandle {
    fn new(cwd: &str, backend: &str) -> (Self, Commands) {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let [room, passing] = [COMMANDS_BYTES, PASSING_BYTES].map(|bytes| Arc::new(Semaphore::new(bytes)));
        (Self { cwd: cwd.into(), backend: backend.into(), commands, room, passing }, Commands(receiver))
    }

    /// Sends a command, once there is room for it; gives it back if the session is not in use any more.
    pub(crate) async fn send(&self, command: SessionCommand) -> Result<(), SessionCommand> {
        let room = take(&self.room, command.size(), COMMANDS_BYTES).await;
        let sent = self.commands.send(Waiting { command, _room: room }).await;
        sent.map_err(|refused| refused.0.command)
    }

    /// Passes a message on to the agent, once there is room for it on the way; gives it back if the session is not in use
    /// any more.
    pub(crate) async fn pass(
        &self,
        from: Version,
        message: UnhandledMessage,
    ) -> Result<(), UnhandledMessage> {
        let room = take(&self.passing, message.size(), PASSING_BYTES).await;
        match self.send(SessionCommand::Pass(PassedMessage { from, message, room })).await {
            Err(SessionCommand::Pass(refused)) => Err(refused.message),
            _ => Ok(()),
        }
    }

    /// How the session stands; `None` if it is not in use any more.
    pub(crate) async fn status(&self) -> Option<LiveStatus> {
        let (reply, replied) = oneshot::channel();
        self.send(SessionCommand::Status(reply)).await.ok()?;
        replied.await.ok()
    }
}

/// What a session is asked to do.
#[derive(Debug)]
pub(crate) enum SessionCommand {
    /// A client joins.
    Attach(Box<JoiningClient>),
    /// A client leaves.
    Detach(ClientId),
    /// The user ends the turn.
    Cancel,
    /// A request is cancelled: a prompt is taken back, or its turn is ended.
    CancelRequest(RequestId),
    /// A request of a client.
    Request { client: Arc<ConnectedClient>, request: InUseRequest, responder: RequestResponder },
    /// A client's answer to what it was asked.
    Answered { ask: AskId, client: ClientId, answer: ClientAnswer },
    /// A message about the session that only its agent understands.
    Pass(PassedMessage),
    /// The agent has answered a request that sets something.
    SetDone(Box<set::SetDone>),
    /// A client runs a terminal for the agent.
    OwnTerminal { client: ClientId, terminal: String },
    /// How it stands.
    Status(oneshot::Sender<LiveStatus>),
    /// Somebody who is not attached wants to know what it waits for, or answers.
    Question(QuestionWish),
    /// It is deleted, and somebody waits for that.
    Delete(oneshot::Sender<Result<(), Error>>),
    /// It is left if nobody uses it, so that it can come into use anew; whoever waits is told by the end of this.
    Leave(oneshot::Sender<()>),
    /// The process ends: the session is left, after the turn or with the turn cancelled.
    End { is_patient: bool },
}

impl SessionCommand {
    /// About how many bytes it takes up while it waits.
    fn size(&self) -> usize {
        match self {
            Self::Request { request, .. } => request.size(),
            Self::Answered { answer: ClientAnswer::Answer(answer), .. } => answer.as_str().len(),
            Self::SetDone(done) => done.size(),
            _ => 0,
        }
    }

    /// Whether what it asks for has to be written down.
    fn is_written(&self) -> bool {
        matches!(self, Self::Attach(..) | Self::Request { .. })
    }

    /// It cannot be done, and whoever asked is told.
    fn refuse(self, error: &Error) {
        match self {
            Self::Attach(joining) => joining.refuse(error),
            Self::Request { request: InUseRequest::Close(closing), responder, .. } => {
                closing.refuse(responder, error);
            }
            Self::Request { client, responder, .. } => {
                client.push(ClientMessage::Answer(responder, Err(error.clone())));
            }
            _ => {}
        }
    }
}

/// Takes room for so many bytes, or for all there is if they are more.
async fn take(room: &Arc<Semaphore>, bytes: usize, all: usize) -> Option<OwnedSemaphorePermit> {
    let size = u32::try_from((bytes + OVERHEAD).min(all)).unwrap_or(u32::MAX);
    // It is never closed.
    Arc::clone(room).acquire_many_owned(size).await.ok()
}

/// A request about a session in use.
#[derive(Debug)]
pub(crate) enum InUseRequest {
    Prompt(PromptInput),
    Inject { mode: InjectMode, content: Vec<RawJson>, key: Option<String> },
    Revoke { id: String },
    Replace { id: String, content: Vec<RawJson> },
    Steering { content: Vec<RawJson>, prompt_required: bool },
    Set { is_mode: bool, params: RawJson },
    CancelWork(CancellableWork),
    Close(ClosingSession),
}

impl InUseRequest {
    /// How long what it says is.
    pub(crate) fn size(&self) -> usize {
        let text = |content: &[RawJson]| content.iter().map(|block| block.as_str().len()).sum();
        match self {
            Self::Prompt(prompt) => prompt.params.as_ref().map_or(0, |params| params.as_str().len()),
            Self::Inject { content, .. } | Self::Replace { content, .. } | Self::Steering { content, .. } => {
                text(content)
            }
            Self::Set { params, .. } => params.as_str().len(),
            Self::Revoke { id }
            | Self::CancelWork(CancellableWork::ToolCall(id) | CancellableWork::Terminal(id)) => id.len(),
            Self::Close(_) => 0,
        }
    }
}

/// `session/prompt`.
#[derive(Debug)]
pub(crate) struct PromptInput {
    pub(crate) content: Vec<RawJson>,
    pub(crate) key: Option<String>,
    /// All of its params, as they came.
    pub(crate) params: Option<RawJson>,
}

/// How a session in use stands.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveStatus {
    /// `running`, `requires_action` or `idle`.
    pub state: &'static str,
    /// How many clients are attached.
    pub clients: usize,
    /// What waits to be delivered, in order.
    pub pending: Vec<PendingMessage>,
    /// The number after that of the last entry shown.
    #[serde(skip)]
    pub(crate) shown: u64,
    /// The folders beside the working directory.
    #[serde(skip)]
    pub(crate) additional_directories: Vec<String>,
}

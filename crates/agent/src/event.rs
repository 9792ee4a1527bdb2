//! What goes in and what comes out.

use std::path::PathBuf;

use nudge_wire::RawJson;
use tokio::sync::oneshot;

use crate::History;

/// Something the user said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage {
    /// The message's id in the session.
    pub id: String,
    /// An array of content blocks.
    pub content: RawJson,
}

/// What the agent needs to know about its session.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The session's id, for requests to the editor.
    pub session_id: String,
    /// Where commands run and what relative paths are relative to. Absolute.
    pub cwd: PathBuf,
    /// Other directories the tools may reach. Absolute.
    pub additional_directories: Vec<PathBuf>,
    /// What [`Event::Config`] last reported.
    pub config: Option<RawJson>,
    /// What was said before.
    pub history: History,
}

/// The answer to a request to the editor; `None` if no client offers the method.
pub type ClientAnswer = Option<Result<RawJson, nudge_wire::Error>>;

/// What the agent does.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A version 2 `update` object. Never `user_message` nor `state_update`: who owns the session reports those.
    Update(RawJson),
    /// A model begins to answer.
    StreamStarted,
    /// Its answer is over, or was cut off.
    StreamFinished,
    /// A tool begins to run, after permission was given where it is needed.
    ToolStarted(String),
    /// It is done.
    ToolFinished(String),
    /// The model's provider makes us wait. Comes within a stream.
    Paused,
    /// It goes on.
    Resumed,
    /// Sent before every question to the model but the first of a turn, and before the end of a turn that was neither
    /// cancelled nor failed. The agent waits for the answer: steers to be taken in now, in order; with any, the turn goes
    /// on. A dropped sender counts as none.
    ///
    /// An answer is taken in, to be remembered, even if the turn is cancelled at the same time; after
    /// [`Handle::cancel`](crate::Handle::cancel) was called, answer with nothing.
    BreakPoint(oneshot::Sender<Vec<UserMessage>>),
    /// The user is to decide.
    Permission {
        /// Version 2 params of `session/request_permission`, without `sessionId`.
        request: RawJson,
        /// The version 2 result. A dropped sender counts as the outcome `cancelled`, which ends the turn.
        answer: oneshot::Sender<RawJson>,
    },
    /// The editor is asked for a file or a terminal. To be sent even if the answer is not awaited any more: a terminal is
    /// released that way when a turn is cancelled.
    Client {
        /// A version 1 method: `fs/*` or `terminal/*`.
        method: &'static str,
        /// Its version 1 params, with `sessionId`.
        params: RawJson,
        /// The answer. A dropped sender counts as `None`.
        answer: oneshot::Sender<ClientAnswer>,
    },
    /// The options or the standing permissions changed: to be kept, and given to the next [`Setup`] as it is.
    Config(RawJson),
    /// The turn is over.
    Idle {
        /// A version 2 stop reason; `_error` if the model failed.
        stop_reason: &'static str,
        /// Why the model failed.
        error: Option<nudge_wire::Error>,
    },
}

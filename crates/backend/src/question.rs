//! What an agent asks: a permission, a form, a file, a terminal.

use std::sync::Arc;

use nudge_wire::{Error, RawJson, Version};
use serde_json::json;

/// What a question is known by between a session and its backend; never used twice by one backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub u64);

/// A request of the agent to its client. It is answered with [`Backend::answer`](crate::Backend::answer), once, unless the
/// agent withdraws it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AgentQuestion {
    /// What its answer names.
    pub id: QuestionId,
    /// The version that params and answer are written in.
    pub version: Version,
    /// For instance `session/request_permission`.
    pub method: Arc<str>,
    /// Its params. They need not name the session.
    pub params: RawJson,
}

/// The method by which an agent asks for permission.
pub const REQUEST_PERMISSION: &str = "session/request_permission";

/// The method by which an agent asks for a form to be filled in, or for a page to be visited.
pub const CREATE_ELICITATION: &str = "elicitation/create";

/// The method by which an agent tells that a page is done with.
pub const COMPLETE_ELICITATION: &str = "elicitation/complete";

impl AgentQuestion {
    /// Whether the user is asked for permission.
    pub fn is_permission(&self) -> bool {
        &*self.method == REQUEST_PERMISSION
    }

    /// Whether the user is asked to fill in a form or to visit a page.
    pub fn is_form(&self) -> bool {
        &*self.method == CREATE_ELICITATION
    }

    /// The answer to what the user is asked and does not answer; none to what a client answers by itself.
    pub fn cancelled(&self) -> Option<RawJson> {
        match &*self.method {
            REQUEST_PERMISSION => Some(cancelled_permission()),
            CREATE_ELICITATION => Some(cancelled_form()),
            _ => None,
        }
    }
}

/// Whether a request asks for a file or a terminal, as a client of version 1 may offer them: what can be served without one.
pub fn is_file_or_terminal(method: &str) -> bool {
    let terminal = method.strip_prefix("terminal/");
    matches!(method, "fs/read_text_file" | "fs/write_text_file")
        || matches!(terminal, Some("create" | "output" | "wait_for_exit" | "kill" | "release"))
}

/// Whether what a request asks for is to be done even if nobody waits for its answer any more: it ends a terminal, also for a
/// turn that is cancelled and a session that is left.
pub fn is_last_word(method: &str) -> bool {
    matches!(method, "terminal/kill" | "terminal/release")
}

/// The result of a question, or why there is none.
pub type QuestionAnswer = Result<RawJson, Error>;

/// Why a question has no answer that nobody can answer: no client is there, or none offers what it takes.
pub fn nobody_answers(method: &str) -> Error {
    let what = format!("Nobody is attached to the session who could answer {method}");
    Error::internal(what).reason(NOBODY)
}

/// Whether a question was left unanswered because nobody can answer it.
pub fn is_unanswerable(error: &Error) -> bool {
    error.get_reason().as_deref() == Some(NOBODY)
}

const NOBODY: &str = "no_client";

/// The answer to a form that nobody fills in any more; both versions write it alike.
pub fn cancelled_form() -> RawJson {
    RawJson::of(&json!({ "action": "cancel" })).expect("it is plain data")
}

/// The answer to a permission request that nobody answers any more; both versions write it alike.
pub fn cancelled_permission() -> RawJson {
    RawJson::of(&json!({ "outcome": { "outcome": "cancelled" } })).expect("it is plain data")
}

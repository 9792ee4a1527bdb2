//! A conversation with an agent in a terminal: a client of Nudge's own protocol that shows a session, and in which it is
//! steered.
//!
//! [`hold`] is the chat itself. On a terminal it is drawn: what is over goes into the terminal's own scrollback, where it can
//! be searched, copied and read over any connection, and only a few rows below it are drawn anew. [`ChatForm::Lines`] writes
//! lines alone, for screen readers and pipes. [`ask`] puts one question and ends with its answer.
#![allow(clippy::disallowed_methods, reason = "this room reads a terminal and drives time")]

mod agent_link;
mod completion;
mod composer;
mod content_text;
mod conversation;
mod core;
pub mod form;
mod inline_marks;
mod interactive;
mod markdown_rows;
mod one_question;
pub mod permission_text;
mod plain;
mod printed_tail;
mod session_run;
mod speaker;
mod styled;
mod terminal_screen;
pub mod terminal_text;
mod tool_call_rows;
mod workspace_files;

use std::{io, path::PathBuf, pin::Pin, sync::Arc};

use nudge_peer::Transport;

pub use content_text::content_text;
pub use core::SessionWish;
pub use one_question::{OneQuestion, ask};

/// Something that will be done.
pub type Doing<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Opens a connection to Nudge, or says why it cannot.
pub type ChatConnector = Arc<dyn Fn() -> Doing<Result<Transport, String>> + Send + Sync>;

/// Starts the agent on this terminal with these arguments and variables, for the user to sign in; whether that is done.
pub type SignInRun = Arc<dyn Fn(Vec<String>, Vec<(String, String)>) -> Doing<bool> + Send + Sync>;

/// How a chat is held.
#[derive(Clone)]
pub struct ChatSettings {
    /// Which session.
    pub wish: SessionWish,
    /// The folder of a new session.
    pub cwd: PathBuf,
    /// Makes keys of messages that nobody else has.
    pub seed: u64,
    /// Drawn, or in lines.
    pub form: ChatForm,
    /// Whether the terminal has colours.
    pub has_colours: bool,
    /// Signs the user in on the terminal.
    pub sign_in: SignInRun,
}

/// How a conversation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatForm {
    /// On a terminal.
    Drawn,
    /// In lines that stay as they are.
    Lines,
}

/// How a chat has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatEnd {
    /// The exit code.
    pub code: u8,
    /// The session it was about.
    pub session: Option<String>,
    /// Why it could not begin.
    pub problem: Option<String>,
    /// What the user has said and nobody has taken in.
    pub unsaid: Vec<String>,
}

impl ChatEnd {
    fn of(code: u8) -> Self {
        Self { code, session: None, problem: None, unsaid: Vec::new() }
    }
}

impl ChatSettings {
    fn cwd_text(&self) -> String {
        self.cwd.to_string_lossy().into_owned()
    }
}

impl std::fmt::Debug for ChatSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatSettings")
            .field("wish", &self.wish)
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

/// Holds a chat until the user leaves.
pub async fn hold(settings: ChatSettings, connector: ChatConnector) -> io::Result<ChatEnd> {
    match settings.form {
        ChatForm::Drawn => interactive::run(settings, connector).await,
        ChatForm::Lines => plain::run(settings, connector).await,
    }
}

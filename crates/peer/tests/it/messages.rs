//! Small messages for tests.

use nudge_wire::{Notification, Request};
use serde::{Deserialize, Serialize};

/// Adds `text` to the log of what has been handled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) text: String,
}

impl Notification for Note {
    const METHOD: &'static str = "test/note";
    const ALIASES: &'static [&'static str] = &["_test/note"];
}

/// Asks for the same body back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Echo {
    pub(crate) body: String,
}

impl Request for Echo {
    const METHOD: &'static str = "test/echo";
    type Response = Echo;
}

/// Asks for something that takes as long as the test wants.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Wait {}

impl Request for Wait {
    const METHOD: &'static str = "test/wait";
    type Response = Echo;
}

pub(crate) fn note(text: impl Into<String>) -> Note {
    Note { text: text.into() }
}

pub(crate) fn echo(body: impl Into<String>) -> Echo {
    Echo { body: body.into() }
}

//! A session's row, how it changes, and how sessions are listed.

use std::{fmt, str::FromStr, sync::Arc};

use crate::StoreError;

/// A session's id, opaque to the store.
pub type SessionId = Arc<str>;

/// Milliseconds since the Unix epoch. The store reads no clock: time is an argument.
pub type Millis = u64;

/// What is known of a session besides what was said in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// The directory it works in.
    pub cwd: String,
    /// Further directories it may work in.
    pub additional_directories: Vec<String>,
    /// What it is called, if it has a name.
    pub title: Option<String>,
    /// When it was created.
    pub created_at: Millis,
    /// When something last happened in it; lists are ordered by this.
    pub updated_at: Millis,
    /// What answers in it: `builtin`, or the command line of an agent.
    pub backend: String,
    /// The id by which the agent knows it, where that differs or is known.
    pub agent_session_id: Option<String>,
    /// The session it was forked from.
    pub parent: Option<SessionId>,
    /// Settings as JSON text, opaque to the store.
    pub config: String,
    /// Whether it was closed.
    pub closed: bool,
}

/// What changes in a session's row; `None` leaves a member as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChange {
    /// A new name, or `Some(None)` to take it away.
    pub title: Option<Option<String>>,
    /// When something last happened.
    pub updated_at: Option<Millis>,
    /// New settings as JSON text.
    pub config: Option<String>,
    /// Closed, or open again.
    pub closed: Option<bool>,
    /// The id by which the agent knows it, or `Some(None)` to forget it.
    pub agent_session_id: Option<Option<String>>,
}

impl SessionChange {
    /// The change that does this one and then `later`.
    pub(crate) fn then(self, later: Self) -> Self {
        Self {
            title: later.title.or(self.title),
            updated_at: later.updated_at.or(self.updated_at),
            config: later.config.or(self.config),
            closed: later.closed.or(self.closed),
            agent_session_id: later.agent_session_id.or(self.agent_session_id),
        }
    }

    /// Changes `session` the way the store does.
    pub fn apply(self, session: &mut SessionRow) {
        if let Some(title) = self.title {
            session.title = title;
        }
        if let Some(updated_at) = self.updated_at {
            session.updated_at = updated_at;
        }
        if let Some(config) = self.config {
            session.config = config;
        }
        if let Some(closed) = self.closed {
            session.closed = closed;
        }
        if let Some(agent_session_id) = self.agent_session_id {
            session.agent_session_id = agent_session_id;
        }
    }
}

/// Which sessions to list; `None` asks nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only those that work in exactly this directory.
    pub cwd: Option<String>,
    /// Only those created later than this.
    pub created_after: Option<Millis>,
    /// Only those with this text in their title or id, taken literally and without regard to case.
    pub search: Option<String>,
    /// Only those closed, or only those open.
    pub closed: Option<bool>,
    /// Only those that this answers in.
    pub backend: Option<String>,
}

/// One page of a list of sessions, the last changed first; equal times are ordered by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions of this page.
    pub sessions: Vec<SessionRow>,
    /// Where the next page begins; `None` if this is the last one.
    pub next: Option<SessionCursor>,
}

/// A place in a list of sessions: behind the last session that was given.
///
/// Its text form is opaque and can be handed to a client. Sessions added or changed meanwhile are ahead of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor {
    pub(crate) updated_at: Millis,
    pub(crate) id: SessionId,
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.", self.updated_at)?;
        self.id.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for SessionCursor {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        read_cursor(text).ok_or(StoreError::BadCursor)
    }
}

fn read_cursor(text: &str) -> Option<SessionCursor> {
    let (updated_at, id) = text.split_once('.')?;
    // A sign would be read too, and a byte would be cut out of a character.
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'.') || id.len() % 2 != 0 {
        return None;
    }
    let updated_at = Millis::from_str_radix(updated_at, 16).ok()?;
    let byte = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).ok();
    let bytes: Option<Vec<u8>> = (0..id.len()).step_by(2).map(byte).collect();
    Some(SessionCursor { updated_at, id: String::from_utf8(bytes?).ok()?.into() })
}

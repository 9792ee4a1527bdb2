//! What can go wrong.

use std::{io, path::PathBuf, sync::Arc};

use crate::entry::{EntrySeq, MAX_SEQ};

/// Why the store did not do what it was asked for. No text of a session or of its input is in any of these.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The lease is not the current one.
    #[error(
        "the session now belongs to another process; nothing was written: stop working on it and load it again"
    )]
    Fenced,
    /// There is no such session.
    #[error("there is no such session in the store; create it first")]
    NoSession,
    /// There is such a session already.
    #[error("a session with this id exists already; choose another id or load it")]
    SessionExists,
    /// An entry's number does not grow.
    #[error("entry {given} was expected to have a number above {last}, the last one of its session")]
    SeqOrder {
        /// The last number in the session.
        last: EntrySeq,
        /// The number that was given.
        given: EntrySeq,
    },
    /// An entry's number is too large.
    #[error("entry {given} has a number above the largest possible, {MAX_SEQ}; fork the session")]
    SeqTooLarge {
        /// The number that was given.
        given: EntrySeq,
    },
    /// There is such an input already.
    #[error("an input with this id exists already in the session; choose another id")]
    InputExists,
    /// The input is not pending, or there is none.
    #[error("the input is not pending: it was delivered or revoked, or never added")]
    InputNotPending,
    /// A cursor that the store did not give.
    #[error("the cursor is not one that this store gave; list from the start")]
    BadCursor,
    /// The writer is too far behind.
    #[error("more than {limit} bytes wait to be written; wait for earlier tickets before writing more")]
    Full {
        /// How many bytes may wait.
        limit: usize,
    },
    /// One batch is too large.
    #[error("a batch has more than {limit} bytes; split it")]
    TooLarge {
        /// How many bytes a batch may have.
        limit: usize,
    },
    /// The store was closed.
    #[error("the store was closed before this was written; open it again")]
    Closed,
    /// The address is not one of a store.
    #[error("expected \"memory\", \"sqlite:PATH\" or a path as the address of the store, got none of these")]
    BadUrl,
    /// The file was written by a newer version.
    #[error(
        "{path} was written by a newer version of Nudge (format {found}; this one knows formats up to {known}); \
         use that version, or name another file. It was left untouched"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The file is a database of something else.
    #[error("{path} is a database but not one of Nudge; name another file. It was left untouched")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged and cannot be set aside.
    #[error("{path} is damaged, and another process has it open; stop that process and start again")]
    DamagedInUse {
        /// The file.
        path: PathBuf,
    },
    /// The file turned out to be damaged while it was in use.
    #[error("the store's file is damaged; start again, and it is set aside and a new one begun")]
    Damaged,
    /// The disk is full.
    #[error("the disk is full; free some of it, and go on")]
    DiskFull,
    /// The disk or the file system refused.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The database refused.
    #[error("the database refused: {0}; see that its disk has room and that the file can be written")]
    Database(#[source] Arc<sqlx::Error>),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if is_disk_full(&error) { Self::DiskFull } else { Self::Database(Arc::new(error)) }
    }
}

/// Whether the database says that it found no room for its file or for the one beside it.
fn is_disk_full(error: &sqlx::Error) -> bool {
    const FULL: i32 = 13;
    const NO_ROOM_FOR_SHARED_MEMORY: i32 = 4874;
    code(error).is_some_and(|code| code & 0xff == FULL || code == NO_ROOM_FOR_SHARED_MEMORY)
}

/// Whether the database says that somebody else holds the file, or that the system refused.
fn may_pass(error: &sqlx::Error) -> bool {
    const BUSY: i32 = 5;
    const LOCKED: i32 = 6;
    const READ_ONLY: i32 = 8;
    const IO: i32 = 10;
    matches!(code(error).map(|code| code & 0xff), Some(BUSY | LOCKED | READ_ONLY | IO))
}

/// What went wrong, as the database numbers it. The upper bits tell more about the same error.
fn code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error().and_then(|error| error.code()?.parse().ok())
}

impl StoreError {
    /// Whether one batch is at fault, and others written with it are not.
    pub(crate) fn is_of_the_batch(&self) -> bool {
        !matches!(self, Self::Database(_) | Self::DiskFull | Self::Damaged | Self::Io { .. } | Self::Closed)
    }

    /// Whether the same may work later: the disk has room again, or is faster, or nobody else locks the file.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::DiskFull | Self::Full { .. } => true,
            Self::Database(error) => may_pass(error),
            _ => false,
        }
    }

    /// For `map_err` on what touches files.
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source: Arc::new(source) }
    }
}

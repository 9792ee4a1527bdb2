//! What can go wrong in a replay.

use std::{io, path::PathBuf};

use nudge_peer::CallError;
use thiserror::Error;

/// Why a replay ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// Not a repository, or not one that can be read.
    #[error("cannot read the git repository {path}: {reason}", path = path.display())]
    Git {
        /// Where it should be.
        path: PathBuf,
        /// What git has to say.
        reason: String,
    },
    /// A folder without recordings.
    #[error("no recording in {path}: expected folders with recording.w.json and scoredEdits.w.json", path = path.display())]
    NoRecording {
        /// The folder.
        path: PathBuf,
    },
    /// A recording that is not one.
    #[error("cannot understand {path}: {error}", path = path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A file that cannot be read.
    #[error("cannot read {path}: {error}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {path}: {error}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The engine refused something an editor may ask.
    #[error("{method} failed: {error}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// The answer.
        error: CallError,
    },
    /// The machine gives no more.
    #[error("cannot start the event loop: {0}")]
    Runtime(io::Error),
}

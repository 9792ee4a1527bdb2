//! What two texts have in common: by lines, by words, and as a unified diff.

mod lines;
mod parse;
mod unified;
mod words;

pub(crate) use lines::split as split_lines;
pub use lines::{LineHunk, edits, lines};
pub use parse::{ParseError, parse};
pub use unified::unified;
pub use words::words;

/// What a unified diff says about one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Its path before; `None` if it was not there or not said.
    pub old_path: Option<String>,
    /// Its path after; `None` if it is gone or not said.
    pub new_path: Option<String>,
    /// What changes, in the order of the file.
    pub hunks: Vec<DiffHunk>,
}

/// A run of lines of a unified diff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffHunk {
    /// The first line before, as printed: counted from one; without lines, the one it stands behind. Zero if not said.
    pub old_start: usize,
    /// The first line after, likewise.
    pub new_start: usize,
    /// The lines, without their line feed.
    pub lines: Vec<DiffLine>,
    /// Whether the last line before is said to have no line feed.
    pub old_no_newline: bool,
    /// Whether the last line after is said to have no line feed.
    pub new_no_newline: bool,
}

/// A line of a unified diff.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DiffLine {
    /// It stays.
    Context(String),
    /// It goes.
    Removed(String),
    /// It comes.
    Added(String),
}

impl DiffLine {
    /// Its text before, if it was there.
    pub fn before(&self) -> Option<&str> {
        match self {
            Self::Context(text) | Self::Removed(text) => Some(text),
            Self::Added(_) => None,
        }
    }

    /// Its text after, if it is there.
    pub fn after(&self) -> Option<&str> {
        match self {
            Self::Context(text) | Self::Added(text) => Some(text),
            Self::Removed(_) => None,
        }
    }
}

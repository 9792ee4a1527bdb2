//! One line of a transcript: an update's raw frame and what it is found by.

use bytes::Bytes;

use crate::session::Millis;

/// An entry's number in its session. It is the caller's, and grows.
pub type EntrySeq = u64;

/// The largest number an entry can have.
pub const MAX_SEQ: EntrySeq = (1 << 36) - 1;

/// The version of the protocol in which a frame is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameDialect {
    /// Version 1.
    V1,
    /// The version 2 draft.
    V2,
}

/// One update of a session, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptEntry {
    /// Its number, larger than that of every entry before it and at most [`MAX_SEQ`].
    pub seq: EntrySeq,
    /// When it came.
    pub at: Millis,
    /// The version of the protocol the frame is written in.
    pub dialect: FrameDialect,
    /// What kind of update it is, by the protocol's name.
    pub kind: String,
    /// The message it belongs to.
    pub message_id: Option<String>,
    /// The tool call it belongs to.
    pub tool_call_id: Option<String>,
    /// The client it came from, where it came from one.
    pub origin: Option<u64>,
    /// The raw JSON text of the `update` object. When read, it shares memory with its neighbours: copy what is kept long.
    pub frame: Bytes,
}

/// How much of a transcript to read at once.
///
/// A page ends behind the entry with which it reaches either limit. So it holds at least one entry if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit {
    /// At most this many entries.
    pub rows: u32,
    /// No further entry once the frames have this many bytes.
    pub bytes: usize,
}

impl Default for PageLimit {
    fn default() -> Self {
        Self { rows: 4096, bytes: 1 << 20 }
    }
}

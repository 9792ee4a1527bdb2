//! The running turn, as far as it decides when a steer may go in.

use std::{collections::BTreeSet, sync::Arc};

/// What a tool call is known by.
pub type ToolCallId = Arc<str>;

/// What a permission request is known by.
pub type PermissionId = Arc<str>;

/// What a steer does to a model's answer that is being streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InStream {
    /// Cuts the stream off; the model is asked again with the steer.
    Interrupt,
    /// Waits until the stream has ended.
    Finish,
}

/// What the backend is doing.
///
/// On an idle session only [`Event::TurnStarted`] means something; the others are late news and change nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
    /// A turn runs that the backend started by itself. A turn that [`Mailbox::poll`](crate::Mailbox::poll) starts
    /// needs no such event, and bears it.
    TurnStarted,
    /// The model answers.
    StreamStarted,
    /// The model's answer has ended or was cut off.
    StreamFinished,
    /// A tool call that the turn waits for has started. Work in the background is not reported.
    ToolStarted(ToolCallId),
    /// A tool call has ended, however it ended.
    ToolFinished(ToolCallId),
    /// The user is being asked for permission, or for any other answer.
    PermissionOpened(PermissionId),
    /// The user has answered, or need not any more.
    PermissionClosed(PermissionId),
    /// The provider lets the backend wait, for instance because of a rate limit.
    Paused,
    /// The provider goes on.
    Resumed,
    /// The backend stands between its tool calls and the next model call, or is about to end the turn, and waits to be
    /// told to go on.
    BreakPoint,
    /// The backend was told to go on from a break-point, and does not take a steer there any more.
    WentOn,
    /// The turn has ended.
    Idle,
}

/// Where a running turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Busy,
    Streaming,
    AtBreak,
}

/// A running turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Turn {
    phase: Phase,
    tools: BTreeSet<ToolCallId>,
    permissions: BTreeSet<PermissionId>,
    paused: bool,
    cancelling: bool,
}

impl Turn {
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Busy,
            tools: BTreeSet::new(),
            permissions: BTreeSet::new(),
            paused: false,
            cancelling: false,
        }
    }

    pub(crate) fn cancel(&mut self) {
        self.cancelling = true;
    }

    pub(crate) fn is_cancelling(&self) -> bool {
        self.cancelling
    }

    /// The turn after what the backend did; `None` if that was its end.
    pub(crate) fn after(mut self, event: Event) -> Option<Self> {
        match event {
            Event::TurnStarted => self.phase = Phase::Busy,
            Event::StreamStarted => self.phase = Phase::Streaming,
            Event::StreamFinished => self.leave(Phase::Streaming),
            Event::ToolStarted(id) => {
                self.leave(Phase::AtBreak);
                self.tools.insert(id);
            }
            Event::ToolFinished(id) => {
                self.tools.remove(&id);
            }
            Event::PermissionOpened(id) => {
                self.permissions.insert(id);
            }
            Event::PermissionClosed(id) => {
                self.permissions.remove(&id);
            }
            Event::Paused => self.paused = true,
            Event::Resumed => self.paused = false,
            Event::BreakPoint => self.phase = Phase::AtBreak,
            Event::WentOn => self.leave(Phase::AtBreak),
            Event::Idle => return None,
        }
        Some(self)
    }

    /// Whether steers may go in now and, if so, whether they cut the stream off.
    pub(crate) fn opening(&self, in_stream: InStream) -> Option<Opening> {
        let is_held =
            self.cancelling || self.paused || !self.tools.is_empty() || !self.permissions.is_empty();
        match (self.phase, in_stream) {
            _ if is_held => None,
            (Phase::AtBreak, _) => Some(Opening { interrupt: false }),
            (Phase::Streaming, InStream::Interrupt) => Some(Opening { interrupt: true }),
            (Phase::Streaming, InStream::Finish) | (Phase::Busy, _) => None,
        }
    }

    /// The backend has steers to take in; until it reports again there is no opening.
    pub(crate) fn steered(&mut self) {
        self.phase = Phase::Busy;
    }

    fn leave(&mut self, phase: Phase) {
        if self.phase == phase {
            self.phase = Phase::Busy;
        }
    }
}

/// A moment in which steers may go in.
pub(crate) struct Opening {
    pub(crate) interrupt: bool,
}

//! The state of a turn. It lives here and nowhere else.

use std::{collections::BTreeSet, sync::Arc};

use nudge_backend::SteerMethod;
use nudge_mailbox::{ClientId, MessageId};
use nudge_wire::Version;

use crate::RequestId;

/// What a tool call is known by.
pub type ToolCallId = Arc<str>;

/// What an agent does in the course of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TurnEvent {
    /// It works, in a turn that it began itself or goes on with.
    Started,
    /// The model answers.
    StreamStarted,
    /// The model's answer has ended or was cut off.
    StreamFinished,
    /// A tool call that the turn waits for has started. Work in the background is not reported.
    ToolStarted(ToolCallId),
    /// A tool call has ended, however it ended.
    ToolFinished(ToolCallId),
    /// The provider lets the agent wait, for instance because of a rate limit.
    Paused,
    /// The provider goes on.
    Resumed,
    /// The agent stands between its tool calls and the next model call, or is about to end the turn, and waits to be told to
    /// go on.
    BreakPoint,
    /// The agent was told to go on from a break-point, and does not take a steer there any more.
    WentOn,
}

/// What the agent is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// What begins the turn is not on disk yet, and the agent does not know of it.
    Starting,
    Busy,
    Streaming,
    AtBreak,
}

/// Whether the agent stands at a break-point and has to be told to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BreakPoint {
    Not,
    /// It waits to be told what goes in.
    Waits,
    /// It waits for steers that were given out before and are not on disk yet.
    WaitsForSteers,
    /// It goes on as soon as what goes in is on disk.
    GoesOn,
}

/// Whether the stream that runs is asked to end for a steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StreamInterrupt {
    Not,
    /// Once the steer is on disk.
    Due,
    Sent,
}

/// A moment in which steers may go in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SteerOpening {
    /// The agent stands at a break-point.
    BreakPoint,
    /// The agent takes steers while its model answers.
    MidStream,
}

/// A prompt that is not answered yet, and who waits for the answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct UnansweredPrompt {
    pub(crate) request: RequestId,
    pub(crate) client: ClientId,
    pub(crate) version: Version,
}

/// A running turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunningTurn {
    /// Tells it from the other turns of the session.
    pub(crate) number: u64,
    phase: Phase,
    running_tools: BTreeSet<ToolCallId>,
    is_paused: bool,
    is_cancelled: bool,
    /// It could not be stored, and the clients were told that it is over.
    pub(crate) is_abandoned: bool,
    pub(crate) break_point: BreakPoint,
    pub(crate) interrupt: StreamInterrupt,
    /// Steers that were given out in the midst of it and wait for the disk.
    pub(crate) steers_under_way: usize,
    /// The client whose message began it: requests of the agent go there.
    pub(crate) prompter: ClientId,
    /// The prompt of version 1 that began it.
    pub(crate) prompt: Option<MessageId>,
    /// That prompt while it is to be answered, which is done when the turn ends.
    pub(crate) unanswered: Option<UnansweredPrompt>,
}

impl RunningTurn {
    /// A turn that a message of this client begins, once that is on disk.
    pub fn starting(number: u64, prompter: ClientId) -> Self {
        Self {
            number,
            phase: Phase::Starting,
            running_tools: BTreeSet::new(),
            is_paused: false,
            is_cancelled: false,
            is_abandoned: false,
            break_point: BreakPoint::Not,
            interrupt: StreamInterrupt::Not,
            steers_under_way: 0,
            prompter,
            prompt: None,
            unanswered: None,
        }
    }

    /// A turn that is over for the clients; the agent takes its time to end it.
    pub(crate) fn abandoned(number: u64, prompter: ClientId) -> Self {
        Self {
            phase: Phase::Busy,
            is_cancelled: true,
            is_abandoned: true,
            ..Self::starting(number, prompter)
        }
    }

    /// The agent knows of it.
    pub fn prompted(&mut self) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Busy;
        }
    }

    /// Whether the agent knows of it.
    pub(crate) fn is_prompted(&self) -> bool {
        self.phase != Phase::Starting
    }

    /// The user ends it: no steer goes into it any more.
    pub fn cancel(&mut self) {
        self.is_cancelled = true;
    }

    /// Whether the user has ended it.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Takes in what the agent does. What it reports before it knows of the turn is late news of an earlier one.
    pub fn handle(&mut self, event: TurnEvent) {
        if !self.is_prompted() && event != TurnEvent::Started {
            return;
        }
        match event {
            TurnEvent::Started => self.phase = Phase::Busy,
            TurnEvent::StreamStarted => {
                self.phase = Phase::Streaming;
                if self.interrupt == StreamInterrupt::Sent {
                    self.interrupt = StreamInterrupt::Not;
                }
            }
            TurnEvent::StreamFinished => self.leave(Phase::Streaming),
            TurnEvent::ToolStarted(id) => {
                self.leave(Phase::AtBreak);
                self.running_tools.insert(id);
            }
            TurnEvent::ToolFinished(id) => drop(self.running_tools.remove(&id)),
            TurnEvent::Paused => self.is_paused = true,
            TurnEvent::Resumed => self.is_paused = false,
            TurnEvent::BreakPoint => self.phase = Phase::AtBreak,
            TurnEvent::WentOn => self.leave(Phase::AtBreak),
        }
    }

    /// Whether steers may go in now. While the user `is_asked` something they may not.
    pub(crate) fn opening(&self, method: SteerMethod, is_asked: bool) -> Option<SteerOpening> {
        match self.phase {
            _ if self.is_closed_to_steers(is_asked) => None,
            Phase::AtBreak => Some(SteerOpening::BreakPoint),
            Phase::Streaming if method == SteerMethod::Take => Some(SteerOpening::MidStream),
            Phase::Starting | Phase::Busy | Phase::Streaming => None,
        }
    }

    /// Whether a stream runs that may be cut off for a steer.
    pub(crate) fn may_be_interrupted(&self, is_asked: bool) -> bool {
        self.phase == Phase::Streaming && !self.is_closed_to_steers(is_asked)
    }

    /// The agent has steers to take in; until it reports again there is no opening.
    pub(crate) fn steered(&mut self) {
        if self.is_prompted() {
            self.phase = Phase::Busy;
        }
    }

    /// The client that learns of the end of the turn by the answer to its prompt.
    pub(crate) fn prompting_client(&self) -> Option<ClientId> {
        self.unanswered.as_ref().map(|prompt| prompt.client)
    }

    fn is_closed_to_steers(&self, is_asked: bool) -> bool {
        is_asked || self.is_cancelled || self.is_paused || !self.running_tools.is_empty()
    }

    fn leave(&mut self, phase: Phase) {
        if self.phase == phase {
            self.phase = Phase::Busy;
        }
    }
}

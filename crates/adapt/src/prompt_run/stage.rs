//! Where the prompt that an agent works on stands.

use std::{sync::Arc, time::Duration};

use nudge_backend::{TurnEnd, UserMessage};
use tokio::time::Instant;

/// How long a steer waits for the first word of an agent before it cuts it off: some lose a cancel that comes too early.
pub(super) const FIRST_WORD: Duration = Duration::from_millis(1500);
/// The same after a tool has run: many agents forget what a tool gave if they are cut off before the model has answered it.
pub(super) const NEXT_WORD: Duration = Duration::from_secs(20);
/// How long after a prompt the end of a silent agent counts as having come before it.
pub(super) const DYING: Duration = Duration::from_secs(1);
/// How often a prompt is sent once more in a turn because the agent had died.
pub(super) const MOST_RESENDS: u8 = 1;

/// Where the prompt stands.
#[derive(Debug)]
pub(super) enum PromptStage {
    /// There is none: no turn runs.
    Idle,
    /// It waits for the agent to be back, or to have replayed what was said.
    Held(HeldPrompt),
    /// The agent works on it, or on what it began by itself.
    Working(PromptWork, StopWish),
    /// The agent has ended it; the turn may go on with another.
    Ended(PromptWork, EndedPrompt),
}

/// A prompt that is not sent yet.
#[derive(Debug)]
pub(super) struct HeldPrompt {
    pub(super) messages: Vec<UserMessage>,
    pub(super) once_sent: OnceSent,
    pub(super) resends: u8,
}

/// What follows when a held prompt is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnceSent {
    /// The agent works on it.
    Work,
    /// It is cut off for a steer that has come meanwhile.
    Interrupt,
}

/// What is known of the agent's work on a prompt.
#[derive(Debug)]
pub(super) struct PromptWork {
    /// What it was prompted with; `None` for what it began by itself.
    pub(super) sent: Option<SentPrompt>,
    pub(super) heard: HeardSincePrompt,
    pub(super) receipt: PromptReceipt,
    pub(super) break_point: ReportedBreakPoint,
    /// Steers that were sent and are not answered, oldest first.
    pub(super) steers: Vec<(SteerId, UserMessage)>,
    /// Messages that the agent did not take: it is prompted with them when it has ended this.
    pub(super) next_prompt: Vec<UserMessage>,
    pub(super) resends: u8,
}

/// What the agent was prompted with, and when.
#[derive(Debug)]
pub(super) struct SentPrompt {
    pub(super) messages: Vec<UserMessage>,
    pub(super) at: Instant,
}

/// What was heard of the agent since it was prompted: the last thing that tells how it takes a cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeardSincePrompt {
    /// Nothing.
    Nothing,
    /// Something, but no word of the model.
    Activity,
    /// The model has said something since it was asked last: what it was told is remembered then, also if it is cut off.
    Words,
    /// A tool has finished, and the model has not answered what it gave.
    ToolResult,
}

impl HeardSincePrompt {
    /// How long a steer waits for the model's next word before the agent is cut off without it.
    pub(super) fn patience(self) -> Duration {
        match self {
            Self::Nothing | Self::Activity => FIRST_WORD,
            Self::Words => Duration::ZERO,
            Self::ToolResult => NEXT_WORD,
        }
    }
}

/// Whether the agent has shown that it works on the prompt. What a version 2 agent says of an end before that is about an
/// earlier turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptReceipt {
    Awaited,
    Shown {
        /// The id under which a version 2 agent repeats the prompt.
        message_id: Option<Arc<str>>,
    },
}

impl PromptReceipt {
    /// The agent works; the id it gave stays.
    pub(super) fn show(&mut self) {
        if *self == Self::Awaited {
            *self = Self::Shown { message_id: None };
        }
    }
}

/// Whether a break-point was reported and nobody has said yet what goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportedBreakPoint {
    None,
    Reported,
    /// It was reported because the agent has asked what goes in. It works, and waits for the answer.
    Asked,
}

/// Whether and why an agent that works is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopWish {
    /// It may go on.
    NotAsked,
    /// A steer wants in: a cancel is sent at the next word, or at this time.
    InterruptDue { cancel_at: Instant },
    /// A steer came too late, says the agent: a cancel is sent if the prompt has not ended by this time.
    InterruptUnlessEnded { cancel_at: Instant },
    /// A cancel was sent for a steer.
    InterruptSent,
    /// The user has ended the turn and a cancel was sent. At this time the agent's connection is closed, or was.
    CancelSent { close_at: Option<Instant> },
}

/// How the agent ended its prompt.
#[derive(Debug)]
pub(super) struct EndedPrompt {
    /// In its words.
    pub(super) end: TurnEnd,
    pub(super) stopped_for: StoppedFor,
    /// When a turn that the user has ended is over, also if steers are not answered.
    pub(super) finish_at: Option<Instant>,
}

impl EndedPrompt {
    /// Whether the agent was cut off for a steer.
    pub(super) fn is_cut_off(&self) -> bool {
        self.stopped_for == StoppedFor::Steer && self.end.is_cancelled()
    }
}

/// For whom the agent was to stop when it ended its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoppedFor {
    Nobody,
    Steer,
    User,
}

impl From<StopWish> for StoppedFor {
    fn from(stop: StopWish) -> Self {
        match stop {
            StopWish::NotAsked | StopWish::InterruptUnlessEnded { .. } => Self::Nobody,
            StopWish::InterruptDue { .. } | StopWish::InterruptSent => Self::Steer,
            StopWish::CancelSent { .. } => Self::User,
        }
    }
}

/// What the answer to a steer is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SteerId(pub(super) u64);

impl PromptWork {
    /// A prompt that is being sent.
    pub(super) fn on(messages: Vec<UserMessage>, at: Instant, resends: u8) -> Self {
        let sent = Some(SentPrompt { messages, at });
        Self {
            sent,
            heard: HeardSincePrompt::Nothing,
            receipt: PromptReceipt::Awaited,
            resends,
            ..Self::of_its_own()
        }
    }

    /// What the agent began by itself.
    pub(super) fn of_its_own() -> Self {
        Self {
            sent: None,
            heard: HeardSincePrompt::Words,
            receipt: PromptReceipt::Shown { message_id: None },
            break_point: ReportedBreakPoint::None,
            steers: Vec::new(),
            next_prompt: Vec::new(),
            resends: 0,
        }
    }

    /// Whether the agent, which has died, cannot have done much about its prompt: it was dying when it was prompted.
    pub(super) fn is_untouched(&self, now: Instant) -> bool {
        let was_dying = self
            .sent
            .as_ref()
            .is_some_and(|sent| now.saturating_duration_since(sent.at) < DYING && !sent.messages.is_empty());
        was_dying && self.heard == HeardSincePrompt::Nothing && self.steers.is_empty()
    }

    /// All that the agent is not known to have taken, beside the prompt.
    pub(super) fn untaken(self) -> impl Iterator<Item = UserMessage> {
        self.next_prompt.into_iter().chain(self.steers.into_iter().map(|(_, message)| message))
    }
}

//! What comes out of a prompt's value, and what goes in beside messages and time.

use nudge_backend::{TurnEnd, UserMessage};

#[cfg(doc)]
use super::PromptRun;
use super::SteerId;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunAction {
    /// The agent is sent a `session/prompt` with these messages.
    SendPrompt {
        /// With what was undelivered in front.
        messages: Vec<UserMessage>,
        /// What the agent did before.
        after: PromptAfter,
    },
    /// The agent is sent a steer; its answer goes to [`PromptRun::steer_answered`].
    SendSteer(SteerId, UserMessage),
    /// The agent has asked what goes in now and is told: these, or nothing. What becomes of each goes to
    /// [`PromptRun::steer_answered`].
    AnswerAsked(Vec<(SteerId, UserMessage)>),
    /// The agent is sent a `session/cancel`.
    SendCancel,
    /// The agent does not stop: its connection is closed.
    CloseConnection,
    /// A turn that the agent began by itself is reported.
    ReportTurnStarted,
    /// It is reported that a model answers.
    ReportStream,
    /// Tools that run have ended with the prompt, and that is reported.
    EndTools,
    /// A break-point is reported: [`PromptRun::go_on`] follows.
    ReportBreakPoint,
    /// The end of the turn is reported.
    EndTurn(TurnEnd),
}

/// What an agent did before it is prompted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptAfter {
    /// It ended what it did, or did nothing.
    Itself,
    /// It was cut off for a steer, which some do not remember.
    CutOff,
}

/// Whether an agent can be prompted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentReadiness {
    Ready,
    /// It is away, or may still replay what was said: [`PromptRun::release`] follows.
    NotYet,
}

/// What an agent made of a steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SteerOutcome {
    Taken,
    /// It wants to be prompted with it when it has ended what it does.
    PromptRequired,
    /// It has no turn, it says: it is prompted with it when its prompt has ended, and cut off if that does not end.
    TooLate,
    /// It failed: the agent is cut off and prompted with it.
    Refused,
}

//! What came of a fault: what is kept of a case, and which of it is a defect.

use serde::{Deserialize, Serialize};

use super::steer::SteerFate;

/// How soon a turn has to be over that was cancelled.
pub const CANCELLED_WITHIN: f64 = 2.0;

/// One agent and one fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultOutcome {
    /// The agent's name.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// Whether Nudge stood in front of it.
    pub behind: bool,
    /// The fault's name.
    pub fault: String,
    /// What came of it.
    pub observed: CaseObservation,
}

/// What was seen of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseObservation {
    /// All there is to see.
    Tried(TriedCase),
    /// It could not be brought about, and why.
    Skipped(String),
}

/// What was seen of a fault that struck.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TriedCase {
    /// How long was waited for a sign, in seconds.
    pub cap: u64,
    /// When the user saw anything, in seconds after the fault.
    pub sign: Option<f64>,
    /// When the turn was over, if it was while it was waited for.
    pub end: Option<f64>,
    /// What became of a message that was sent as the fault struck.
    pub steer: Option<SteerFate>,
    /// How long cancelled turns took at most; nothing if there was none to cancel.
    pub cancel: Option<CancelFate>,
    /// What was done before the next prompt did not work; empty if it always did.
    pub dead: Vec<String>,
}

/// How a turn was over that was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelFate {
    /// After this many seconds.
    Over(f64),
    /// Not in ten seconds.
    Never,
}

impl CancelFate {
    /// The worse of two.
    pub(crate) fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Over(one), Self::Over(two)) => Self::Over(one.max(two)),
            _ => Self::Never,
        }
    }

    fn is_late(self) -> bool {
        match self {
            Self::Over(seconds) => seconds > CANCELLED_WITHIN,
            Self::Never => true,
        }
    }
}

/// What must not come of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultDefect {
    /// Nothing was to be seen for as long as was waited.
    Stuck,
    /// The next prompt in the same session did not work, with the server well again.
    Dead,
    /// A message was taken and no model ever got it.
    Lost,
    /// A cancel did not end the turn in time.
    NoCancel,
}

impl FaultDefect {
    /// All of them, in the order of the page.
    pub const ALL: [Self; 4] = [Self::Stuck, Self::Dead, Self::Lost, Self::NoCancel];

    /// The word in the tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::Dead => "dead",
            Self::Lost => "lost",
            Self::NoCancel => "no cancel",
        }
    }
}

impl TriedCase {
    /// What is wrong with it.
    pub fn defects(&self) -> Vec<FaultDefect> {
        let found = [
            (FaultDefect::Stuck, self.sign.is_none()),
            (FaultDefect::Dead, !self.dead.is_empty()),
            (FaultDefect::Lost, matches!(self.steer, Some(SteerFate::Lost(_)))),
            (FaultDefect::NoCancel, self.cancel.is_some_and(CancelFate::is_late)),
        ];
        found.into_iter().filter(|(_, is)| *is).map(|(defect, _)| defect).collect()
    }
}

impl FaultOutcome {
    /// What is wrong; nothing if it could not be tried.
    pub fn defects(&self) -> Vec<FaultDefect> {
        match &self.observed {
            CaseObservation::Tried(tried) => tried.defects(),
            CaseObservation::Skipped(_) => Vec::new(),
        }
    }
}

/// A tenth of a second is as exact as this is.
pub(crate) fn rounded(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

//! What is kept of each question that was asked.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::judge::SuggestionVerdict;

/// One question and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct ReplayQuestion {
    /// The language of the file that the cursor was in.
    pub(crate) language: &'static str,
    pub(crate) micros: u64,
    pub(crate) showing: Option<ShownDetail>,
}

/// What was shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownDetail {
    pub(crate) verdict: SuggestionVerdict,
    pub(crate) near: bool,
    /// How many hunks it did.
    pub(crate) finished: usize,
    pub(crate) predictor: String,
    /// The language of the file it is about.
    pub(crate) language: &'static str,
}

/// One line of a dump.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DumpDetail {
    /// When it was asked.
    pub(crate) mode: AskMode,
    /// `exact`, `partial`, `wrong` or `none`.
    pub(crate) outcome: &'static str,
    pub(crate) repo: String,
    pub(crate) commit: String,
    pub(crate) eagerness: &'static str,
    /// The file and the line, from 1, that the cursor was in.
    pub(crate) file: String,
    pub(crate) line: usize,
    /// That line with the cursor in it, as `│`.
    pub(crate) at: String,
    pub(crate) language: &'static str,
    /// How many hunks were done by hand before, and how many are left.
    pub(crate) step: usize,
    pub(crate) remaining: usize,
    /// The edit that was made last.
    pub(crate) last: Option<ReplayHunk>,
    pub(crate) suggestion: Option<SuggestedDetail>,
    /// What the commit has where the suggestion wanted something else, if it has something there.
    pub(crate) wanted: Option<ReplayHunk>,
    /// What is done next by hand.
    pub(crate) next: Option<ReplayHunk>,
    /// What the engine thought of, shown or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) considered: Vec<ConsideredDetail>,
}

/// Something the engine thought of.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ConsideredDetail {
    pub(crate) predictor: &'static str,
    pub(crate) outcome: SuggestionVerdict,
    pub(crate) confidence: f32,
    /// What was counted about it, by name.
    pub(crate) evidence: BTreeMap<&'static str, f32>,
}

/// When it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AskMode {
    /// After a hunk.
    Hunk,
    /// Where the user went to do the next one.
    Came,
    /// After a key.
    Typed,
    /// Where nothing was to be done.
    Quiet,
}

/// Some lines before and after.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ReplayHunk {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// What was suggested.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SuggestedDetail {
    pub(crate) file: String,
    pub(crate) predictor: String,
    pub(crate) confidence: f64,
    pub(crate) reason: String,
    /// Whether it is partial and leaves a line half done.
    pub(crate) near: bool,
    pub(crate) diff: String,
}

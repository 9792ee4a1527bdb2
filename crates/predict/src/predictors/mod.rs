//! The predictors: each looks at the scene and says what may come next, and how sure it is.

pub(crate) mod complete;
pub(crate) mod diagnostic;
pub(crate) mod evidence;
pub(crate) mod import;
pub(crate) mod moved;
pub(crate) mod rename;
pub(crate) mod repeat;
pub(crate) mod signature;

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

use crate::{PredictorName, SuggestionKind};

/// What a predictor proposes; the engine ranks, filters and shows it or not.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) kind: SuggestionKind,
    pub(crate) predictor: PredictorName,
    /// Why, in one sentence for the user, such as `repeats your edit on line 12`.
    pub(crate) reason: String,
    /// How likely the predictor holds it, from 0 to 1.
    pub(crate) prior: f32,
    /// What it has in common with others that stand or fall with it: the rewrite, the renamed name.
    pub(crate) group: u64,
    /// What the prior was made from, by name.
    pub(crate) evidence: Vec<(&'static str, f32)>,
}

/// The name of what stands and falls together, made from what it has in common.
pub(crate) fn group_of(of: &impl Hash) -> u64 {
    FxBuildHasher.hash_one(of)
}

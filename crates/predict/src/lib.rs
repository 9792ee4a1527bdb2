//! The next edit engine: what a person has just done goes in, what they would do next comes out.
//!
//! It is pure and deterministic. A caller describes the moment in a [`Scene`] and calls [`suggest`]; what comes back is a
//! ranked list with a confidence and a one-sentence reason each, or nothing and why. [`FeedbackMemory`] learns from what became
//! of earlier suggestions; [`LessonCache`] keeps what changes teach from question to question. What documents say comes from `nudge_syntax`.

mod case;
mod effect;
mod engine;
mod filter;
mod memory;
mod needed;
mod predictors;
mod refused;
mod runs;
mod scene;
mod suggestion;
mod weights;

pub use effect::SuggestionEffect;
pub use engine::{consider, suggest};
pub use memory::{FeedbackMemory, SuggestionFeedback};
pub use predictors::repeat::LessonCache;
pub use scene::{
    Eagerness, OfferedKinds, Scene, SceneAction, SceneDiagnostic, SceneSnippet, Severity, SuggestTrigger,
};
pub use suggestion::{EngineSuggestion, PredictorName, SuggestOutcome, SuggestionKind};
pub use weights::{SuggestionFeatures, TrustWeights};

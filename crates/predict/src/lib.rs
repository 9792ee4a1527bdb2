//! The next edit engine: what a person has just done goes in, what they would do next comes out.
//!
//! It is pure and deterministic. A caller describes the moment in a [`Scene`] and calls [`suggest`]; what comes back is a
//! ranked list with a confidence and a one-sentence reason each, or nothing and why. [`Memory`] learns from what became
//! of earlier suggestions; [`Lessons`] keeps what changes teach from question to question. What documents say comes from `nudge_syntax`.

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

pub use effect::Effect;
pub use engine::{consider, suggest};
pub use memory::{Feedback, Memory};
pub use predictors::repeat::Lessons;
pub use scene::{Action, Diagnostic, Eagerness, Offers, Scene, Severity, Snippet, Trigger};
pub use suggestion::{Kind, Outcome, Predictor, Suggestion};
pub use weights::{Features, Weights};

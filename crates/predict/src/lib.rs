//! The next edit engine: what a person has just done goes in, what they would do next comes out.
//!
//! It is pure and deterministic. A caller describes the moment in a [`Scene`] and calls [`suggest`]; what comes back is a
//! ranked list with a confidence and a one-sentence reason each, or nothing and why. [`Memory`] learns from what became
//! of earlier suggestions; [`Lessons`] keeps what changes teach from question to question. Documents are [`Source`]s, which keep their analysis; files that are not open are in an
//! [`Index`].

mod balance;
mod case;
mod effect;
mod engine;
mod filter;
mod index;
mod language;
mod memory;
mod needed;
mod patience;
mod predictors;
mod refused;
mod scene;
mod search;
mod source;
mod suggestion;
mod syntax;
mod token;
mod weights;

pub use effect::Effect;
pub use engine::{consider, suggest};
pub use index::{FileFacts, Index};
pub use language::Language;
pub use memory::{Feedback, Memory};
pub use patience::Patience;
pub use predictors::repeat::Lessons;
pub use scene::{Action, Diagnostic, Eagerness, Offers, Scene, Severity, Snippet, Trigger};
pub use source::{Held, Source};
pub use suggestion::{Kind, Outcome, Predictor, Suggestion};
pub use weights::{Features, Weights};

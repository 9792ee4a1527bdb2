//! Language models: what is asked of one, what it answers, and a stand-in that plays a rehearsal.
//!
//! A [`LanguageModel`] is asked with a whole [`ModelRequest`] and answers with a stream of [`AnswerPiece`]s. It keeps nothing between two
//! requests: what was said before is in the request. Dropping the stream ends the answer.
//!
//! [`script::ScriptedModel`] is the one implementation so far. It plays what a TOML file says, so that everything around a model
//! can be shown and tested without one.
#![allow(clippy::disallowed_methods, reason = "this room waits, and will speak to providers")]

mod error;
mod piece;
mod request;
pub mod script;

use std::pin::Pin;

use futures_util::Stream;

pub use error::ModelError;
pub use piece::{AnswerPiece, PlanEntry, StopReason, ToolCall};
pub use request::{ChatMessage, ModelRequest, SlashCommand, ToolSpec, text_of};

/// The answer of a model as it comes. After [`AnswerPiece::Stop`] or an error nothing follows.
pub type AnswerPieces = Pin<Box<dyn Stream<Item = Result<AnswerPiece, ModelError>> + Send>>;

/// A language model.
pub trait LanguageModel: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Asks it. The answer begins when the stream is first polled.
    fn stream(&self, request: ModelRequest) -> AnswerPieces;

    /// The slash commands it understands beyond plain text.
    fn commands(&self) -> Vec<SlashCommand> {
        Vec::new()
    }
}

//! Language models: what is asked of one, what it answers, and a stand-in that plays a rehearsal.
//!
//! A [`Model`] is asked with a whole [`Request`] and answers with a stream of [`Piece`]s. It keeps nothing between two
//! requests: what was said before is in the request. Dropping the stream ends the answer.
//!
//! [`script::Script`] is the one implementation so far. It plays what a TOML file says, so that everything around a model
//! can be shown and tested without one.
#![allow(clippy::disallowed_methods, reason = "this room waits, and will speak to providers")]

mod error;
mod piece;
mod request;
pub mod script;

use std::pin::Pin;

use futures_util::Stream;

pub use error::Error;
pub use piece::{Piece, PlanEntry, StopReason, ToolCall};
pub use request::{Command, Message, Request, ToolSpec, text_of};

/// The answer of a model as it comes. After [`Piece::Stop`] or an error nothing follows.
pub type Pieces = Pin<Box<dyn Stream<Item = Result<Piece, Error>> + Send>>;

/// A language model.
pub trait Model: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Asks it. The answer begins when the stream is first polled.
    fn stream(&self, request: Request) -> Pieces;

    /// The slash commands it understands beyond plain text.
    fn commands(&self) -> Vec<Command> {
        Vec::new()
    }
}

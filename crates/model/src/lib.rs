//! Language models: what is asked of one, what it answers, and a stand-in that plays a rehearsal.
//!
//! A [`LanguageModel`] is asked with a whole [`ModelRequest`] and answers with a stream of [`AnswerPiece`]s. It keeps nothing between two
//! requests: what was said before is in the request. Dropping the stream ends the answer.
//!
//! [`ProviderModels`] has those of providers, each in the dialect of its API. [`script::ScriptedModel`] plays what a TOML file says, so
//! that everything around a model can be shown and tested without one.
#![allow(clippy::disallowed_methods, reason = "this room waits, and speaks to providers")]

mod access;
mod chat_model;
mod client_providers;
mod content;
mod dialect;
mod environment_secrets;
mod error;
mod http;
mod known;
mod known_list;
mod model_list;
mod offered_models;
mod piece;
mod provider;
mod provider_models;
mod request;
mod retry;
pub mod script;
mod sigv4;
mod source;
mod stored;
mod test_call;
mod words;

use std::pin::Pin;

use futures_util::Stream;

pub use nudge_wire::SecretText;

pub use access::{AccessError, AccessOrigin, ProviderAccess};
pub use client_providers::ModelWish;
pub use content::{MediaData, UserPart, user_parts};
#[doc(hidden)]
pub use dialect::read_answer_body;
pub use error::ModelError;
pub use http::RequestLimits;
pub use known::{KnownModel, ModelPrice, known_model};
pub use piece::{AnswerPiece, PlanEntry, ProviderReset, SignedReasoning, StopReason, TokenCount, ToolCall};
use provider::key_variables;
pub use provider::{ApiType, ModelProvider, PROVIDERS};
pub use provider_models::{ProviderModels, ProviderOptions, ProviderState, REHEARSAL};
pub use request::{
    AnswerOptions, AnswerPart, ChatMessage, ModelRequest, SlashCommand, ThinkingLevel, ToolSpec,
    UntakenMedia, text_of,
};
pub use retry::{RetryPlan, chance};
pub use sigv4::AwsCredentials;
pub use source::{ChoosingModel, ChosenModel, FixedModel, ModelChoice, ModelSource};
pub use stored::StoredLogins;
pub use test_call::TestedProvider;

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

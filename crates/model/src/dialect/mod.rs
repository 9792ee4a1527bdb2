//! The dialects of providers: how a request is written and how an answer is read. Pure: bytes in, bytes out.

mod anthropic;
mod bedrock;
mod call;
mod call_naming;
mod event_stream;
mod events;
mod fault;
mod framing;
mod gemini;
mod history;
mod ollama;
mod openai;
mod responses;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod stream_checks;
mod text_calls;

use std::sync::Arc;

use crate::{AnswerPiece, ApiType, ModelRequest, ProviderReset};

pub(crate) use anthropic::contexts as anthropic_contexts;
pub(crate) use call_naming::CallNaming;
pub(crate) use framing::{EventFraming, LineFraming};
pub(crate) use text_calls::TextCallReader;

/// How an API of this type is spoken.
pub(crate) fn of(api_type: ApiType) -> Arc<dyn ApiDialect> {
    with_naming(api_type, CallNaming::random())
}

fn with_naming(api_type: ApiType, naming: CallNaming) -> Arc<dyn ApiDialect> {
    match api_type {
        ApiType::Anthropic => Arc::new(anthropic::AnthropicDialect),
        // At Azure it is another address and another header for the key.
        ApiType::OpenAi | ApiType::Azure => Arc::new(openai::OpenAiDialect),
        ApiType::OpenAiResponses => Arc::new(responses::ResponsesDialect),
        ApiType::Gemini => Arc::new(gemini::GeminiDialect::with_key(naming)),
        ApiType::Vertex => Arc::new(gemini::GeminiDialect::at_vertex(naming)),
        ApiType::Bedrock => Arc::new(bedrock::BedrockDialect),
        ApiType::Ollama => Arc::new(ollama::OllamaDialect::new(naming)),
    }
}

/// What is read of the body of an answer that comes in these parts, and whether that is all of it. For the fuzzer.
#[doc(hidden)]
pub fn read_answer_body(api_type: ApiType, parts: &[&[u8]]) -> (Vec<AnswerPiece>, bool) {
    let mut reader = with_naming(api_type, CallNaming::seeded(0)).reader("model");
    let mut pieces = Vec::new();
    let read = parts.iter().try_for_each(|part| reader.read(part, &mut pieces));
    let read = read.and_then(|()| reader.end(&mut pieces));
    (pieces, read.is_ok())
}

/// How one API is spoken.
pub(crate) trait ApiDialect: Send + Sync {
    /// Its name, which says whose signed reasoning can be sent back.
    fn name(&self) -> &'static str;

    /// A request whose answer streams.
    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest;

    /// What reads the body of its answer.
    fn reader(&self, model: &str) -> Box<dyn AnswerReader>;

    /// The path that lists the models, behind the base address; none where there is no such list.
    fn models_path(&self) -> Option<&'static str>;

    /// The models that are offered where there is no such list, the best first. There may be others.
    fn unlisted_models(&self) -> &'static [&'static str] {
        &[]
    }

    /// The headers that a request for it needs, beside the key.
    fn list_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Reads that list; what cannot be read is left out.
    fn read_models(&self, body: &[u8]) -> Vec<ListedModel>;

    /// What is to be asked about a model of the list, where the list does not say what has to be known.
    fn model_question(&self, _: &ListedModel) -> Option<DialectRequest> {
        None
    }

    /// Adds what is answered to that.
    fn read_model(&self, _: &[u8], _: &mut ListedModel) {}

    /// What an HTTP error is about, as most providers say it.
    fn fault(&self, status: u16, body: &[u8]) -> ProviderFault {
        fault::http_fault(status, &fault::FaultWords::of_body(body))
    }

    /// When requests are taken again, where the body of an error says so and not a header.
    fn reset(&self, _: &[u8]) -> Option<ProviderReset> {
        None
    }
}

/// Who signs the reasoning of a model, as [`crate::SignedReasoning`] says it.
pub(crate) fn signer(dialect: &dyn ApiDialect, model: &str) -> String {
    format!("{}/{model}", dialect.name())
}

/// A request as it is posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DialectRequest {
    /// Behind the base address; begins with a slash. May have a query.
    pub(crate) path: String,
    /// Headers beside the key and `content-type: application/json`.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

/// A body in JSON. Where something in it cannot be written it is empty, and the provider refuses it.
pub(crate) fn json_body(body: &impl serde::Serialize) -> Vec<u8> {
    // Only what was kept of an earlier answer, and is broken since, cannot be written.
    serde_json::to_vec(body).unwrap_or_default()
}

/// Reads the body of an answer as it comes, however it is cut.
pub(crate) trait AnswerReader: Send {
    /// Takes in the next bytes; adds the pieces that they complete. After [`AnswerPiece::Stop`] nothing is added.
    fn read(&mut self, bytes: &[u8], pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault>;

    /// The body is over. An answer that was not said to be over is cut off: a fault.
    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault>;
}

/// Why an answer ends in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamFault {
    /// The provider says so.
    Provider(ProviderFault),
    /// It cannot be read; what was expected.
    Malformed(&'static str),
    /// The connection ended first.
    CutOff,
}

/// What an error of a provider is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProviderFault {
    /// The key is wrong or may not do this.
    Auth,
    UnknownModel,
    ContextOverflow,
    /// What was paid for is used up.
    Quota,
    RateLimited,
    /// Overloaded, or failed by itself.
    Failed,
    /// Reasoning that was sent back is not taken.
    Reasoning,
    /// Anything else that is wrong with the request; why, in our words.
    Rejected(&'static str),
}

/// A model that a provider has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListedModel {
    pub(crate) id: String,
    /// For people, if the provider has such a name.
    pub(crate) name: Option<String>,
    /// How many tokens fit, if it is said.
    pub(crate) context: Option<u64>,
    /// Whether it is known to call tools; `None` if nothing is said.
    pub(crate) calls_tools: Option<bool>,
    /// Whether it can be told how long to think; `None` if nothing is said.
    pub(crate) thinks: Option<bool>,
    /// Whether it takes images; `None` if nothing is said.
    pub(crate) takes_images: Option<bool>,
    /// Its size in bytes, where that is said.
    pub(crate) bytes: Option<u64>,
}

//! `OpenAI`'s responses.

mod read;
#[cfg(test)]
mod tests;
mod write;

use super::{
    AnswerReader, ApiDialect, DialectRequest, ListedModel,
    events::EventAnswerReader,
    json_body,
    openai::{MODELS_PATH, read_models},
    signer,
};
use crate::ModelRequest;

/// `OpenAI`'s responses. Nothing is kept there: each request has all that was said.
pub(crate) struct ResponsesDialect;

impl ApiDialect for ResponsesDialect {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest {
        DialectRequest {
            path: "/responses".to_owned(),
            headers: Vec::new(),
            body: json_body(&write::body(model, &signer(self, model), request)),
        }
    }

    fn reader(&self, model: &str) -> Box<dyn AnswerReader> {
        Box::new(EventAnswerReader::new(read::ResponseAnswer::new(signer(self, model))))
    }

    fn models_path(&self) -> Option<&'static str> {
        Some(MODELS_PATH)
    }

    fn read_models(&self, body: &[u8]) -> Vec<ListedModel> {
        read_models(body)
    }
}

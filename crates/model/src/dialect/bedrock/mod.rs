//! Converse of Amazon Bedrock, whatever model is behind it.

mod fault;
mod reader;
mod request;

use percent_encoding::utf8_percent_encode;

use super::{AnswerReader, ApiDialect, DialectRequest, ListedModel, ProviderFault, json_body, signer};
use crate::{ModelRequest, sigv4::RESERVED};

/// Bedrock's `converse-stream`.
#[derive(Debug)]
pub(crate) struct BedrockDialect;

impl ApiDialect for BedrockDialect {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest {
        DialectRequest {
            path: format!("/model/{}/converse-stream", utf8_percent_encode(model, RESERVED)),
            headers: Vec::new(),
            body: json_body(&request::body(model, &signer(self, model), request)),
        }
    }

    fn reader(&self, model: &str) -> Box<dyn AnswerReader> {
        Box::new(reader::BedrockReader::new(signer(self, model)))
    }

    fn models_path(&self) -> Option<&'static str> {
        None
    }

    fn unlisted_models(&self) -> &'static [&'static str] {
        // Profiles that are in every region; which of them an account may use is not said here.
        &[
            "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "global.anthropic.claude-haiku-4-5-20251001-v1:0",
        ]
    }

    fn read_models(&self, _: &[u8]) -> Vec<ListedModel> {
        Vec::new()
    }

    fn fault(&self, status: u16, body: &[u8]) -> ProviderFault {
        fault::fault(status, body)
    }
}

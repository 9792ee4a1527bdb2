//! Anthropic's messages.

mod read;
#[cfg(test)]
mod tests;
pub(crate) mod thinking;
mod write;

use serde_json::Value;

use super::{
    AnswerReader, ApiDialect, DialectRequest, ListedModel, ProviderFault,
    events::EventAnswerReader,
    fault::{FaultWords, http_fault},
    json_body, signer,
};
use crate::ModelRequest;

pub(crate) use write::has_gap;

/// Anthropic's messages, as Anthropic and servers like it speak them.
pub(crate) struct AnthropicDialect;

const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

impl ApiDialect for AnthropicDialect {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest {
        DialectRequest {
            path: "/v1/messages".to_owned(),
            headers: vec![(VERSION.0, VERSION.1.to_owned())],
            body: json_body(&write::body(model, &signer(self, model), request)),
        }
    }

    fn reader(&self, model: &str) -> Box<dyn AnswerReader> {
        Box::new(EventAnswerReader::new(read::MessageAnswer::new(signer(self, model))))
    }

    fn models_path(&self) -> Option<&'static str> {
        Some("/v1/models?limit=1000")
    }

    fn list_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[VERSION]
    }

    fn read_models(&self, body: &[u8]) -> Vec<ListedModel> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let models = body["data"].as_array().into_iter().flatten();
        models.filter_map(listed).collect()
    }

    fn fault(&self, status: u16, body: &[u8]) -> ProviderFault {
        http_fault(status, &FaultWords::of_body(body))
    }
}

fn listed(model: &Value) -> Option<ListedModel> {
    Some(ListedModel {
        id: model["id"].as_str()?.to_owned(),
        name: model["display_name"].as_str().map(str::to_owned),
        context: model["max_input_tokens"].as_u64(),
        ..ListedModel::default()
    })
}

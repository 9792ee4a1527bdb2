//! Anthropic's messages.

mod read;
#[cfg(test)]
mod tests;
pub(crate) mod thinking;
mod write;

use serde_json::Value;

use super::{
    AnswerReader, ApiDialect, DialectRequest, ListedModel, events::EventAnswerReader, json_body, signer,
};
use crate::ModelRequest;

pub(crate) use write::has_gap;

/// Anthropic's messages, as Anthropic and servers like it speak them.
pub(crate) struct AnthropicDialect;

const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");
/// What a request has to say that is to have the larger of two contexts.
const LONG_CONTEXT: (&str, &str) = ("anthropic-beta", "context-1m-2025-08-07");
/// The contexts of models that have two.
const CONTEXTS: [u64; 2] = [200_000, 1_000_000];

/// The contexts that can be chosen for a model, the usual one first.
pub(crate) fn contexts(model: &str) -> &'static [u64] {
    let has_two = ["claude-sonnet-4-0", "claude-sonnet-4-2025", "claude-sonnet-4-5"];
    if has_two.iter().any(|beginning| model.starts_with(beginning)) { &CONTEXTS } else { &[] }
}

impl ApiDialect for AnthropicDialect {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest {
        let mut headers = vec![(VERSION.0, VERSION.1.to_owned())];
        if request.options.context_size == Some(CONTEXTS[1]) && !contexts(model).is_empty() {
            headers.push((LONG_CONTEXT.0, LONG_CONTEXT.1.to_owned()));
        }
        DialectRequest {
            path: "/v1/messages".to_owned(),
            headers,
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
}

fn listed(model: &Value) -> Option<ListedModel> {
    Some(ListedModel {
        id: model["id"].as_str()?.to_owned(),
        name: model["display_name"].as_str().map(str::to_owned),
        context: model["max_input_tokens"].as_u64(),
        ..ListedModel::default()
    })
}

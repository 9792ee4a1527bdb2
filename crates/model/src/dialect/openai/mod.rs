//! `OpenAI`'s chat completions, which many others speak.

mod models;
mod read;
#[cfg(test)]
mod tests;
mod write;

use super::{
    AnswerReader, ApiDialect, DialectRequest, ListedModel, events::EventAnswerReader, json_body, signer,
};
use crate::{AnswerOptions, ModelRequest, ThinkingLevel, known_model};

pub(super) use models::{MODELS_PATH, read_models};
pub(super) use write::{AudioInput, data_url};

/// `OpenAI`'s chat completions.
pub(crate) struct OpenAiDialect;

impl ApiDialect for OpenAiDialect {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest {
        DialectRequest {
            path: "/chat/completions".to_owned(),
            headers: Vec::new(),
            body: json_body(&write::body(model, &signer(self, model), request)),
        }
    }

    fn reader(&self, model: &str) -> Box<dyn AnswerReader> {
        Box::new(EventAnswerReader::new(read::CompletionAnswer::new(signer(self, model))))
    }

    fn models_path(&self) -> Option<&'static str> {
        Some(MODELS_PATH)
    }

    fn read_models(&self, body: &[u8]) -> Vec<ListedModel> {
        read_models(body)
    }
}

/// The word for how long to think, if it is said; the lowest that a model takes for not at all.
pub(super) fn effort(model: &str, options: &AnswerOptions) -> Option<&'static str> {
    let level = options.thinking.filter(|_| !options.without_reasoning)?;
    if level != ThinkingLevel::Off {
        return Some(level.name());
    }
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_first_of_five = name == "gpt-5" || name.starts_with("gpt-5-");
    Some(match name {
        _ if is_first_of_five && !name.contains("codex") => "minimal",
        _ if is_first_of_five || name.starts_with("gpt-oss") || is_o_series(name) => "low",
        _ => "none",
    })
}

/// Whether a model reasons before it answers.
pub(super) fn reasons(model: &str) -> bool {
    known_model(model).thinks || is_o_series(model)
}

/// `o1`, `o3-mini` and so on.
fn is_o_series(name: &str) -> bool {
    name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

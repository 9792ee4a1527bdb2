//! Gemini's `streamGenerateContent`, with a key and at Vertex AI.

mod fault;
mod reader;
mod request;

use percent_encoding::utf8_percent_encode;
use serde::Deserialize;
use serde_json::Value;

use super::{
    AnswerReader, ApiDialect, CallNaming, DialectRequest, ListedModel, ProviderFault,
    events::EventAnswerReader, json_body, signer,
};
use crate::{ModelRequest, ProviderReset, sigv4::RESERVED};

/// Gemini. Reasoning that one of the two ways has signed is not sent the other way.
#[derive(Debug)]
pub(crate) struct GeminiDialect {
    name: &'static str,
    /// What stands before the name of a model.
    models: &'static str,
    naming: CallNaming,
}

impl GeminiDialect {
    /// The API that takes a key.
    pub(crate) fn with_key(naming: CallNaming) -> Self {
        Self { name: "gemini", models: "/models/", naming }
    }

    /// The API of a project at Vertex AI, which has no list of models.
    pub(crate) fn at_vertex(naming: CallNaming) -> Self {
        Self { name: "vertex", models: "/publishers/google/models/", naming }
    }

    fn is_vertex(&self) -> bool {
        self.name == "vertex"
    }
}

impl ApiDialect for GeminiDialect {
    fn name(&self) -> &'static str {
        self.name
    }

    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest {
        let bare = utf8_percent_encode(bare(model), RESERVED);
        let mut body = request::body(request, model, &signer(self, model));
        if self.is_vertex() {
            request::without_ids(&mut body);
        }
        DialectRequest {
            path: format!("{}{bare}:streamGenerateContent?alt=sse", self.models),
            headers: Vec::new(),
            body: json_body(&body),
        }
    }

    fn reader(&self, model: &str) -> Box<dyn AnswerReader> {
        let answer = reader::GeminiAnswer::new(signer(self, model), self.naming.clone());
        Box::new(EventAnswerReader::new(answer))
    }

    fn models_path(&self) -> Option<&'static str> {
        (!self.is_vertex()).then_some("/models?pageSize=1000")
    }

    fn unlisted_models(&self) -> &'static [&'static str] {
        // Those that are in every region.
        if self.is_vertex() { &["gemini-2.5-pro", "gemini-2.5-flash"] } else { &[] }
    }

    fn read_models(&self, body: &[u8]) -> Vec<ListedModel> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let models = body["models"].as_array().map(Vec::as_slice).unwrap_or_default();
        models.iter().filter_map(listed).collect()
    }

    fn fault(&self, status: u16, body: &[u8]) -> ProviderFault {
        fault::fault(status, body)
    }

    fn reset(&self, body: &[u8]) -> Option<ProviderReset> {
        fault::reset(body)
    }
}

/// A model is listed as `models/gemini-x`.
fn bare(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiModel {
    name: String,
    display_name: Option<String>,
    input_token_limit: Option<u64>,
    #[serde(default)]
    supported_generation_methods: Vec<String>,
    thinking: Option<bool>,
}

fn listed(model: &Value) -> Option<ListedModel> {
    // These speak, draw or move, and call no tools.
    const OTHERS: [&str; 7] = ["-image", "-tts", "-audio", "-live", "robotics", "computer-use", "embedding"];
    let model = GeminiModel::deserialize(model).ok()?;
    if !model.supported_generation_methods.iter().any(|method| method == "generateContent") {
        return None;
    }
    let id = bare(&model.name).to_owned();
    Some(ListedModel {
        name: model.display_name,
        context: model.input_token_limit,
        calls_tools: OTHERS.iter().any(|other| id.contains(other)).then_some(false),
        thinks: model.thinking,
        id,
        ..ListedModel::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_answer_are_listed() {
        let body = br#"{"models":[
            {"name":"models/gemini-3-pro","displayName":"Gemini 3","inputTokenLimit":1048576,"thinking":true,
             "supportedGenerationMethods":["generateContent","countTokens"]},
            {"name":"models/gemini-2.5-flash-image","supportedGenerationMethods":["generateContent"]},
            {"name":"models/embedding-001","supportedGenerationMethods":["embedContent"]},
            {"supportedGenerationMethods":["generateContent"]}, 7]}"#;
        let dialect = GeminiDialect::with_key(CallNaming::seeded(1));
        let expected = [
            ListedModel {
                id: "gemini-3-pro".into(),
                name: Some("Gemini 3".into()),
                context: Some(1_048_576),
                thinks: Some(true),
                ..ListedModel::default()
            },
            ListedModel {
                id: "gemini-2.5-flash-image".into(),
                calls_tools: Some(false),
                ..ListedModel::default()
            },
        ];
        assert_eq!(dialect.read_models(body), expected);
        assert_eq!(dialect.read_models(b"<html>"), []);
    }

    #[test]
    fn vertex_has_paths_of_its_own_and_no_list() {
        let dialect = GeminiDialect::at_vertex(CallNaming::seeded(1));
        let asked = dialect.chat("gemini 3/x", &ModelRequest::default());
        let path = "/publishers/google/models/gemini%203%2Fx:streamGenerateContent?alt=sse";
        assert_eq!((asked.path.as_str(), dialect.models_path()), (path, None));
        let dialect = GeminiDialect::with_key(CallNaming::seeded(1));
        let asked = dialect.chat("models/gemini-3", &ModelRequest::default());
        assert_eq!(asked.path, "/models/gemini-3:streamGenerateContent?alt=sse");
    }
}

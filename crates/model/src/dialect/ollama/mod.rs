//! Ollama's own API, which unlike its others takes the size of the context.

mod reader;
mod request;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    AnswerReader, ApiDialect, CallNaming, DialectRequest, ListedModel, ProviderFault,
    fault::{FaultWords, http_fault},
    json_body,
};
use crate::ModelRequest;

/// Ollama's `/api/chat`.
#[derive(Debug)]
pub(crate) struct OllamaDialect {
    naming: CallNaming,
}

impl OllamaDialect {
    pub(crate) fn new(naming: CallNaming) -> Self {
        Self { naming }
    }
}

impl ApiDialect for OllamaDialect {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn chat(&self, model: &str, request: &ModelRequest) -> DialectRequest {
        post("/api/chat", &request::body(model, request))
    }

    fn reader(&self, _: &str) -> Box<dyn AnswerReader> {
        Box::new(reader::OllamaReader::new(self.naming.clone()))
    }

    fn models_path(&self) -> Option<&'static str> {
        Some("/api/tags")
    }

    fn read_models(&self, body: &[u8]) -> Vec<ListedModel> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let models = body["models"].as_array().map(Vec::as_slice).unwrap_or_default();
        models.iter().filter_map(listed).collect()
    }

    fn model_question(&self, model: &ListedModel) -> Option<DialectRequest> {
        // Newer ones say it in the list.
        model.calls_tools.is_none().then(|| post("/api/show", &json!({ "model": model.id })))
    }

    fn read_model(&self, body: &[u8], model: &mut ListedModel) {
        let Ok(shown) = serde_json::from_slice::<OllamaDetails>(body) else { return };
        shown.add_to(model);
    }

    fn fault(&self, status: u16, body: &[u8]) -> ProviderFault {
        fault(status, &FaultWords::of_body(body))
    }
}

fn post(path: &str, body: &Value) -> DialectRequest {
    DialectRequest { path: path.to_owned(), headers: Vec::new(), body: json_body(body) }
}

/// What an error is about.
fn fault(status: u16, words: &FaultWords) -> ProviderFault {
    if words.says(&["does not support tools"]) {
        return ProviderFault::Rejected("the model calls no tools");
    }
    if words.says(&["does not support thinking", "think value"]) {
        return ProviderFault::Rejected("the model cannot think as it was told to");
    }
    if words.says(&["more system memory"]) {
        return ProviderFault::Rejected("the model needs more memory than there is");
    }
    if words.says(&["usage limit"]) {
        return ProviderFault::Quota;
    }
    match http_fault(status, words) {
        ProviderFault::Reasoning => ProviderFault::Rejected("it says that the request is not valid"),
        fault => fault,
    }
}

#[derive(Deserialize)]
struct OllamaModel {
    name: String,
    size: Option<u64>,
    #[serde(flatten)]
    details: OllamaDetails,
}

/// What the list of newer ones and `/api/show` say alike.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OllamaDetails {
    capabilities: Option<Vec<String>>,
    details: OllamaSizes,
    /// Members such as `llama.context_length`.
    model_info: serde_json::Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OllamaSizes {
    context_length: Option<u64>,
}

impl OllamaDetails {
    fn add_to(&self, model: &mut ListedModel) {
        let mut infos = self.model_info.iter();
        let info =
            infos.find(|(name, _)| name.ends_with(".context_length")).and_then(|(_, size)| size.as_u64());
        model.context = model.context.or(self.details.context_length).or(info);
        let Some(capabilities) = &self.capabilities else { return };
        let can = |what: &str| Some(capabilities.iter().any(|capability| capability == what));
        model.calls_tools = can("tools");
        model.thinks = can("thinking");
        model.takes_images = can("vision");
    }
}

fn listed(model: &Value) -> Option<ListedModel> {
    let model = OllamaModel::deserialize(model).ok()?;
    let mut listed = ListedModel { id: model.name, bytes: model.size, ..ListedModel::default() };
    model.details.add_to(&mut listed);
    Some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect() -> OllamaDialect {
        OllamaDialect::new(CallNaming::seeded(1))
    }

    #[test]
    fn models_say_what_they_can_or_are_asked() {
        let body = br#"{"models":[
            {"name":"old:8b","size":5,"details":{"family":"llama"}},
            {"name":"new:4b","size":3,"details":{"context_length":4096},"capabilities":["completion","tools","vision"]},
            {"size":1}, null]}"#;
        let models = dialect().read_models(body);
        let old = ListedModel { id: "old:8b".into(), bytes: Some(5), ..ListedModel::default() };
        let new = ListedModel {
            id: "new:4b".into(),
            bytes: Some(3),
            context: Some(4096),
            calls_tools: Some(true),
            thinks: Some(false),
            takes_images: Some(true),
            ..ListedModel::default()
        };
        assert_eq!(models, [old.clone(), new.clone()]);
        assert_eq!(dialect().model_question(&new), None);
        let asked = dialect().model_question(&old).unwrap();
        assert_eq!((asked.path.as_str(), &asked.body[..]), ("/api/show", &br#"{"model":"old:8b"}"#[..]));
        let shown = br#"{"details":{},"model_info":{"llama.vocab":1,"llama.context_length":131072},"capabilities":["thinking"]}"#;
        let mut told = old.clone();
        dialect().read_model(shown, &mut told);
        let expected = ListedModel {
            context: Some(131_072),
            calls_tools: Some(false),
            thinks: Some(true),
            takes_images: Some(false),
            ..old.clone()
        };
        assert_eq!(told, expected);
        let mut told = old.clone();
        dialect().read_model(b"404 page not found", &mut told);
        assert_eq!(told, old);
    }

    #[test]
    fn errors_are_told_apart() {
        let cases = [
            (404, r#"model "x" not found, try pulling it first"#, ProviderFault::UnknownModel),
            (404, "model 'x' not found", ProviderFault::UnknownModel),
            (401, "unauthorized", ProviderFault::Auth),
            (400, "the input length exceeds the context length", ProviderFault::ContextOverflow),
            (
                400,
                "the prompt is longer than the context length currently available to the model; shorten the prompt",
                ProviderFault::ContextOverflow,
            ),
            (400, "\"x\" does not support tools", ProviderFault::Rejected("the model calls no tools")),
            (
                400,
                "\"x\" does not support thinking",
                ProviderFault::Rejected("the model cannot think as it was told to"),
            ),
            (
                500,
                "model requires more system memory (9 GiB) than is available (2 GiB)",
                ProviderFault::Rejected("the model needs more memory than there is"),
            ),
            (429, "too many concurrent requests", ProviderFault::RateLimited),
            (429, "you've reached your hourly usage limit, please upgrade to continue", ProviderFault::Quota),
            (503, "server busy, please try again.", ProviderFault::Failed),
            (500, "llama runner process has terminated", ProviderFault::Failed),
            (400, "odd reasoning", ProviderFault::Rejected("it says that the request is not valid")),
        ];
        for (status, message, expected) in cases {
            let body = json!({ "error": message }).to_string();
            assert_eq!(dialect().fault(status, body.as_bytes()), expected, "{status} {message}");
        }
    }
}

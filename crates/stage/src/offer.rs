//! The models a provider says it has, as each of the real ones says it.

use serde_json::{Value, json};

/// A model that a provider says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedModel {
    /// Its name.
    pub name: String,
    /// How large it is, where that is said.
    pub bytes: u64,
    /// How many tokens fit.
    pub context: u64,
    /// What it can beside answering: `tools`, `thinking`, `vision`.
    pub capabilities: Vec<String>,
}

impl OfferedModel {
    /// A model that calls tools.
    pub fn new(name: impl Into<String>) -> Self {
        let capabilities = vec!["tools".to_owned()];
        Self { name: name.into(), bytes: 1_000_000, context: 1_000_000, capabilities }
    }

    /// The same in another size.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// The same with other abilities.
    pub fn can<T: Into<String>>(mut self, capabilities: impl IntoIterator<Item = T>) -> Self {
        self.capabilities = capabilities.into_iter().map(Into::into).collect();
        self
    }

    /// As `OpenAI`, Anthropic and Gemini describe one.
    pub(crate) fn hosted(&self) -> Value {
        let Self { name, context, .. } = self;
        json!({
            "id": name, "object": "model", "created": 1_750_000_000, "owned_by": "nobody",
            "type": "model", "display_name": name, "created_at": "2025-06-15T00:00:00Z",
            "name": format!("models/{name}"), "displayName": name, "inputTokenLimit": context, "outputTokenLimit": 64_000,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
            "slug": name,
        })
    }

    /// As Ollama lists one; older ones do not say there what it can.
    pub(crate) fn tagged(&self) -> Value {
        let Self { name, bytes, .. } = self;
        json!({
            "name": name, "model": name, "size": bytes, "modified_at": "2025-06-15T00:00:00Z", "digest": "0".repeat(64),
            "details": {"format": "gguf", "family": "llama", "parameter_size": "8B", "quantization_level": "Q4_0"},
        })
    }

    /// As Ollama shows one.
    pub(crate) fn shown(&self) -> Value {
        let can = self.capabilities.iter().map(String::as_str);
        let capabilities: Vec<&str> = std::iter::once("completion").chain(can).collect();
        json!({
            "details": {"format": "gguf", "family": "llama"}, "capabilities": capabilities,
            "model_info": {"general.architecture": "llama", "llama.context_length": self.context},
        })
    }
}

/// The list of models that `OpenAI`, Anthropic and Gemini have, in one.
pub(crate) fn hosted_list(models: &[OfferedModel]) -> Value {
    let described: Vec<Value> = models.iter().map(OfferedModel::hosted).collect();
    let name = |model: Option<&OfferedModel>| model.map(|model| model.name.clone());
    json!({
        "object": "list", "data": described, "models": described,
        "has_more": false, "first_id": name(models.first()), "last_id": name(models.last()),
    })
}

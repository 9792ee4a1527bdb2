//! The providers there are: one table.

use std::fmt;

/// How an API is spoken, by the names of `apiType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApiType {
    /// Anthropic's messages.
    Anthropic,
    /// `OpenAI`'s chat completions, which many others speak.
    OpenAi,
    /// `OpenAI`'s responses.
    OpenAiResponses,
    /// `OpenAI` at Azure.
    Azure,
    /// Gemini with a key.
    Gemini,
    /// Gemini at Vertex AI.
    Vertex,
    /// Converse of Amazon Bedrock.
    Bedrock,
    /// Ollama's own.
    Ollama,
}

impl ApiType {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Azure,
        Self::Gemini,
        Self::Vertex,
        Self::Bedrock,
        Self::Ollama,
    ];

    /// Its name in `apiType`. Those that the protocol does not have begin with an underscore.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "_openai_responses",
            Self::Azure => "azure",
            Self::Gemini => "_gemini",
            Self::Vertex => "vertex",
            Self::Bedrock => "bedrock",
            Self::Ollama => "_ollama",
        }
    }

    /// The type of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// A provider of models.
#[derive(Debug, PartialEq, Eq)]
pub struct ModelProvider {
    /// Its id in `providers/*`, and what the names of its models begin with.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// The APIs it can be set to, its own first.
    pub api_types: &'static [ApiType],
    /// Variables that hold its key, the first that is set counts.
    pub key_variables: &'static [&'static str],
    /// Variables that hold its address.
    pub address_variables: &'static [&'static str],
    /// Where it is unless something else is said; none where each user has their own.
    pub base_url: Option<&'static str>,
    /// The models that are taken unless another is chosen, the best first: beginnings of names.
    pub preferred: &'static [&'static str],
}

/// Every provider.
pub const PROVIDERS: &[ModelProvider] = &[
    ModelProvider {
        id: "anthropic",
        name: "Anthropic",
        api_types: &[ApiType::Anthropic],
        key_variables: &["ANTHROPIC_API_KEY"],
        address_variables: &["ANTHROPIC_BASE_URL"],
        base_url: Some("https://api.anthropic.com"),
        preferred: &["claude-sonnet", "claude-opus", "claude"],
    },
    ModelProvider {
        id: "openai",
        name: "OpenAI",
        api_types: &[ApiType::OpenAi, ApiType::OpenAiResponses],
        key_variables: &["OPENAI_API_KEY"],
        address_variables: &["OPENAI_BASE_URL"],
        base_url: Some("https://api.openai.com/v1"),
        preferred: &["gpt-5", "gpt-4.1", "gpt"],
    },
    ModelProvider {
        id: "azure",
        name: "Azure OpenAI",
        api_types: &[ApiType::Azure],
        key_variables: &["AZURE_OPENAI_API_KEY"],
        address_variables: &["AZURE_OPENAI_ENDPOINT"],
        base_url: None,
        preferred: &["gpt-5", "gpt"],
    },
    ModelProvider {
        id: "gemini",
        name: "Google Gemini",
        api_types: &[ApiType::Gemini],
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address_variables: &["GOOGLE_GEMINI_BASE_URL"],
        base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
        preferred: &["gemini-3", "gemini-2.5-pro", "gemini-2.5", "gemini"],
    },
    ModelProvider {
        id: "vertex",
        name: "Google Vertex AI",
        api_types: &[ApiType::Vertex],
        key_variables: &["VERTEX_ACCESS_TOKEN"],
        address_variables: &["VERTEX_BASE_URL"],
        base_url: None,
        preferred: &["gemini-3", "gemini-2.5-pro", "gemini"],
    },
    ModelProvider {
        id: "bedrock",
        name: "Amazon Bedrock",
        api_types: &[ApiType::Bedrock],
        key_variables: &["AWS_BEARER_TOKEN_BEDROCK"],
        address_variables: &["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"],
        base_url: None,
        preferred: &[],
    },
    ModelProvider {
        id: "ollama",
        name: "Ollama",
        api_types: &[ApiType::Ollama],
        key_variables: &["OLLAMA_API_KEY"],
        address_variables: &["OLLAMA_HOST"],
        base_url: Some("http://127.0.0.1:11434"),
        preferred: &[],
    },
    ModelProvider {
        id: "custom",
        name: "Another server",
        api_types: &[
            ApiType::OpenAi,
            ApiType::OpenAiResponses,
            ApiType::Anthropic,
            ApiType::Gemini,
            ApiType::Ollama,
        ],
        key_variables: &[],
        address_variables: &[],
        base_url: None,
        preferred: &[],
    },
];

/// The variables that hold keys of providers, which nobody needs but who asks models.
pub(crate) fn key_variables() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().flat_map(|provider| provider.key_variables).copied()
}

/// The variables by which an account of Amazon is used, by models and by much else.
pub(crate) const ACCOUNT_VARIABLES: [&str; 3] =
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// The variables that hold secrets of providers, also those that other programs need.
pub(crate) fn secret_variables() -> impl Iterator<Item = &'static str> {
    key_variables().chain(ACCOUNT_VARIABLES.into_iter().skip(1))
}

impl ModelProvider {
    /// The provider of this id.
    pub fn named(id: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.id == id)
    }

    /// How it is spoken to at this address unless something else is said: a server that is only like `OpenAI`'s has chat
    /// completions, few have responses.
    pub(crate) fn api_at(&self, base_url: &str) -> ApiType {
        let is_own = self.base_url == Some(base_url);
        if self.id == "openai" && is_own { ApiType::OpenAiResponses } else { self.api_types[0] }
    }

    /// Its names in `apiType`.
    pub fn supported(&self) -> Vec<&'static str> {
        self.api_types.iter().map(|known| known.name()).collect()
    }
}

impl fmt::Display for ModelProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

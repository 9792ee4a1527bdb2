//! The dialects of the stand-in, and how a client is pointed at each.

use nudge_stage::StageProvider;
use serde_json::{Value, json};

/// A way to speak to the stand-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) provider: &'static str,
    pub(crate) api_type: &'static str,
    /// What stands behind the stand-in's address.
    path: &'static str,
    /// The variables that hold a key and an address, where there are some.
    pub(crate) variables: Option<(&'static str, &'static str)>,
    /// The header that carries the key.
    pub(crate) key_header: &'static str,
}

pub(crate) const CHAT: Dialect = Dialect {
    provider: "custom",
    api_type: "openai",
    path: "/v1",
    variables: None,
    key_header: "authorization",
};

pub(crate) const ANTHROPIC: Dialect = Dialect {
    provider: "anthropic",
    api_type: "anthropic",
    path: "",
    variables: Some(("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")),
    key_header: "x-api-key",
};

const RESPONSES: Dialect = Dialect {
    provider: "openai",
    api_type: "_openai_responses",
    variables: Some(("OPENAI_API_KEY", "OPENAI_BASE_URL")),
    ..CHAT
};

pub(crate) const GEMINI: Dialect = Dialect {
    provider: "gemini",
    api_type: "_gemini",
    path: "/v1beta",
    variables: Some(("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL")),
    key_header: "x-goog-api-key",
};

pub(crate) const OLLAMA: Dialect = Dialect {
    provider: "ollama",
    api_type: "_ollama",
    path: "",
    variables: Some(("OLLAMA_API_KEY", "OLLAMA_HOST")),
    key_header: "authorization",
};

pub(crate) const BEDROCK: Dialect = Dialect {
    provider: "bedrock",
    api_type: "bedrock",
    path: "",
    variables: Some(("AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")),
    key_header: "authorization",
};

/// All that the stand-in speaks.
pub(crate) const ALL_DIALECTS: [Dialect; 6] = [CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA, BEDROCK];

impl Dialect {
    /// Where the stand-in is.
    pub(crate) fn base_url(&self, stage: &StageProvider) -> String {
        format!("{}{}", stage.url(), self.path)
    }

    /// The params of `providers/set`.
    pub(crate) fn set(&self, stage: &StageProvider) -> Value {
        let headers = json!({ self.key_header: "Bearer a-key-of-tests" });
        let (api_type, base_url) = (self.api_type, self.base_url(stage));
        json!({ "providerId": self.provider, "apiType": api_type, "baseUrl": base_url, "headers": headers })
    }
}

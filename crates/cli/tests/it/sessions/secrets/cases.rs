//! The dialects of the stand-in, and how each gets its key.

/// How the key of the provider that is asked is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyWay {
    /// In the variable that holds it.
    Variable,
    /// In `AWS_SECRET_ACCESS_KEY`, with which requests are signed.
    Account,
    /// In a header of `providers/set`.
    Header,
    /// To `nudge login --key-stdin`.
    Login,
    /// Printed by a command.
    KeyCommand,
    /// Typed on the page for it.
    Page,
}

/// A provider, as the stand-in plays it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlayedProvider {
    pub(super) id: &'static str,
    pub(super) api_type: &'static str,
    /// What stands behind the stand-in's address.
    pub(super) path: &'static str,
    /// The variables that hold a key and an address.
    pub(super) variables: (&'static str, &'static str),
    /// The header that carries the key.
    pub(super) key_header: &'static str,
}

const BEARER: &str = "authorization";

pub(super) const ANTHROPIC: PlayedProvider = PlayedProvider {
    id: "anthropic",
    api_type: "anthropic",
    path: "",
    variables: ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    key_header: "x-api-key",
};

pub(super) const CHAT: PlayedProvider = PlayedProvider {
    id: "openai",
    api_type: "openai",
    path: "/v1",
    variables: ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    key_header: BEARER,
};

pub(super) const RESPONSES: PlayedProvider = PlayedProvider { api_type: "_openai_responses", ..CHAT };

pub(super) const CUSTOM: PlayedProvider = PlayedProvider { id: "custom", ..CHAT };

pub(super) const AZURE: PlayedProvider = PlayedProvider {
    id: "azure",
    api_type: "azure",
    path: "/openai/v1",
    variables: ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
    key_header: "api-key",
};

pub(super) const GEMINI: PlayedProvider = PlayedProvider {
    id: "gemini",
    api_type: "_gemini",
    path: "/v1beta",
    variables: ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    key_header: "x-goog-api-key",
};

pub(super) const VERTEX: PlayedProvider = PlayedProvider {
    id: "vertex",
    api_type: "vertex",
    path: "/v1/projects/p/locations/l",
    variables: ("VERTEX_ACCESS_TOKEN", "VERTEX_BASE_URL"),
    key_header: BEARER,
};

pub(super) const BEDROCK: PlayedProvider = PlayedProvider {
    id: "bedrock",
    api_type: "bedrock",
    path: "",
    variables: ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
    key_header: BEARER,
};

pub(super) const OLLAMA: PlayedProvider = PlayedProvider {
    id: "ollama",
    api_type: "_ollama",
    path: "",
    variables: ("OLLAMA_API_KEY", "OLLAMA_HOST"),
    key_header: BEARER,
};

/// One run.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretCase {
    pub(super) provider: PlayedProvider,
    pub(super) way: KeyWay,
    /// Of the protocol.
    pub(super) version: u64,
    /// Whether it is the daemon that asks the model.
    pub(super) daemon: &'static str,
}

//! What an error of a provider is about, by its status and its words. The words go no further than here.

use serde_json::Value;

use super::ProviderFault;

/// How many bytes of a message are looked at.
const MOST_BYTES: usize = 4096;

/// The words of an error, in small letters.
#[derive(Default)]
pub(crate) struct FaultWords {
    /// Its type and its code.
    kinds: Vec<String>,
    message: String,
    /// A status that it names itself.
    status: Option<u16>,
}

impl FaultWords {
    /// The words of a body, which may be JSON or not.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(body) => Self::of(&body),
            Err(_) => Self { message: small(&String::from_utf8_lossy(body)), ..Self::default() },
        }
    }

    /// The words of an error: an object, an object in one, or a mere text.
    pub(crate) fn of(body: &Value) -> Self {
        let error = [&body["error"], &body[0]["error"]].into_iter().find(|error| !error.is_null());
        let error = error.unwrap_or(body);
        let places = ["message", "detail", "msg", "error"].map(|name| error[name].as_str());
        let message = places.into_iter().flatten().next().or(error.as_str()).or(body["message"].as_str());
        let kinds = ["type", "code", "status"].map(|name| error[name].as_str().map(small));
        let status = ["code", "status"].into_iter().find_map(|name| error[name].as_u64());
        Self {
            kinds: kinds.into_iter().flatten().collect(),
            message: message.map(small).unwrap_or_default(),
            status: status.and_then(|status| u16::try_from(status).ok()).filter(|status| *status >= 400),
        }
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    /// Whether one of these is said, in the message or by the kind.
    pub(crate) fn says(&self, words: &[&str]) -> bool {
        let is_said =
            |word: &&str| self.message.contains(word) || self.kinds.iter().any(|kind| kind.contains(word));
        words.iter().any(is_said)
    }
}

/// What an HTTP error is about.
pub(crate) fn http_fault(status: u16, words: &FaultWords) -> ProviderFault {
    if status == 402 || is_quota(words) {
        return ProviderFault::Quota;
    }
    if is_unknown_model(status, words) {
        return ProviderFault::UnknownModel;
    }
    if matches!(status, 401 | 403) {
        return ProviderFault::Auth;
    }
    if is_overflow(status, words) {
        return ProviderFault::ContextOverflow;
    }
    match status {
        // Reasoning that was sent back is looked for where it is kept, and it is not kept.
        404 if words.says(&["not persisted"]) => ProviderFault::Reasoning,
        404 => ProviderFault::Rejected("there is no such API at its address"),
        408 | 409 | 500.. => ProviderFault::Failed,
        429 => ProviderFault::RateLimited,
        _ => rejected(words),
    }
}

/// The statuses of errors that have none of their own.
const STATUSES: &[(&str, u16)] = &[
    ("authentication_error", 401),
    ("permission_error", 401),
    ("invalid_api_key", 401),
    ("not_found_error", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("too_many_requests", 429),
    ("invalid_request_error", 400),
    ("invalid_prompt", 400),
    ("invalid_encrypted_content", 400),
];

/// What an error within an answer is about. One that says nothing may pass.
pub(crate) fn stream_fault(words: &FaultWords) -> ProviderFault {
    let by_kind = || STATUSES.iter().find(|(kind, _)| words.is(&[kind])).map(|(_, status)| *status);
    http_fault(words.status.or_else(by_kind).unwrap_or(500), words)
}

fn is_quota(words: &FaultWords) -> bool {
    words.is(&["insufficient_quota", "billing_error", "billing_hard_limit_reached", "insufficient_balance"])
        || words.says(&[
            "exceeded your current quota",
            "credit balance",
            "insufficient balance",
            "insufficient credits",
            "api usage limits",
        ])
}

fn is_unknown_model(status: u16, words: &FaultWords) -> bool {
    if words.is(&["model_not_found", "invalid_model", "deploymentnotfound"]) {
        return true;
    }
    let is_about_model = words.says(&["model"]);
    let is_missing =
        words.says(&["not found", "not exist", "unknown model", "not a valid model", "no such model"]);
    match status {
        404 => is_about_model || words.is(&["not_found_error"]),
        400 | 422 => is_about_model && is_missing,
        _ => false,
    }
}

fn is_overflow(status: u16, words: &FaultWords) -> bool {
    status == 413
        || words.is(&["context_length_exceeded", "request_too_large"])
        || words.says(&[
            "context length",
            "context window",
            "context size",
            "context limit",
            "maximum context",
            "maximum prompt length",
            "prompt is too long",
            "input is too long",
            "too many input tokens",
            "maximum number of tokens",
            "reduce the length",
            // More tokens in one request than are let through in a minute: it never passes.
            "request too large",
        ])
}

fn rejected(words: &FaultWords) -> ProviderFault {
    // Summaries of reasoning are not for everybody; it goes without them no better.
    if words.says(&["organization must be verified"]) {
        return ProviderFault::Rejected("the account may not use it");
    }
    if words.says(&["thinking", "reasoning", "signature", "encrypted", "thought"]) {
        return ProviderFault::Reasoning;
    }
    let reasons = [
        (&["image", "media type"][..], "it takes no image of this kind"),
        (&["audio"], "it takes no sound of this kind"),
        (&["tool", "function"], "it takes no tools, or not these"),
        (&["organization", "verified"], "the account may not use it"),
    ];
    let reason = reasons.iter().find(|(said, _)| words.says(said));
    ProviderFault::Rejected(reason.map_or("it says that the request is not valid", |(_, reason)| reason))
}

fn small(text: &str) -> String {
    text[..text.floor_char_boundary(MOST_BYTES)].to_lowercase()
}

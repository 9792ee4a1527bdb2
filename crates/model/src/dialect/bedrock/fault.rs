//! What an error of Bedrock is about.

use serde_json::Value;

use crate::dialect::ProviderFault;

/// What an HTTP error is about. Its type is in a header; the status says as much.
pub(super) fn fault(status: u16, body: &[u8]) -> ProviderFault {
    let message = message(body);
    match status {
        401 | 403 => ProviderFault::Auth,
        404 => ProviderFault::UnknownModel,
        429 => limited(&message),
        408 | 409 | 424 | 500.. => ProviderFault::Failed,
        _ => rejected(&message),
    }
}

/// What an exception within an answer is about.
pub(super) fn exception(kind: &str, body: &[u8]) -> ProviderFault {
    let message = message(body);
    match kind {
        "throttlingException" => limited(&message),
        "validationException" => rejected(&message),
        "accessDeniedException" | "expiredTokenException" => ProviderFault::Auth,
        "resourceNotFoundException" => ProviderFault::UnknownModel,
        // `modelStreamErrorException`, `internalServerException`, `serviceUnavailableException` and what may come.
        _ => ProviderFault::Failed,
    }
}

fn message(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = body["message"].as_str().or_else(|| body["Message"].as_str());
    message.unwrap_or_default().to_lowercase()
}

fn limited(message: &str) -> ProviderFault {
    if message.contains("per day") { ProviderFault::Quota } else { ProviderFault::RateLimited }
}

fn rejected(message: &str) -> ProviderFault {
    const OVERFLOW: [&str; 6] = [
        "too long",
        "context length",
        "context window",
        "maximum tokens",
        "exceeds the maximum number of tokens",
        "too many input tokens",
    ];
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if says(&OVERFLOW) {
        ProviderFault::ContextOverflow
    } else if says(&["model identifier", "inference profile", "on-demand throughput", "end of its life"]) {
        ProviderFault::UnknownModel
    } else if says(&["signature", "thinking", "reasoning"]) {
        ProviderFault::Reasoning
    } else if says(&["service quota"]) {
        ProviderFault::Quota
    } else if says(&["tool use", "tooluse", "toolconfig", "tools"]) {
        ProviderFault::Rejected("it takes no tools, or not these")
    } else if says(&["image"]) {
        ProviderFault::Rejected("it takes no image of this kind")
    } else {
        ProviderFault::Rejected("it says that the request is not valid")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_told_apart() {
        let invalid = ProviderFault::Rejected("it says that the request is not valid");
        let cases = [
            (403, "The security token included in the request is invalid.", ProviderFault::Auth),
            (403, "You don't have access to the model with the specified model ID.", ProviderFault::Auth),
            (404, "The specified model could not be found", ProviderFault::UnknownModel),
            (400, "The provided model identifier is invalid.", ProviderFault::UnknownModel),
            (
                400,
                "Invocation of model ID x with on-demand throughput isn't supported.",
                ProviderFault::UnknownModel,
            ),
            (400, "Input is too long for requested model.", ProviderFault::ContextOverflow),
            (400, "prompt is too long: 9 tokens > 8 maximum", ProviderFault::ContextOverflow),
            (400, "messages.1.content.0: Invalid `signature` in `thinking` block", ProviderFault::Reasoning),
            (429, "Too many requests, please wait before trying again.", ProviderFault::RateLimited),
            (429, "Too many tokens per day, please wait before trying again.", ProviderFault::Quota),
            (424, "", ProviderFault::Failed),
            (500, "", ProviderFault::Failed),
            (503, "", ProviderFault::Failed),
            (
                400,
                "This model doesn't support tool use.",
                ProviderFault::Rejected("it takes no tools, or not these"),
            ),
            (400, "Malformed input request", invalid),
        ];
        for (status, message, expected) in cases {
            for name in ["message", "Message"] {
                let body = json!({ name: message }).to_string();
                assert_eq!(fault(status, body.as_bytes()), expected, "{status} {message}");
            }
        }
        assert_eq!(fault(400, b"<html>"), invalid);
    }

    #[test]
    fn exceptions_are_told_apart() {
        for (kind, message, expected) in [
            ("throttlingException", "Slow down.", ProviderFault::RateLimited),
            ("validationException", "Input is too long.", ProviderFault::ContextOverflow),
            ("modelStreamErrorException", "", ProviderFault::Failed),
            ("serviceUnavailableException", "", ProviderFault::Failed),
            ("unheardOfException", "", ProviderFault::Failed),
        ] {
            let body = json!({ "message": message }).to_string();
            assert_eq!(exception(kind, body.as_bytes()), expected, "{kind}");
        }
    }
}

//! What an error of Gemini is about.

use std::time::Duration;

use serde_json::Value;

use crate::{ProviderReset, dialect::ProviderFault};

pub(super) fn fault(status: u16, body: &[u8]) -> ProviderFault {
    of_error(status, &error(body))
}

/// What an error object is about; where it does not say its status, this is it.
pub(super) fn of_error(status: u16, error: &Value) -> ProviderFault {
    let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(status);
    let message = error["message"].as_str().unwrap_or_default().to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    let is_key = || says(&["api key"]) || details(error).any(|detail| detail["reason"] == "API_KEY_INVALID");
    match status {
        401 | 403 => ProviderFault::Auth,
        404 => ProviderFault::UnknownModel,
        429 if is_used_up(error, &message) => ProviderFault::Quota,
        429 => ProviderFault::RateLimited,
        408 | 409 | 500.. => ProviderFault::Failed,
        _ if is_key() => ProviderFault::Auth,
        _ if says(&["exceeds the maximum number of tokens", "token limit"]) => ProviderFault::ContextOverflow,
        _ if says(&["thought signature", "thought_signature", "thoughtsignature"]) => {
            ProviderFault::Reasoning
        }
        _ if says(&["location is not supported"]) => {
            ProviderFault::Rejected("it is not offered where you are")
        }
        _ if says(&["thinking"]) => ProviderFault::Rejected("the model cannot think as it was told to"),
        413 => ProviderFault::Rejected("the request is too large"),
        _ => ProviderFault::Rejected("it finds a mistake in it"),
    }
}

/// Whether a limit is one of a day or of money. The message names plan and billing in either case.
fn is_used_up(error: &Value, message: &str) -> bool {
    let violations = details(error).flat_map(|detail| detail["violations"].as_array().into_iter().flatten());
    let mut quotas = violations.filter_map(|violation| violation["quotaId"].as_str());
    quotas.any(|quota| quota.contains("PerDay"))
        || ["per day", "limit: 0", "credits", "spending"].iter().any(|words| message.contains(words))
}

/// When requests are taken again.
pub(super) fn reset(body: &[u8]) -> Option<ProviderReset> {
    let error = error(body);
    let delay = details(&error).find_map(|detail| detail["retryDelay"].as_str())?;
    let wait = delay.strip_suffix('s')?.parse::<f64>().ok().filter(|wait| wait.is_finite())?;
    Some(ProviderReset::After(Duration::from_secs_f64(wait.clamp(0.0, 31_536_000.0))))
}

/// The error of a body, which is an object or a list with one in it.
fn error(body: &[u8]) -> Value {
    let mut body: Value = serde_json::from_slice(body).unwrap_or_default();
    let at = if body.is_array() { "/0/error" } else { "/error" };
    body.pointer_mut(at).map(Value::take).unwrap_or_default()
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error["details"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_told_apart() {
        let quota = |id: &str| json!({"message": "Check your plan and billing.", "details": [{"violations": [{"quotaId": id}]}]});
        let says = |message: &str| json!({"message": message});
        let key = json!({"message": "Bad.", "details": [{"reason": "API_KEY_INVALID"}]});
        let cases = [
            (400, key, ProviderFault::Auth),
            (400, says("API key not valid. Please pass a valid API key."), ProviderFault::Auth),
            (401, says(""), ProviderFault::Auth),
            (403, says("Permission denied on billing"), ProviderFault::Auth),
            (404, says("models/x is not found for API version v1beta"), ProviderFault::UnknownModel),
            (
                400,
                says("The input token count (9) exceeds the maximum number of tokens allowed (8)."),
                ProviderFault::ContextOverflow,
            ),
            (
                400,
                says("Function call `x` in the 2. content block is missing a `thought_signature`."),
                ProviderFault::Reasoning,
            ),
            (400, says("Thought signature is not valid"), ProviderFault::Reasoning),
            (429, quota("GenerateRequestsPerMinutePerProject"), ProviderFault::RateLimited),
            (429, quota("GenerateRequestsPerDayPerProject-FreeTier"), ProviderFault::Quota),
            (429, says("Your prepayment credits are depleted."), ProviderFault::Quota),
            (429, says("Resource has been exhausted"), ProviderFault::RateLimited),
            (500, says(""), ProviderFault::Failed),
            (503, says("The model is overloaded."), ProviderFault::Failed),
            (400, says("Odd."), ProviderFault::Rejected("it finds a mistake in it")),
        ];
        for (status, error, expected) in cases {
            for body in [json!({"error": error}), json!([{"error": error}])] {
                assert_eq!(fault(status, body.to_string().as_bytes()), expected, "{status} {body}");
            }
        }
        assert_eq!(fault(502, b"<html>"), ProviderFault::Failed);
    }

    #[test]
    fn a_delay_is_read() {
        let body = |delay: &str| {
            let kind = "type.googleapis.com/google.rpc.RetryInfo";
            json!({"error": {"code": 429, "details": [{}, {"@type": kind, "retryDelay": delay}]}}).to_string()
        };
        let after = |seconds| Some(ProviderReset::After(Duration::from_secs_f64(seconds)));
        for (delay, expected) in
            [("34s", after(34.0)), ("1.5s", after(1.5)), ("-3s", after(0.0)), ("soon", None), ("infs", None)]
        {
            assert_eq!(reset(body(delay).as_bytes()), expected, "{delay}");
        }
        assert_eq!(reset(b"{}"), None);
    }
}

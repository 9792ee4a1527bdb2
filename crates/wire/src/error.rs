//! JSON-RPC errors with ACP's codes, and how a decoding failure is told without repeating the input.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The number of an error. ACP's own are constants here; any other number survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The line is not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a request.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist or was not offered.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The params do not fit the method.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// The user has to authenticate first.
    pub const AUTH_REQUIRED: Self = Self(-32000);
    /// A session, document, message or file is not there.
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// Mid-turn input came too late or at the wrong time.
    pub const INJECT_PRECONDITION: Self = Self(-32010);
    /// The request was cancelled.
    pub const REQUEST_CANCELLED: Self = Self(-32800);
}

/// The `error` member of a response.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Error {
    /// What kind of error.
    pub code: ErrorCode,
    /// One sentence for a person.
    pub message: String,
    /// More for a program, kept as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl Error {
    /// An error with this code and message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// -32700.
    pub fn parse_error(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::PARSE_ERROR, message)
    }

    /// -32600.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    /// -32601, naming the method.
    pub fn method_not_found(method: &str) -> Self {
        let shown: String = method.chars().filter(|c| !c.is_control()).take(100).collect();
        Self::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {shown}"))
    }

    /// -32602.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// -32603.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, message)
    }

    /// -32000 with `data.reason: "auth_required"`.
    pub fn auth_required() -> Self {
        Self::new(ErrorCode::AUTH_REQUIRED, "Authentication required").reason("auth_required")
    }

    /// -32002 with the given `data.reason`.
    pub fn not_found(reason: &str) -> Self {
        Self::new(ErrorCode::RESOURCE_NOT_FOUND, "Resource not found").reason(reason)
    }

    /// -32010 with the given `data.reason`.
    pub fn inject_precondition(reason: &str) -> Self {
        Self::new(ErrorCode::INJECT_PRECONDITION, "Inject precondition failed").reason(reason)
    }

    /// -32800.
    pub fn cancelled() -> Self {
        Self::new(ErrorCode::REQUEST_CANCELLED, "Request cancelled")
    }

    /// The same error with `data`; left out if it cannot be written as JSON.
    pub fn data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// The same error with `data.reason`.
    pub fn reason(self, reason: &str) -> Self {
        self.data(&serde_json::json!({ "reason": reason }))
    }

    /// `data.reason`, if there is one.
    pub fn get_reason(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Data {
            reason: String,
        }
        serde_json::from_str::<Data>(self.data.as_ref()?.get()).ok().map(|data| data.reason)
    }

    /// -32602 that says what was expected, for params that do not decode.
    pub fn bad_params(method: &str, error: &serde_json::Error) -> Self {
        Self::invalid_params(format!("Invalid params for {method}: {}", expectation(error)))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code.0)
    }
}

impl std::error::Error for Error {}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        let data = |error: &Self| error.data.as_ref().map(|data| data.get().to_owned());
        self.code == other.code && self.message == other.message && data(self) == data(other)
    }
}

impl Eq for Error {}

impl std::hash::Hash for Error {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.code, &self.message, self.data.as_ref().map(|data| data.get())).hash(state);
    }
}

/// What a decoder expected and where, without the part of its message that quotes the input.
pub fn expectation(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!("at column {}", error.column());
    // Names of missing and duplicate fields are those of our own types.
    if let Some(rest) = message.strip_prefix("missing field `")
        && let Some((field, _)) = rest.split_once('`')
    {
        return format!("missing field `{field}`");
    }
    if message.starts_with("recursion limit exceeded") {
        return format!("nested too deeply {place}");
    }
    // "invalid type: string "…", expected u32 at line 1 column 7": what follows the last `expected` is ours.
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => {
            let expected = expected.rsplit_once(" at line ").map_or(expected, |(head, _)| head);
            format!("expected {expected} {place}")
        }
        None => format!("not of the expected shape {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only decoded, to see it fail")]
    struct Params {
        line: u32,
        kind: Kind,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Full,
        Incremental,
    }

    #[test]
    fn expectations_do_not_quote_the_input() {
        let check = |text: &str, expected: &str| {
            let error = serde_json::from_str::<Params>(text).unwrap_err();
            assert_eq!(expectation(&error), expected);
        };
        check(r#"{"line":"sk-secret, expected"}"#, "expected u32 at column 29");
        check(r#"{"kind":"full"}"#, "missing field `line`");
        check(r#"{"line":1,"kind":"sk-secret"}"#, "expected `full` or `incremental` at column 28");
        check(r#"{"line":-5}"#, "expected u32 at column 10");
        check("[]", "expected struct Params with 2 elements at column 2");
    }

    #[test]
    fn reasons_are_read_back() {
        assert_eq!(Error::auth_required().get_reason().as_deref(), Some("auth_required"));
        assert_eq!(Error::cancelled().get_reason(), None);
    }

    #[test]
    fn the_method_is_named_but_not_without_end() {
        assert_eq!(Error::method_not_found("a/b\n").message, "Method not found: a/b");
        assert!(Error::method_not_found(&"x".repeat(10_000)).message.len() < 200);
    }

    #[test]
    fn data_survives_as_it_came() {
        let text = r#"{"code":-32099,"message":"m","data":{"b":1.50,"a":[]}}"#;
        let error: Error = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&error).unwrap(), text);
        assert_eq!(json!(error.code), json!(-32099));
    }
}

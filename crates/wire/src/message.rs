//! The JSON-RPC 2.0 envelope, read without building a tree and written without one.
//!
//! A frame is one line of text. Its `id`, `method`, `params`, `result` and `error` are found by one pass over the
//! text and kept as slices of it, so that a relay can forward what it does not understand byte for byte.
//!
//! Decisions where JSON-RPC is silent:
//! - A member of the envelope that appears twice makes the message invalid (-32600): which of the two counts
//!   differs between parsers, and a relay must not read another message than the program behind it. Duplicate
//!   keys inside `params`, `result` or `error` are not looked at and pass unchanged.
//! - `"params": null` is the same as no params. Params that are neither object nor array are invalid (-32600).
//! - A request or notification must say `"jsonrpc": "2.0"`; a response may leave it out, so that a caller is not
//!   left waiting.
//! - A response with both a `result` and a non-null `error` is an error.

use std::{fmt, ops::Range};

use bytestring::ByteString;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    Error, Id, RawJson,
    id::MAX_ID,
    raw::{ObjectKey, span_in},
};

/// How many messages one batch may hold.
pub const MAX_BATCH: usize = 1_000;

/// One message and the frame it came in.
#[derive(Debug, Clone)]
pub struct Message {
    frame: ByteString,
    /// Where the id stands in the frame; empty for a notification.
    id_span: Range<usize>,
    /// What it says.
    pub body: MessageBody,
}

/// What a message says.
#[derive(Debug, Clone)]
pub enum MessageBody {
    /// Wants an answer under `id`.
    Request {
        /// The id to answer under.
        id: Id,
        /// What is asked for.
        method: ByteString,
        /// The details, an object or an array.
        params: Option<RawJson>,
    },
    /// Wants no answer.
    Notification {
        /// What is told.
        method: ByteString,
        /// The details, an object or an array.
        params: Option<RawJson>,
    },
    /// Answers the request `id`.
    Response {
        /// The id of the request.
        id: Id,
        /// The `result` or the `error` member.
        outcome: Result<RawJson, RawJson>,
    },
}

/// A message that cannot be taken.
#[derive(Debug, Clone)]
pub struct InvalidMessage {
    /// The id to answer under, or `None` if it is to be answered under `null`.
    pub id: Option<Id>,
    /// What is wrong. Never quotes the input.
    pub error: Error,
    /// Whether it looks like a response: those are never answered, or two peers could answer each other forever.
    pub is_response: bool,
}

/// What one frame holds.
#[derive(Debug, Clone)]
pub enum ParsedFrame {
    /// One message.
    Single(Result<Message, InvalidMessage>),
    /// Several messages, to be answered together.
    Batch(Vec<Result<Message, InvalidMessage>>),
}

impl ParsedFrame {
    /// Reads one frame.
    pub fn from_frame(frame: ByteString) -> Self {
        if frame.trim_start().starts_with('[') { parse_batch(&frame) } else { Self::Single(parse_one(frame)) }
    }

    /// Reads one frame that may not be UTF-8.
    pub fn from_bytes(frame: bytes::Bytes) -> Self {
        match ByteString::try_from(frame) {
            Ok(frame) => Self::from_frame(frame),
            Err(_) => Self::Single(Err(InvalidMessage::parse("the line is not valid UTF-8"))),
        }
    }
}

impl InvalidMessage {
    fn parse(what: impl Into<String>) -> Self {
        Self {
            id: None,
            error: Error::parse_error(format!("Parse error: {}", what.into())),
            is_response: false,
        }
    }

    fn request(id: Option<Id>, what: impl Into<String>) -> Self {
        let error = Error::invalid_request(format!("Invalid request: {}", what.into()));
        Self { id, error, is_response: false }
    }
}

/// Two are the same if they were read from the same text.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.frame == other.frame
    }
}

impl Eq for Message {}

impl std::hash::Hash for Message {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.frame.hash(state);
    }
}

impl Message {
    /// The text the message came in.
    pub fn frame(&self) -> &ByteString {
        &self.frame
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<&ByteString> {
        match &self.body {
            MessageBody::Request { method, .. } | MessageBody::Notification { method, .. } => Some(method),
            MessageBody::Response { .. } => None,
        }
    }

    /// The params of a request or notification.
    pub fn params(&self) -> Option<&RawJson> {
        match &self.body {
            MessageBody::Request { params, .. } | MessageBody::Notification { params, .. } => params.as_ref(),
            MessageBody::Response { .. } => None,
        }
    }

    /// The frame with another id and not a byte changed elsewhere.
    pub fn frame_with_id(&self, id: &Id) -> Vec<u8> {
        let frame = self.frame.as_bytes();
        let mut out = Vec::with_capacity(frame.len() + 20);
        out.extend_from_slice(&frame[..self.id_span.start]);
        if !self.id_span.is_empty() {
            id.write(&mut out);
        }
        out.extend_from_slice(&frame[self.id_span.end..]);
        out
    }
}

fn parse_one(frame: ByteString) -> Result<Message, InvalidMessage> {
    let unreadable = |error: serde_json::Error| InvalidMessage::parse(syntax(&error, &frame));
    if !frame.trim_start().starts_with('{') {
        serde_json::from_str::<&RawValue>(&frame).map_err(unreadable)?;
        return Err(InvalidMessage::request(None, "a message must be an object"));
    }
    let envelope: Envelope<'_> = serde_json::from_str(&frame).map_err(unreadable)?;
    let (id_span, body) = envelope.classify(&frame)?;
    Ok(Message { frame, id_span, body })
}

fn parse_batch(frame: &ByteString) -> ParsedFrame {
    let Entries(entries) = match serde_json::from_str(frame) {
        Ok(entries) => entries,
        Err(error) => return ParsedFrame::Single(Err(InvalidMessage::parse(syntax(&error, frame)))),
    };
    if entries.is_empty() {
        return ParsedFrame::Single(Err(InvalidMessage::request(
            None,
            "a batch must hold at least one message",
        )));
    }
    if entries.len() > MAX_BATCH {
        let what = format!("a batch may hold at most {MAX_BATCH} messages");
        return ParsedFrame::Single(Err(InvalidMessage::request(None, what)));
    }
    ParsedFrame::Batch(entries.iter().map(|entry| parse_one(frame.slice_ref(entry.get()))).collect())
}

/// The entries of a batch, or one more than the limit: those past it are checked but not kept.
struct Entries<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a batch")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = seq.next_element()? {
                    if entries.len() <= MAX_BATCH {
                        entries.push(entry);
                    }
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_seq(Collect)
    }
}

/// Where the text stops being JSON, without quoting it.
fn syntax(error: &serde_json::Error, frame: &str) -> String {
    match error.classify() {
        serde_json::error::Category::Eof => format!("the JSON ends early, after {} bytes", frame.len()),
        _ => format!("not JSON at column {}", error.column()),
    }
}

/// The envelope's own members as slices of the frame.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    duplicate: Option<&'static str>,
}

impl<'a> Envelope<'a> {
    fn slot(&mut self, key: &str) -> Option<(&'static str, &mut Option<&'a str>)> {
        Some(match key {
            "jsonrpc" => ("jsonrpc", &mut self.jsonrpc),
            "id" => ("id", &mut self.id),
            "method" => ("method", &mut self.method),
            "params" => ("params", &mut self.params),
            "result" => ("result", &mut self.result),
            "error" => ("error", &mut self.error),
            _ => return None,
        })
    }

    fn classify(self, frame: &ByteString) -> Result<(Range<usize>, MessageBody), InvalidMessage> {
        if self.duplicate == Some("id") {
            return Err(InvalidMessage::request(None, "the member `id` appears twice"));
        }
        let raw = |text: &str| RawJson::checked(frame.slice_ref(text));
        if self.id.is_some_and(|text| text.len() > MAX_ID) {
            return Err(self.invalid(None, format!("`id` is longer than {MAX_ID} bytes")));
        }
        let id = match self.id {
            Some(text) => match Id::from_json(&raw(text)) {
                Some(id) => Some(id),
                None => return Err(InvalidMessage::request(None, "`id` must be a number, a string or null")),
            },
            None => None,
        };
        let id_span = self.id.map_or(0..0, |text| span_in(frame, text));
        if let Some(member) = self.duplicate {
            return Err(self.invalid(id, format!("the member `{member}` appears twice")));
        }
        if let Some(method) = self.method {
            let body = self.call(id, method, frame)?;
            return Ok((id_span, body));
        }
        let outcome = match (self.result, self.error.filter(|error| *error != "null")) {
            (_, Some(error)) => Err(raw(error)),
            (Some(result), None) => Ok(raw(result)),
            (None, None) => {
                return Err(self.invalid(id, "neither `method` nor `result` nor `error` is there"));
            }
        };
        match id {
            Some(id) => Ok((id_span, MessageBody::Response { id, outcome })),
            None => Err(self.invalid(None, "a response must have an `id`")),
        }
    }

    fn call(&self, id: Option<Id>, method: &str, frame: &ByteString) -> Result<MessageBody, InvalidMessage> {
        if self.jsonrpc != Some("\"2.0\"") {
            return Err(self.invalid(id, "`jsonrpc` must be \"2.0\""));
        }
        if self.result.is_some() || self.error.is_some() {
            return Err(self.invalid(id, "a message with `method` must have neither `result` nor `error`"));
        }
        let Some(method) = string_slice(frame, method) else {
            return Err(self.invalid(id, "`method` must be a string"));
        };
        let params = match self.params.filter(|params| *params != "null") {
            Some(text) if text.starts_with(['{', '[']) => Some(RawJson::checked(frame.slice_ref(text))),
            Some(_) => return Err(self.invalid(id, "`params` must be an object or an array")),
            None => None,
        };
        Ok(match id {
            Some(id) => MessageBody::Request { id, method, params },
            None => MessageBody::Notification { method, params },
        })
    }

    fn invalid(&self, id: Option<Id>, what: impl Into<String>) -> InvalidMessage {
        let is_response = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        InvalidMessage { is_response, ..InvalidMessage::request(id, what) }
    }
}

/// The content of a JSON string: a slice of the frame unless it has escapes.
fn string_slice(frame: &ByteString, json: &str) -> Option<ByteString> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str::<String>(json).ok().map(ByteString::from);
    }
    Some(frame.slice_ref(inner))
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(ObjectKey(key)) = map.next_key()? {
            let value = map.next_value::<&RawValue>()?.get();
            let Some((name, slot)) = envelope.slot(&key) else { continue };
            if slot.replace(value).is_some() {
                envelope.duplicate.get_or_insert(name);
            }
        }
        Ok(envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(text: &str) -> Result<Message, InvalidMessage> {
        match ParsedFrame::from_frame(text.to_owned().into()) {
            ParsedFrame::Single(single) => single,
            ParsedFrame::Batch(_) => panic!("not a batch"),
        }
    }

    /// One line per message: what it was taken for.
    fn describe(taken: &Result<Message, InvalidMessage>) -> String {
        let shown =
            |json: &Option<RawJson>| json.as_ref().map_or("-".into(), |json| json.as_str().to_owned());
        match taken {
            Ok(message) => match &message.body {
                MessageBody::Request { id, method, params } => {
                    format!("request {id} {method} {}", shown(params))
                }
                MessageBody::Notification { method, params } => {
                    format!("notification {method} {}", shown(params))
                }
                MessageBody::Response { id, outcome: Ok(result) } => format!("result {id} {result:?}"),
                MessageBody::Response { id, outcome: Err(error) } => format!("error {id} {error:?}"),
            },
            Err(invalid) => {
                let id = invalid.id.as_ref().map_or("null".into(), ToString::to_string);
                let unanswered = if invalid.is_response { " (response)" } else { "" };
                format!("{} {id}: {}{unanswered}", invalid.error.code.0, invalid.error.message)
            }
        }
    }

    #[test]
    fn messages_are_told_apart() {
        let check = |text: &str, expected: &str| assert_eq!(describe(&single(text)), expected, "{text}");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a": 1.0}}"#, r#"request 1 m {"a": 1.0}"#);
        check(
            r#" { "params" : [ ] , "method":"m\u002f","id" : "x", "jsonrpc":"2.0", "z":{} } "#,
            r#"request "x" m/ [ ]"#,
        );
        check(r#"{"jsonrpc":"2.0","method":"m","params":null}"#, "notification m -");
        check(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "request null m -");
        check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null");
        check(r#"{"id":1,"result":{},"error":null}"#, "result 1 {}");
        check(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, "error 1 {}");
        check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#, r#"error null {"code":1}"#);
        check(r#"{"jsonrpc":"2.0","\u0069d":5,"method":"m"}"#, "request 5 m -");
    }

    #[test]
    fn invalid_messages_say_why_and_never_what() {
        let check = |text: &str, expected: &str| assert_eq!(describe(&single(text)), expected, "{text}");
        check("{", "-32700 null: Parse error: the JSON ends early, after 1 bytes");
        check("sk-secret", "-32700 null: Parse error: not JSON at column 1");
        check("{} x", "-32700 null: Parse error: not JSON at column 4");
        check("1", "-32600 null: Invalid request: a message must be an object");
        check("null", "-32600 null: Invalid request: a message must be an object");
        check("{}", "-32600 null: Invalid request: neither `method` nor `result` nor `error` is there");
        check(r#"{"id":1,"method":"m"}"#, "-32600 1: Invalid request: `jsonrpc` must be \"2.0\"");
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":3}"#,
            "-32600 1: Invalid request: `method` must be a string",
        );
        let params = "-32600 1: Invalid request: `params` must be an object or an array";
        check(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}"#, params);
        let id = "-32600 null: Invalid request: `id` must be a number, a string or null";
        check(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, id);
        check(
            r#"{"jsonrpc":"2.0","result":1}"#,
            "-32600 null: Invalid request: a response must have an `id` (response)",
        );
    }

    #[test]
    fn duplicate_members_of_the_envelope_are_refused() {
        let check = |text: &str, expected: &str| {
            assert_eq!(describe(&single(text)), format!("-32600 {expected} appears twice"), "{text}");
        };
        check(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, "null: Invalid request: the member `id`");
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}"#,
            "1: Invalid request: the member `method`",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"m","\u006dethod":"n"}"#,
            "1: Invalid request: the member `method`",
        );
        let inside = single(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":2}}"#);
        assert_eq!(describe(&inside), r#"request 1 m {"a":1,"a":2}"#);
    }

    #[test]
    fn batches_are_taken_entry_by_entry() {
        let ParsedFrame::Batch(entries) =
            ParsedFrame::from_frame(r#" [{"jsonrpc":"2.0","method":"m"}, 1 ,{"id":2,"result":3}]"#.into())
        else {
            panic!("a batch")
        };
        let entries: Vec<_> = entries.iter().map(describe).collect();
        assert_eq!(entries[0], "notification m -");
        assert!(entries[1].starts_with("-32600 null"));
        assert_eq!(entries[2], "result 2 3");
        assert!(describe(&single("[]")).starts_with("-32600 null"));
        assert!(describe(&single("[1,")).starts_with("-32700 null"));
        let many = format!("[{}1]", "1,".repeat(MAX_BATCH));
        assert!(describe(&single(&many)).ends_with("at most 1000 messages"));
    }

    #[test]
    fn deep_nesting_is_only_text() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let message = single(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{deep}}}"#));
        assert!(describe(&message).starts_with("request 1 m [[["));
    }

    #[test]
    fn another_id_changes_nothing_else() {
        let text = r#"{ "jsonrpc":"2.0", "x":1.50, "id" : "a" ,"method":"m", "params":{ } }"#;
        let frame = single(text).unwrap().frame_with_id(&Id::from(7));
        assert_eq!(String::from_utf8(frame).unwrap(), text.replace("\"a\"", "7"));
    }

    #[test]
    fn invalid_utf8_is_a_parse_error() {
        let ParsedFrame::Single(taken) =
            ParsedFrame::from_bytes(bytes::Bytes::from_static(b"{\"a\":\"\xff\"}"))
        else {
            panic!("not a batch")
        };
        assert_eq!(describe(&taken), "-32700 null: Parse error: the line is not valid UTF-8");
    }
}

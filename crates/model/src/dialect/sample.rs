//! What the tests of all dialects have in common: a conversation with everything in it, and answers cut anywhere.

use std::fmt::Write;

use nudge_wire::RawJson;
use serde_json::{Value, json};

use super::{ApiDialect, ProviderFault, StreamFault, signer};
use crate::{
    AnswerOptions, AnswerPart, AnswerPiece, ChatMessage, ModelRequest, SignedReasoning, ThinkingLevel,
    ToolCall, ToolSpec,
};

/// The model that is asked.
pub(crate) const MODEL: &str = "m";

pub(crate) fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("a value is JSON")
}

fn user(content: &Value, steer: bool) -> ChatMessage {
    ChatMessage::User { text: String::new(), content: raw(content), steer }
}

fn reasoning(model: String, content: &Value) -> AnswerPart {
    AnswerPart::Reasoning(SignedReasoning { model, content: raw(content) })
}

fn call(id: &str, name: &str, input: &Value) -> AnswerPart {
    AnswerPart::Call(ToolCall { id: id.to_owned(), name: name.to_owned(), input: raw(input) })
}

fn result(id: &str, output: &str, failed: bool) -> ChatMessage {
    ChatMessage::Tool { id: id.to_owned(), output: output.to_owned(), failed }
}

/// A conversation with everything in it; `own` is reasoning as this dialect keeps it.
pub(crate) fn everything(dialect: &dyn ApiDialect, own: &Value) -> ModelRequest {
    let image = json!({"type": "image", "mimeType": "image/png", "data": "aW1n"});
    let sound = json!({"type": "audio", "mimeType": "audio/x-wav", "data": "c25k"});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        input: raw(&schema),
    };
    let first = vec![
        reasoning(signer(dialect, MODEL), own),
        AnswerPart::Text("I look.".to_owned()),
        call("c1", "read", &json!({"path": "a.rs"})),
        reasoning("another/model".to_owned(), &json!("not to be sent")),
        call("c1", "no such tool", &json!("not an object")),
    ];
    ModelRequest {
        system: "Be brief.".to_owned(),
        messages: vec![
            user(&json!([{"type": "text", "text": "Look"}, image, sound]), false),
            ChatMessage::Agent { parts: Vec::new() },
            user(&json!([{"type": "text", "text": "at it."}]), false),
            ChatMessage::Agent { parts: first },
            result("c1", "fn main", false),
            result("c1", "There is none.", true),
            user(&json!([{"type": "text", "text": "Hurry."}]), true),
        ],
        tools: vec![tool("read"), tool("write")],
        options: AnswerOptions { thinking: Some(ThinkingLevel::Low), ..AnswerOptions::default() },
    }
}

/// The body of a request.
pub(crate) fn sent(dialect: &dyn ApiDialect, model: &str, request: &ModelRequest) -> Value {
    serde_json::from_slice(&dialect.chat(model, request).body).expect("the body is JSON")
}

/// What is read of an answer, written down, however it is cut: at every place in two, and byte by byte.
pub(crate) fn told(dialect: &dyn ApiDialect, body: &str) -> String {
    let body = body.as_bytes();
    let whole = read(dialect, &[body]);
    for cut in 0..body.len() {
        let (first, second) = body.split_at(cut);
        assert_eq!(read(dialect, &[first, second]), whole, "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(read(dialect, &bytes), whole, "byte by byte");
    whole
}

/// What is read of an answer that comes in these parts. What is said in a row is written as one.
pub(crate) fn read(dialect: &dyn ApiDialect, parts: &[&[u8]]) -> String {
    let mut reader = dialect.reader(MODEL);
    let (mut pieces, mut fault) = (Vec::new(), None);
    for part in parts {
        let mut more = Vec::new();
        fault = reader.read(part, &mut more).err();
        pieces.extend(more);
        if fault.is_some() {
            break;
        }
    }
    if fault.is_none() {
        let mut more = Vec::new();
        fault = reader.end(&mut more).err();
        pieces.extend(more);
    }
    let mut told = String::new();
    for piece in &pieces {
        write_piece(&mut told, piece);
    }
    match fault {
        Some(StreamFault::Provider(ProviderFault::Rejected(_))) => told + " !Rejected",
        Some(StreamFault::Provider(fault)) => told + &format!(" !{fault:?}"),
        Some(fault) => told + &format!(" !{fault:?}"),
        None => told,
    }
}

fn write_piece(told: &mut String, piece: &AnswerPiece) {
    let _ = match piece {
        AnswerPiece::Text(text) => write!(told, "{text}"),
        AnswerPiece::Thought(text) => write!(told, "({text})"),
        AnswerPiece::Reasoning(kept) => write!(told, "<{} {:?}>", kept.model, kept.content),
        AnswerPiece::ToolCall(call) => write!(told, "[{} {} {:?}]", call.id, call.name, call.input),
        AnswerPiece::Tokens(count) => write!(
            told,
            "{{{} {} {} {} {}}}",
            count.input, count.output, count.cached_read, count.cached_write, count.reasoning
        ),
        AnswerPiece::Stop(reason) => write!(told, " {reason:?}"),
        other => write!(told, "{other:?}"),
    };
}

/// A body of server-sent events.
pub(crate) fn events(events: &[Value]) -> String {
    events.iter().fold(String::new(), |body, event| body + &format!("data: {event}\n\n"))
}

/// Bytes that are like an answer: its events, whole, cut, repeated and mixed up with others.
pub(crate) fn check_any_bytes(dialect: &dyn ApiDialect, sample: &str) {
    use proptest::prelude::*;
    let lines: Vec<String> = sample.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let line = prop_oneof![
        8 => proptest::sample::select(lines),
        1 => "data: .{0,40}",
        1 => proptest::sample::select(vec!["data: [DONE]", "data: {}", "data: [{}]", ": hello", "data: null"])
            .prop_map(str::to_owned),
    ];
    let line = (line, 0..400usize, any::<bool>()).prop_map(|(line, cut, is_cut)| {
        let end = if is_cut { line.floor_char_boundary(cut) } else { line.len() };
        line[..end].to_owned()
    });
    let text = proptest::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n\n").into_bytes());
    let bytes = prop_oneof![4 => text, 1 => proptest::collection::vec(any::<u8>(), 0..200)];
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }, |(body in bytes, size in 1..64usize)| {
        let parts: Vec<&[u8]> = body.chunks(size).collect();
        let told = read(dialect, &parts);
        prop_assert_eq!(&told, &read(dialect, &[&body[..]]));
        let stops = ["EndTurn", "MaxTokens", "Refusal"].iter().map(|stop| told.matches(stop).count()).sum::<usize>();
        prop_assert!(stops <= 1, "{}", told);
        prop_assert!(stops == 1 || told.contains('!'), "{}", told);
    });
}

//! Checks that hold for the readers of all dialects, and requests to write.

use std::fmt::Write;

use nudge_wire::RawJson;
use proptest::{collection::vec, prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};

use super::{AnswerReader, StreamFault};
use crate::{
    AnswerOptions, AnswerPart, AnswerPiece, ChatMessage, ModelRequest, SignedReasoning, ThinkingLevel,
    ToolCall, ToolSpec,
};

type NewReader = fn() -> Box<dyn AnswerReader>;

/// What is read of a body that comes in these pieces, texts joined, and how it ends.
fn read(reader: NewReader, body: &[&[u8]]) -> (String, Result<(), StreamFault>) {
    let (mut reader, mut pieces) = (reader(), Vec::new());
    let mut outcome = Ok(());
    for bytes in body {
        outcome = outcome.and_then(|()| reader.read(bytes, &mut pieces));
    }
    let outcome = outcome.and_then(|()| reader.end(&mut pieces));
    let after_stop = pieces.iter().skip_while(|piece| !matches!(piece, AnswerPiece::Stop(_))).count();
    assert!(after_stop <= 1, "{pieces:?}");
    (told(&pieces), outcome)
}

/// Text as it is, thoughts in round brackets, signed reasoning in angle ones, calls in square ones, tokens behind a `#`.
fn told(pieces: &[AnswerPiece]) -> String {
    let mut told = String::new();
    for piece in pieces {
        let _ = match piece {
            AnswerPiece::Text(text) => write!(told, "{text} "),
            AnswerPiece::Thought(text) => write!(told, "({text}) "),
            AnswerPiece::Reasoning(SignedReasoning { model, content }) => {
                write!(told, "<{model} {}> ", content.as_str())
            }
            AnswerPiece::ToolCall(ToolCall { id, name, input }) => {
                write!(told, "[{id} {name} {}] ", input.as_str())
            }
            AnswerPiece::Tokens(tokens) => write!(
                told,
                "#{}/{}/{}/{}/{} ",
                tokens.input, tokens.output, tokens.cached_read, tokens.cached_write, tokens.reasoning
            ),
            AnswerPiece::Stop(reason) => write!(told, "{reason:?}"),
            other => write!(told, "{other:?} "),
        };
    }
    told.trim_end().to_owned()
}

/// Checks what is read of a body, whole, byte by byte and cut in two at every byte.
pub(crate) fn check_stream(reader: NewReader, body: &[u8], expected: &str) {
    assert_eq!(read(reader, &[body]), (expected.to_owned(), Ok(())), "{}", String::from_utf8_lossy(body));
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(read(reader, &bytes), (expected.to_owned(), Ok(())), "byte by byte");
    for cut in 0..body.len() {
        let (first, second) = body.split_at(cut);
        assert_eq!(read(reader, &[first, second]), (expected.to_owned(), Ok(())), "cut at {cut}");
    }
}

/// Checks how bodies end that do not end well.
pub(crate) fn check_faults(reader: NewReader, cases: &[(impl AsRef<[u8]>, StreamFault)]) {
    for (body, expected) in cases {
        let body = body.as_ref();
        let (_, outcome) = read(reader, &[body]);
        assert_eq!(outcome, Err(*expected), "{}", String::from_utf8_lossy(body));
    }
}

/// Reads arbitrary bytes, and a good body of which some are changed.
pub(crate) fn never_panics(reader: NewReader, good: &[u8]) {
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let cases = (vec(any::<u8>(), 0..200), changes, any::<prop::sample::Index>());
    let mut runner = TestRunner::default();
    let outcome = runner.run(&cases, |(noise, changes, cut)| {
        let mut body = good.to_vec();
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let (first, second) = body.split_at(cut.index(body.len()));
        drop(read(reader, &[first, second]));
        drop(read(reader, &[first, &noise, second]));
        drop(read(reader, &[&noise]));
        Ok(())
    });
    outcome.expect("readers take any bytes");
}

pub(crate) fn user(text: &str) -> ChatMessage {
    said(text, &json!([{"type": "text", "text": text}]))
}

fn said(text: &str, content: &Value) -> ChatMessage {
    let content = RawJson::of(content).expect("a value is JSON");
    ChatMessage::User { text: text.to_owned(), content, steer: false }
}

pub(crate) fn agent(parts: Vec<AnswerPart>) -> ChatMessage {
    ChatMessage::Agent { parts }
}

pub(crate) fn text(text: &str) -> AnswerPart {
    AnswerPart::Text(text.to_owned())
}

pub(crate) fn reasoning(model: &str, content: &Value) -> AnswerPart {
    let content = RawJson::of(content).expect("a value is JSON");
    AnswerPart::Reasoning(SignedReasoning { model: model.to_owned(), content })
}

pub(crate) fn call(id: &str, name: &str, input: &str) -> AnswerPart {
    let input = RawJson::parse(input.to_owned()).expect("the input is JSON");
    AnswerPart::Call(ToolCall { id: id.to_owned(), name: name.to_owned(), input })
}

pub(crate) fn tool(id: &str, output: &str, failed: bool) -> ChatMessage {
    ChatMessage::Tool { id: id.to_owned(), output: output.to_owned(), failed }
}

/// A request with all that there is: an image, two calls with the same id, a failed one, another model's reasoning, an answer that is
/// empty, and messages in a row.
pub(crate) fn long_request() -> ModelRequest {
    let image =
        json!([{"type": "text", "text": "look"}, {"type": "image", "mimeType": "image/png", "data": "aGk="}]);
    let answer = vec![
        reasoning("another/m", &json!({"signature": "x"})),
        text("I look."),
        call("c1", "read", r#"{"path":"a"}"#),
        call("c1", "read", "7"),
    ];
    let messages = vec![
        said("look", &image),
        agent(vec![]),
        agent(answer),
        tool("c1", "one", false),
        tool("c1", "two", true),
        user("now this"),
        user("and that"),
    ];
    ModelRequest {
        system: "Be brief.".to_owned(),
        messages,
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            input: RawJson::parse(r#"{"type":"object"}"#.to_owned()).expect("the schema is JSON"),
        }],
        options: AnswerOptions {
            thinking: Some(ThinkingLevel::Low),
            must_call: true,
            ..AnswerOptions::default()
        },
    }
}

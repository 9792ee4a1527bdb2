//! The dialects: how requests are read and how answers are said.

mod anthropic;
mod bedrock;
mod chat;
mod gemini;
mod ollama;
mod responses;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::{
    conversation::{ConversationMessage, OfferedTool},
    reply::{ReplyEnding, ReplyFailure},
    seen::{ProviderDialect, SeenRequest},
};

/// When every answer was made, as far as clients can tell.
const CREATED: u64 = 1_750_000_000;

/// One thing the model says or does.
#[derive(Debug, Clone)]
pub(crate) enum ReplyPiece {
    Text(String),
    Thought(String),
    Call { id: String, tool: OfferedTool, arguments: Value },
}

/// Says one answer: either `open`, `say` and so on, `close`, which return the bytes of a stream, or `whole`.
pub(crate) trait StreamVoice: Send {
    fn open(&mut self) -> Bytes;
    fn say(&mut self, piece: &ReplyPiece) -> Bytes;
    fn close(&mut self, ending: &ReplyEnding) -> Bytes;
    /// Reports an error within the stream, which ends with it.
    fn fail(&mut self, failure: &ReplyFailure) -> Bytes;
    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value;
}

/// The same in a dialect whose streams are text.
pub(crate) trait DialectVoice: Send {
    fn open(&mut self) -> String;
    fn say(&mut self, piece: &ReplyPiece) -> String;
    fn close(&mut self, ending: &ReplyEnding) -> String;
    /// Reports an error within the stream, which ends with it.
    fn fail(&mut self, failure: &ReplyFailure) -> String;
    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value;
}

impl<T: DialectVoice> StreamVoice for T {
    fn open(&mut self) -> Bytes {
        DialectVoice::open(self).into()
    }

    fn say(&mut self, piece: &ReplyPiece) -> Bytes {
        DialectVoice::say(self, piece).into()
    }

    fn close(&mut self, ending: &ReplyEnding) -> Bytes {
        DialectVoice::close(self, ending).into()
    }

    fn fail(&mut self, failure: &ReplyFailure) -> Bytes {
        DialectVoice::fail(self, failure).into()
    }

    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value {
        DialectVoice::whole(self, pieces, ending)
    }
}

pub(crate) fn voice(seen: &SeenRequest) -> Box<dyn StreamVoice> {
    let (number, model) = (seen.index, seen.model().to_owned());
    match seen.dialect {
        ProviderDialect::Chat => Box::new(chat::ChatVoice::new(number, model, &seen.body)),
        ProviderDialect::Responses => Box::new(responses::ResponsesVoice::new(number, model, &seen.body)),
        ProviderDialect::Anthropic => Box::new(anthropic::AnthropicVoice::new(number, model)),
        ProviderDialect::Gemini => Box::new(gemini::GeminiVoice::new(number, model, seen.is_event_stream)),
        ProviderDialect::Ollama => Box::new(ollama::OllamaVoice::new(model)),
        ProviderDialect::Bedrock => Box::new(bedrock::BedrockVoice::default()),
    }
}

pub(crate) fn messages(dialect: ProviderDialect, body: &Value) -> Vec<ConversationMessage> {
    match dialect {
        ProviderDialect::Chat => chat::messages(body),
        ProviderDialect::Responses => responses::messages(body),
        ProviderDialect::Anthropic => anthropic::messages(body),
        ProviderDialect::Gemini => gemini::messages(body),
        ProviderDialect::Ollama => ollama::messages(body),
        ProviderDialect::Bedrock => bedrock::messages(body),
    }
}

pub(crate) fn tools(dialect: ProviderDialect, body: &Value) -> Vec<OfferedTool> {
    match dialect {
        ProviderDialect::Chat => chat::tools(body),
        ProviderDialect::Responses => responses::tools(body),
        ProviderDialect::Anthropic => anthropic::tools(body),
        ProviderDialect::Gemini => gemini::tools(body),
        ProviderDialect::Ollama => ollama::tools(body),
        ProviderDialect::Bedrock => bedrock::tools(body),
    }
}

/// What a real provider would refuse, beside what all would.
pub(crate) fn fault(seen: &SeenRequest) -> Option<String> {
    match seen.dialect {
        ProviderDialect::Gemini => gemini::fault(seen.model(), &seen.body),
        _ => None,
    }
}

/// The body of an HTTP error.
pub(crate) fn error(dialect: ProviderDialect, failure: &ReplyFailure) -> Value {
    match dialect {
        ProviderDialect::Chat | ProviderDialect::Responses => chat::error(failure),
        ProviderDialect::Anthropic => anthropic::error(failure),
        ProviderDialect::Gemini => gemini::error(failure),
        ProviderDialect::Ollama => ollama::error(failure),
        ProviderDialect::Bedrock => bedrock::error(failure),
    }
}

/// The schema of an answer that has to be JSON.
pub(crate) fn wanted_schema(dialect: ProviderDialect, body: &Value) -> Option<&Value> {
    let places: &[&str] = match dialect {
        ProviderDialect::Chat => &["/response_format/json_schema/schema", "/response_format"],
        ProviderDialect::Responses => &["/text/format/schema", "/text/format"],
        ProviderDialect::Anthropic => &["/output_config/format/schema", "/output_format/schema"],
        ProviderDialect::Gemini => {
            &["/generationConfig/responseJsonSchema", "/generationConfig/responseSchema"]
        }
        ProviderDialect::Ollama => &["/format"],
        ProviderDialect::Bedrock => &[],
    };
    let is_text = |value: &Value| value["type"] == "text";
    places.iter().find_map(|place| body.pointer(place)).filter(|schema| !is_text(schema))
}

/// The smallest value that follows a schema, as far as agents' schemas go.
pub(crate) fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("object");
    match kind.to_lowercase().as_str() {
        "string" => json!("ok"),
        "integer" | "number" => json!(0),
        "boolean" => json!(false),
        "array" => json!([]),
        "null" => Value::Null,
        _ => {
            let members = schema["properties"].as_object().into_iter().flatten();
            Value::Object(
                members.map(|(name, schema)| (name.clone(), example(schema))).collect::<Map<_, _>>(),
            )
        }
    }
}

/// One server-sent event.
fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

/// Arguments as models stream them: in fragments that are no JSON by themselves.
fn fragments(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(12).map(|letters| letters.iter().collect()).collect()
}

/// What a freeform tool gets, or a function's arguments as text.
fn input_text(tool: &OfferedTool, arguments: &Value) -> String {
    match arguments {
        Value::String(text) if tool.is_freeform => text.clone(),
        arguments => arguments.to_string(),
    }
}

/// All that was said, in one.
fn joined_text(pieces: &[ReplyPiece]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        ReplyPiece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// All that was thought, in one.
fn joined_thoughts(pieces: &[ReplyPiece]) -> String {
    let thoughts = pieces.iter().filter_map(|piece| match piece {
        ReplyPiece::Thought(text) => Some(text.as_str()),
        _ => None,
    });
    thoughts.collect()
}

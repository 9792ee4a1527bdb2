//! How a request is written.

use std::borrow::Cow;

use nudge_wire::RawJson;
use serde::Serialize;

use super::{effort, read::REASONING};
use crate::{
    MediaData, ModelRequest, ToolSpec, UserPart,
    dialect::history::{CallIds, HistoryCall, HistoryPart, HistoryTurn, history, only_text},
};

/// The body of a request.
#[derive(Serialize)]
pub(super) struct CompletionRequest<'r> {
    model: &'r str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'r>>,
    messages: Vec<Message<'r>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'r> {
    r#type: &'static str,
    function: ToolFunction<'r>,
}

#[derive(Serialize)]
struct ToolFunction<'r> {
    name: &'r str,
    description: &'r str,
    parameters: &'r RawJson,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message<'r> {
    System {
        content: &'r str,
    },
    User {
        content: Content,
    },
    Assistant {
        /// Has to be there even if it is nothing.
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'r>>,
    },
    Tool {
        tool_call_id: String,
        content: &'r str,
    },
}

/// Plain text where that is all: some servers take nothing else.
#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    Text { text: String },
    ImageUrl { image_url: Address },
    InputAudio { input_audio: AudioInput },
}

#[derive(Serialize)]
struct Address {
    url: String,
}

/// A sound as `OpenAI` takes it.
#[derive(Serialize)]
pub(in crate::dialect) struct AudioInput {
    data: String,
    format: String,
}

#[derive(Serialize)]
struct Call<'r> {
    id: String,
    r#type: &'static str,
    function: CalledFunction<'r>,
}

#[derive(Serialize)]
struct CalledFunction<'r> {
    name: Cow<'r, str>,
    arguments: String,
}

/// The body of a request.
pub(super) fn body<'r>(model: &'r str, signer: &str, request: &'r ModelRequest) -> CompletionRequest<'r> {
    let must_call = request.options.must_call && !request.tools.is_empty();
    CompletionRequest {
        model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        reasoning_effort: effort(model, &request.options),
        tool_choice: must_call.then_some("required"),
        tools: request.tools.iter().map(tool).collect(),
        messages: messages(signer, request),
    }
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    let ToolSpec { name, description, input } = tool;
    Tool { r#type: "function", function: ToolFunction { name, description, parameters: input } }
}

fn messages<'r>(signer: &str, request: &'r ModelRequest) -> Vec<Message<'r>> {
    let turns = history(request, signer, CallIds::Any);
    // Reasoning is wanted back while tools are run for the same question, and by some refused later.
    let question = turns.iter().rposition(|turn| matches!(turn, HistoryTurn::User(_)));
    let system = &request.system;
    let mut messages = Vec::new();
    if !system.trim().is_empty() {
        messages.push(Message::System { content: system });
    }
    for (at, turn) in turns.into_iter().enumerate() {
        match turn {
            HistoryTurn::User(parts) => messages.push(Message::User { content: content(parts) }),
            HistoryTurn::Agent(parts) => messages.push(answer(parts, Some(at) > question)),
            HistoryTurn::Results(results) => messages.extend(
                results
                    .into_iter()
                    .map(|result| Message::Tool { tool_call_id: result.id, content: result.output }),
            ),
        }
    }
    messages
}

fn answer(parts: Vec<HistoryPart<'_>>, is_new: bool) -> Message<'_> {
    let (mut text, mut reasoning, mut tool_calls) = (String::new(), String::new(), Vec::new());
    for part in parts {
        match part {
            HistoryPart::Text(more) => text.push_str(more),
            HistoryPart::Reasoning(content) => {
                let more = content.get(&[REASONING]).and_then(|text| text.to::<String>().ok());
                reasoning += &more.unwrap_or_default();
            }
            HistoryPart::Call(call) => tool_calls.push(called(call)),
        }
    }
    let reasoning_content = Some(reasoning).filter(|reasoning| is_new && !reasoning.is_empty());
    Message::Assistant { content: Some(text).filter(|text| !text.is_empty()), reasoning_content, tool_calls }
}

fn called(call: HistoryCall<'_>) -> Call<'_> {
    let function = CalledFunction { name: call.name, arguments: call.input.as_str().to_owned() };
    Call { id: call.id, r#type: "function", function }
}

fn content(parts: Vec<UserPart>) -> Content {
    match only_text(&parts) {
        Some(text) => Content::Text(text),
        None => Content::Parts(parts.into_iter().map(part).collect()),
    }
}

fn part(part: UserPart) -> Part {
    match part {
        UserPart::Text(text) => Part::Text { text },
        UserPart::Image(image) => Part::ImageUrl { image_url: Address { url: data_url(&image) } },
        UserPart::Audio(sound) => Part::InputAudio { input_audio: AudioInput::new(sound) },
    }
}

/// An image within an address.
pub(in crate::dialect) fn data_url(MediaData { mime_type, data }: &MediaData) -> String {
    format!("data:{mime_type};base64,{data}")
}

impl AudioInput {
    pub(in crate::dialect) fn new(MediaData { mime_type, data }: MediaData) -> Self {
        let format = match mime_type.rsplit('/').next().unwrap_or_default() {
            "mpeg" | "mp3" | "mpeg3" => "mp3",
            "x-wav" | "wave" | "vnd.wave" => "wav",
            other => other,
        };
        Self { data, format: format.to_owned() }
    }
}

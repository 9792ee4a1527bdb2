//! How a request is written: a list of items.

use std::borrow::Cow;

use nudge_wire::RawJson;
use serde::Serialize;

use crate::{
    ModelRequest, ToolSpec, UserPart,
    dialect::{
        history::{CallIds, HistoryPart, HistoryTurn, history},
        openai::{AudioInput, data_url, effort, reasons},
    },
};

/// The body of a request.
#[derive(Serialize)]
pub(super) struct ResponseRequest<'r> {
    model: &'r str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'r>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'r str,
    input: Vec<Item<'r>>,
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    summary: &'static str,
}

#[derive(Serialize)]
struct Tool<'r> {
    r#type: &'static str,
    name: &'r str,
    description: &'r str,
    parameters: &'r RawJson,
    /// If it were, the schemas of tools would have to be of a narrower kind.
    strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'r> {
    Message {
        role: &'static str,
        content: Vec<Part<'r>>,
    },
    FunctionCall {
        call_id: String,
        name: Cow<'r, str>,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: String,
        output: &'r str,
    },
    /// As it came.
    #[serde(untagged)]
    Reasoning(&'r RawJson),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'r> {
    InputText { text: String },
    InputImage { image_url: String },
    InputAudio { input_audio: AudioInput },
    OutputText { text: &'r str },
}

/// The body of a request.
pub(super) fn body<'r>(model: &'r str, signer: &str, request: &'r ModelRequest) -> ResponseRequest<'r> {
    let options = &request.options;
    let effort = effort(model, options);
    // A model that does not reason refuses to be asked for it.
    let reasons = !options.without_reasoning && (effort.is_some() || reasons(model));
    ResponseRequest {
        model,
        stream: true,
        store: false,
        include: if reasons { vec!["reasoning.encrypted_content"] } else { Vec::new() },
        reasoning: reasons.then_some(Reasoning { effort, summary: "auto" }),
        tool_choice: (options.must_call && !request.tools.is_empty()).then_some("required"),
        tools: request.tools.iter().map(tool).collect(),
        instructions: &request.system,
        input: history(request, signer, CallIds::Plain).into_iter().flat_map(items).collect(),
    }
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    let ToolSpec { name, description, input } = tool;
    Tool { r#type: "function", name, description, parameters: input, strict: false }
}

fn items(turn: HistoryTurn<'_>) -> Vec<Item<'_>> {
    match turn {
        HistoryTurn::User(parts) => {
            vec![Item::Message { role: "user", content: parts.into_iter().map(user_part).collect() }]
        }
        HistoryTurn::Agent(parts) => parts.into_iter().map(answer_item).collect(),
        HistoryTurn::Results(results) => {
            let outputs = results.into_iter();
            outputs
                .map(|result| Item::FunctionCallOutput { call_id: result.id, output: result.output })
                .collect()
        }
    }
}

fn user_part<'r>(part: UserPart) -> Part<'r> {
    match part {
        UserPart::Text(text) => Part::InputText { text },
        UserPart::Image(image) => Part::InputImage { image_url: data_url(&image) },
        UserPart::Audio(sound) => Part::InputAudio { input_audio: AudioInput::new(sound) },
    }
}

fn answer_item(part: HistoryPart<'_>) -> Item<'_> {
    match part {
        HistoryPart::Text(text) => {
            Item::Message { role: "assistant", content: vec![Part::OutputText { text }] }
        }
        HistoryPart::Reasoning(content) => Item::Reasoning(content),
        HistoryPart::Call(call) => Item::FunctionCall {
            call_id: call.id,
            name: call.name,
            arguments: call.input.as_str().to_owned(),
        },
    }
}

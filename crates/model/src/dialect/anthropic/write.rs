//! How a request is written.

use std::borrow::Cow;

use nudge_wire::RawJson;
use serde::Serialize;

use super::thinking::{ThinkingField, plan};
use crate::{
    MediaData, ModelRequest, ToolSpec, UserPart,
    dialect::history::{CallIds, HistoryPart, HistoryResult, HistoryTurn, history},
};

/// The body of a request.
#[derive(Serialize)]
pub(super) struct MessageRequest<'r> {
    model: &'r str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Named>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'r>>,
    messages: Vec<Message<'r>>,
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

/// Something that has nothing but a type.
#[derive(Debug, Clone, Copy, Serialize)]
struct Named {
    r#type: &'static str,
}

/// What is before it is kept by the provider for the next request.
const CACHED: Named = Named { r#type: "ephemeral" };

#[derive(Serialize)]
struct Tool<'r> {
    name: &'r str,
    description: &'r str,
    input_schema: &'r RawJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Named>,
}

#[derive(Serialize)]
struct Message<'r> {
    role: &'static str,
    content: Vec<Block<'r>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'r> {
    Text {
        text: Cow<'r, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Named>,
    },
    Image {
        source: Source,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Named>,
    },
    ToolUse {
        id: String,
        name: Cow<'r, str>,
        input: RawJson,
    },
    ToolResult {
        tool_use_id: String,
        content: &'r str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Named>,
    },
    /// As it came.
    #[serde(untagged)]
    Reasoning(&'r RawJson),
}

#[derive(Serialize)]
struct Source {
    r#type: &'static str,
    media_type: String,
    data: String,
}

/// The body of a request.
pub(super) fn body<'r>(model: &'r str, signer: &str, request: &'r ModelRequest) -> MessageRequest<'r> {
    let turns = history(request, signer, CallIds::Plain);
    let plan = plan(model, &request.options, has_gap(&turns));
    let must_call = plan.is_forced && !request.tools.is_empty();
    MessageRequest {
        model,
        max_tokens: plan.max_tokens,
        stream: true,
        thinking: plan.thinking,
        output_config: plan.effort.map(|effort| OutputConfig { effort }),
        tool_choice: must_call.then_some(Named { r#type: "any" }),
        tools: tools(&request.tools),
        system: system(&request.system),
        messages: messages(turns),
    }
}

/// Whether the last answer called tools and does not begin with reasoning.
pub(crate) fn has_gap(turns: &[HistoryTurn<'_>]) -> bool {
    let last = turns.iter().rev().find_map(|turn| match turn {
        HistoryTurn::Agent(parts) => Some(parts),
        _ => None,
    });
    last.is_some_and(|parts| {
        let has_calls = parts.iter().any(|part| matches!(part, HistoryPart::Call(_)));
        has_calls && !matches!(parts.first(), Some(HistoryPart::Reasoning(_)))
    })
}

/// The tools change least: what comes after them may be another, and they are still in the cache.
fn tools(tools: &[ToolSpec]) -> Vec<Tool<'_>> {
    let last = tools.len().saturating_sub(1);
    let written = tools.iter().enumerate().map(|(at, tool)| Tool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.input,
        cache_control: (at == last).then_some(CACHED),
    });
    written.collect()
}

fn system(text: &str) -> Vec<Block<'_>> {
    let block = Block::Text { text: Cow::Borrowed(text), cache_control: Some(CACHED) };
    if text.trim().is_empty() { Vec::new() } else { vec![block] }
}

/// The turns as messages: results and what the user says after them are one.
fn messages(turns: Vec<HistoryTurn<'_>>) -> Vec<Message<'_>> {
    let mut messages: Vec<Message<'_>> = Vec::new();
    for turn in turns {
        let (role, content): (_, Vec<Block<'_>>) = match turn {
            HistoryTurn::User(parts) => ("user", parts.into_iter().map(user_block).collect()),
            HistoryTurn::Agent(parts) => ("assistant", parts.into_iter().map(agent_block).collect()),
            HistoryTurn::Results(results) => ("user", results.into_iter().map(result_block).collect()),
        };
        match messages.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            _ => messages.push(Message { role, content }),
        }
    }
    // What the last request ended with is found in the cache, and what this one ends with is put there.
    for message in messages.iter_mut().rev().filter(|message| message.role == "user").take(2) {
        message.content.last_mut().into_iter().for_each(Block::cache);
    }
    messages
}

impl Block<'_> {
    /// Marks it as the end of what is to be kept.
    fn cache(&mut self) {
        match self {
            Self::Text { cache_control, .. }
            | Self::Image { cache_control, .. }
            | Self::ToolResult { cache_control, .. } => *cache_control = Some(CACHED),
            Self::ToolUse { .. } | Self::Reasoning(_) => {}
        }
    }
}

fn user_block<'r>(part: UserPart) -> Block<'r> {
    match part {
        UserPart::Text(text) => Block::Text { text: text.into(), cache_control: None },
        UserPart::Image(MediaData { mime_type, data }) => {
            let source = Source { r#type: "base64", media_type: mime_type, data };
            Block::Image { source, cache_control: None }
        }
        UserPart::Audio(_) => {
            Block::Text { text: "[a sound, which this model cannot hear]".into(), cache_control: None }
        }
    }
}

fn agent_block(part: HistoryPart<'_>) -> Block<'_> {
    match part {
        HistoryPart::Text(text) => Block::Text { text: text.into(), cache_control: None },
        HistoryPart::Reasoning(content) => Block::Reasoning(content),
        HistoryPart::Call(call) => Block::ToolUse { id: call.id, name: call.name, input: call.input },
    }
}

fn result_block(result: HistoryResult<'_>) -> Block<'_> {
    Block::ToolResult {
        tool_use_id: result.id,
        content: result.output,
        is_error: result.failed,
        cache_control: None,
    }
}

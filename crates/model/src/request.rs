//! What is asked of a model.

use nudge_wire::RawJson;
use serde::Deserialize;

use crate::{SignedReasoning, ToolCall};

/// One question with all that was said before.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// What the model is and how it ought to behave.
    pub system: String,
    /// What was said, oldest first. Every tool call has its result before the next message of the user or agent.
    pub messages: Vec<ChatMessage>,
    /// What it may call.
    pub tools: Vec<ToolSpec>,
    /// How it is to answer.
    pub options: AnswerOptions,
}

/// How a model is to answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// How long it may think first; as the provider sees fit unless set.
    pub thinking: Option<ThinkingLevel>,
    /// How many tokens its context has, where it can have several.
    pub context_size: Option<u64>,
    /// Whether it has to call a tool.
    pub must_call: bool,
    /// Whether reasoning that was signed is left out, because the provider did not take it.
    pub without_reasoning: bool,
    /// What the model does not take of what was said to another one before.
    pub untaken: UntakenMedia,
}

/// What a model does not take, and is told of in words instead: with it every request would be refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UntakenMedia {
    /// Images.
    pub images: bool,
    /// Sounds.
    pub audio: bool,
}

/// How long a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThinkingLevel {
    /// Not at all.
    Off,
    /// A little.
    Low,
    /// More.
    Medium,
    /// Long.
    High,
}

impl ThinkingLevel {
    /// All of them, shortest first.
    pub const ALL: [Self; 4] = [Self::Off, Self::Low, Self::Medium, Self::High];

    /// `off`, `low`, `medium`, `high`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Something said before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatMessage {
    /// By the user.
    User {
        /// The text of it.
        text: String,
        /// All of it: an array of the protocol's content blocks.
        content: RawJson,
        /// Whether it came while a turn was running.
        steer: bool,
    },
    /// By the model: one answer, which may have been cut off, even before its first word.
    Agent {
        /// What it is made of, in the order in which it came.
        parts: Vec<AnswerPart>,
    },
    /// What came of a call.
    Tool {
        /// The model's name for the call.
        id: String,
        /// For the model to read.
        output: String,
        /// Whether it did not work.
        failed: bool,
    },
}

/// A part of an answer that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerPart {
    /// Text.
    Text(String),
    /// Reasoning that the model wants back before what follows it.
    Reasoning(SignedReasoning),
    /// A tool call.
    Call(ToolCall),
}

impl ChatMessage {
    /// The tools that a message of the model calls.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        let parts = if let Self::Agent { parts } = self { &parts[..] } else { &[] };
        parts.iter().filter_map(|part| if let AnswerPart::Call(call) = part { Some(call) } else { None })
    }

    /// The text of a message, whoever said it.
    pub fn text(&self) -> String {
        match self {
            Self::User { text, .. } | Self::Tool { output: text, .. } => text.clone(),
            Self::Agent { parts } => {
                let texts = parts.iter().filter_map(|part| match part {
                    AnswerPart::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                texts.collect()
            }
        }
    }
}

/// A tool a model may call.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: RawJson,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlashCommand {
    /// Its name without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may be written behind it.
    pub hint: Option<String>,
}

/// The text of an array of content blocks: texts as they are, embedded resources with their address, anything else
/// named in brackets.
pub fn text_of(content: &RawJson) -> String {
    let blocks: Vec<RawJson> = content.to().unwrap_or_default();
    let mut text = String::new();
    for block in &blocks {
        let part = block_text(block);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&part);
    }
    text
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block {
    r#type: String,
    text: Option<String>,
    uri: Option<String>,
    resource: Option<Resource>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resource {
    uri: String,
    text: Option<String>,
}

pub(crate) fn block_text(block: &RawJson) -> String {
    let block: Block = block.to().unwrap_or_default();
    match (block.text, block.resource, block.uri) {
        (Some(text), ..) if block.r#type == "text" => text,
        (_, Some(Resource { uri, text: Some(text) }), _) => format!("{uri}:\n{text}\n"),
        (_, Some(Resource { uri, .. }), _) | (_, _, Some(uri)) => uri,
        _ => format!("[{}]", block.r#type),
    }
}

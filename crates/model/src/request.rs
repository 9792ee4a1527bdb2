//! What is asked of a model.

use nudge_wire::RawJson;
use serde::Deserialize;

use crate::ToolCall;

/// One question with all that was said before.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// What the model is and how it ought to behave.
    pub system: String,
    /// What was said, oldest first. Every tool call has its result before the next message of the user or agent.
    pub messages: Vec<ChatMessage>,
    /// What it may call.
    pub tools: Vec<ToolSpec>,
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
        /// The text of it.
        text: String,
        /// What it called.
        calls: Vec<ToolCall>,
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

fn block_text(block: &RawJson) -> String {
    let block: Block = block.to().unwrap_or_default();
    match (block.text, block.resource, block.uri) {
        (Some(text), ..) if block.r#type == "text" => text,
        (_, Some(Resource { uri, text: Some(text) }), _) => format!("{uri}:\n{text}\n"),
        (_, Some(Resource { uri, .. }), _) | (_, _, Some(uri)) => uri,
        _ => format!("[{}]", block.r#type),
    }
}

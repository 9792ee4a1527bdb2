//! What was said so far, the same whatever the dialect it came in.

use serde_json::Value;

use crate::ProviderDialect;

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The program that asks: system prompts, instructions, developer messages.
    System,
    /// The user, or what the program says in the user's name.
    User,
    /// The model.
    Assistant,
    /// The results of tool calls.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationMessage {
    /// Who says it.
    pub role: MessageRole,
    /// Its text, whole; parts are on lines of their own. Results are not in it.
    pub text: String,
    /// The tools the model calls.
    pub calls: Vec<ConversationToolCall>,
    /// What came of earlier calls.
    pub results: Vec<ToolResult>,
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationToolCall {
    /// Its id; in Gemini's dialect, where there may be none, the tool's name.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments; a string where they are not JSON.
    pub arguments: Value,
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// What the tool said.
    pub text: String,
    /// Whether it is marked as failed, in dialects that can say so.
    pub is_error: bool,
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// The group it is in, in the responses dialect.
    pub namespace: Option<String>,
    /// Whether its input is plain text and not JSON, in the responses dialect.
    pub is_freeform: bool,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

impl ConversationMessage {
    pub(crate) fn text(role: MessageRole, text: String) -> Self {
        Self { role, text, calls: Vec::new(), results: Vec::new() }
    }

    pub(crate) fn call(call: ConversationToolCall) -> Self {
        Self { calls: vec![call], ..Self::text(MessageRole::Assistant, String::new()) }
    }

    pub(crate) fn results(results: Vec<ToolResult>) -> Self {
        Self { results, ..Self::text(MessageRole::Tool, String::new()) }
    }

    /// What a user would see as said: the text without the notes that programs wrap in tags and put beside it.
    pub fn visible(&self) -> String {
        const NOTES: &[&str] =
            &["system-reminder", "environment_context", "session_context", "user_instructions"];
        let mut text = self.text.clone();
        for note in NOTES {
            let (from, to) = (format!("<{note}>"), format!("</{note}>"));
            while let Some(start) = text.find(&from) {
                let Some(length) = text[start..].find(&to) else { break };
                text.replace_range(start..start + length + to.len(), "");
            }
        }
        text.trim().to_owned()
    }
}

impl OfferedTool {
    pub(crate) fn named(name: &str, schema: &Value) -> Self {
        Self { name: name.to_owned(), namespace: None, is_freeform: false, schema: schema.clone() }
    }
}

/// What a real provider would refuse: a result without its call, a call without its result.
pub(crate) fn fault(dialect: ProviderDialect, messages: &[ConversationMessage]) -> Option<String> {
    // Only the responses dialect lets other items stand between a call and its result.
    let is_strict = dialect != ProviderDialect::Responses;
    let mut waiting: Vec<&str> = Vec::new();
    for message in messages {
        if is_strict
            && matches!(message.role, MessageRole::User | MessageRole::Assistant)
            && !waiting.is_empty()
        {
            return Some(format!("{} tool calls are not followed by their results", waiting.len()));
        }
        waiting.extend(message.calls.iter().map(|call| call.id.as_str()));
        for result in &message.results {
            let Some(place) = waiting.iter().position(|id| *id == result.id) else {
                return Some("a tool result belongs to no tool call before it".to_owned());
            };
            waiting.swap_remove(place);
        }
    }
    (!waiting.is_empty()).then(|| format!("{} tool calls have no result", waiting.len()))
}

/// The text of a content that is a string or a list of parts; parts without text are left out.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part["text"].as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}

/// A member that is a string, or nothing.
pub(crate) fn string(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

/// The elements of a member that is a list, or none.
pub(crate) fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value[member].as_array().map(Vec::as_slice).unwrap_or_default()
}

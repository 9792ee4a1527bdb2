//! Ollama's own chat.

use serde_json::{Value, json};

use super::{DialectVoice, ReplyPiece, joined_text, joined_thoughts};
use crate::{
    conversation::{
        ConversationMessage, ConversationToolCall, MessageRole, OfferedTool, ToolResult, list, string,
    },
    reply::{FinishReason, ReplyEnding, ReplyFailure},
};

pub(super) fn messages(body: &Value) -> Vec<ConversationMessage> {
    list(body, "messages").iter().map(message).collect()
}

fn message(message: &Value) -> ConversationMessage {
    let text = string(message, "content");
    let role = match message["role"].as_str() {
        Some("system") => MessageRole::System,
        Some("assistant") => MessageRole::Assistant,
        Some("tool") => return ConversationMessage::results(vec![result(message, text)]),
        _ => MessageRole::User,
    };
    let calls = list(message, "tool_calls").iter().map(call).collect();
    ConversationMessage { calls, ..ConversationMessage::text(role, text) }
}

/// Older clients know no ids; they tell results by the names of the tools.
fn call(call: &Value) -> ConversationToolCall {
    let function = &call["function"];
    let name = string(function, "name");
    let id = call["id"].as_str().unwrap_or(&name).to_owned();
    ConversationToolCall { id, name, arguments: function["arguments"].clone() }
}

fn result(message: &Value, text: String) -> ToolResult {
    let id = message["tool_call_id"].as_str().or_else(|| message["tool_name"].as_str());
    ToolResult { id: id.unwrap_or_default().to_owned(), text, is_error: false }
}

pub(super) fn tools(body: &Value) -> Vec<OfferedTool> {
    let functions = list(body, "tools").iter().map(|tool| &tool["function"]);
    let named = functions.filter_map(|function| Some((function["name"].as_str()?, &function["parameters"])));
    named.map(|(name, schema)| OfferedTool::named(name, schema)).collect()
}

/// The body of an error, and the line for one.
pub(super) fn error(failure: &ReplyFailure) -> Value {
    json!({ "error": failure.message })
}

/// One answer.
pub(super) struct OllamaVoice {
    model: String,
}

impl OllamaVoice {
    pub(super) fn new(model: String) -> Self {
        Self { model }
    }

    fn response(&self, message: &Value, ending: Option<&ReplyEnding>) -> Value {
        let mut response = json!({
            "model": self.model, "created_at": "2025-06-15T00:00:00Z", "message": message, "done": ending.is_some(),
        });
        if let Some(ending) = ending {
            let is_short = ending.finish == FinishReason::Length;
            response["done_reason"] = json!(if is_short { "length" } else { "stop" });
            response["prompt_eval_count"] = json!(ending.input_tokens);
            response["eval_count"] = json!(ending.output_tokens);
            response["total_duration"] = json!(1_000_000);
        }
        response
    }
}

fn line(data: &Value) -> String {
    format!("{data}\n")
}

impl DialectVoice for OllamaVoice {
    fn open(&mut self) -> String {
        String::new()
    }

    fn say(&mut self, piece: &ReplyPiece) -> String {
        let message = match piece {
            ReplyPiece::Text(text) => json!({"role": "assistant", "content": text}),
            ReplyPiece::Thought(text) => json!({"role": "assistant", "content": "", "thinking": text}),
            ReplyPiece::Call { .. } => {
                json!({"role": "assistant", "content": "", "tool_calls": [called(piece, 0)]})
            }
        };
        line(&self.response(&message, None))
    }

    fn close(&mut self, ending: &ReplyEnding) -> String {
        line(&self.response(&json!({"role": "assistant", "content": ""}), Some(ending)))
    }

    fn fail(&mut self, failure: &ReplyFailure) -> String {
        line(&error(failure))
    }

    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value {
        let mut message = json!({"role": "assistant", "content": joined_text(pieces)});
        let thoughts = joined_thoughts(pieces);
        if !thoughts.is_empty() {
            message["thinking"] = json!(thoughts);
        }
        let calls = pieces.iter().filter(|piece| matches!(piece, ReplyPiece::Call { .. }));
        let calls: Vec<_> = calls.enumerate().map(|(index, call)| called(call, index)).collect();
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        self.response(&message, Some(ending))
    }
}

/// A call; anything else is none.
fn called(piece: &ReplyPiece, index: usize) -> Value {
    let ReplyPiece::Call { tool, arguments, .. } = piece else { return Value::Null };
    json!({"function": {"index": index, "name": tool.name, "arguments": arguments}})
}

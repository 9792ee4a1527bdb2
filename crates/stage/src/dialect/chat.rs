//! `OpenAI` chat completions.

use serde_json::{Value, json};

use super::{CREATED, DialectVoice, ReplyPiece, event, fragments, input_text, joined_text, joined_thoughts};
use crate::{
    conversation::{
        ConversationMessage, ConversationToolCall, MessageRole, OfferedTool, ToolResult, list, string,
        text_of,
    },
    reply::{FinishReason, ReplyEnding, ReplyFailure},
};

pub(super) fn messages(body: &Value) -> Vec<ConversationMessage> {
    list(body, "messages").iter().map(message).collect()
}

fn message(message: &Value) -> ConversationMessage {
    let text = text_of(&message["content"]);
    match message["role"].as_str() {
        Some("assistant") => {
            let calls = list(message, "tool_calls").iter().map(call).collect();
            ConversationMessage { calls, ..ConversationMessage::text(MessageRole::Assistant, text) }
        }
        Some("tool" | "function") => {
            let id = string(message, "tool_call_id");
            ConversationMessage::results(vec![ToolResult { id, text, is_error: false }])
        }
        Some("user") => ConversationMessage::text(MessageRole::User, text),
        _ => ConversationMessage::text(MessageRole::System, text),
    }
}

fn call(call: &Value) -> ConversationToolCall {
    let function = &call["function"];
    let arguments = string(function, "arguments");
    let arguments = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
    ConversationToolCall { id: string(call, "id"), name: string(function, "name"), arguments }
}

pub(super) fn tools(body: &Value) -> Vec<OfferedTool> {
    let functions = list(body, "tools").iter().map(|tool| &tool["function"]);
    let named = functions.filter_map(|function| Some((function["name"].as_str()?, &function["parameters"])));
    named.map(|(name, schema)| OfferedTool::named(name, schema)).collect()
}

/// The body of an error, here and in the responses dialect.
pub(super) fn error(failure: &ReplyFailure) -> Value {
    let (kind, code) = match failure.status {
        401 | 403 => ("invalid_request_error", Some("invalid_api_key")),
        429 => ("rate_limit_error", Some("rate_limit_exceeded")),
        500.. => ("server_error", Some("server_error")),
        _ => ("invalid_request_error", None),
    };
    json!({"error": {"message": failure.message, "type": kind, "param": null, "code": code}})
}

/// One answer.
pub(super) struct ChatVoice {
    id: String,
    model: String,
    wants_usage: bool,
    calls: usize,
}

impl ChatVoice {
    pub(super) fn new(number: usize, model: String, body: &Value) -> Self {
        let wants_usage = body["stream_options"]["include_usage"] == true;
        Self { id: format!("chatcmpl-{number}"), model, wants_usage, calls: 0 }
    }

    fn chunk(&self, choices: &Value, usage: &Value) -> String {
        let mut chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": CREATED, "model": self.model,
            "system_fingerprint": "fp_fake", "choices": choices,
        });
        if self.wants_usage {
            chunk["usage"] = usage.clone();
        }
        event(None, &chunk)
    }

    fn delta(&self, delta: &Value) -> String {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null});
        self.chunk(&json!([choice]), &Value::Null)
    }

    fn call(&mut self, id: &str, tool: &OfferedTool, arguments: &Value) -> String {
        let index = self.calls;
        self.calls += 1;
        let part = |call: Value| self.delta(&json!({"tool_calls": [call]}));
        let function = json!({"name": tool.name, "arguments": ""});
        let mut out = part(json!({"index": index, "id": id, "type": "function", "function": function}));
        for fragment in fragments(&input_text(tool, arguments)) {
            out += &part(json!({"index": index, "function": {"arguments": fragment}}));
        }
        out
    }

    fn finish_reason(&self, finish: FinishReason) -> &'static str {
        match finish {
            FinishReason::Done if self.calls > 0 => "tool_calls",
            FinishReason::Done => "stop",
            FinishReason::Length => "length",
            FinishReason::Refusal => "content_filter",
        }
    }
}

impl DialectVoice for ChatVoice {
    fn open(&mut self) -> String {
        self.delta(&json!({"role": "assistant", "content": "", "refusal": null}))
    }

    fn say(&mut self, piece: &ReplyPiece) -> String {
        match piece {
            ReplyPiece::Text(text) => self.delta(&json!({"content": text})),
            ReplyPiece::Thought(text) => self.delta(&json!({"reasoning_content": text})),
            ReplyPiece::Call { id, tool, arguments } => self.call(id, tool, arguments),
        }
    }

    fn close(&mut self, ending: &ReplyEnding) -> String {
        let reason = self.finish_reason(ending.finish);
        let last = json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": reason}]);
        let mut out = self.chunk(&last, &Value::Null);
        if self.wants_usage {
            out += &self.chunk(&json!([]), &usage(ending));
        }
        out + "data: [DONE]\n\n"
    }

    fn fail(&mut self, failure: &ReplyFailure) -> String {
        event(None, &error(failure))
    }

    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value {
        let calls = whole_calls(pieces);
        self.calls = calls.len();
        let text = joined_text(pieces);
        let content = if text.is_empty() && self.calls > 0 { Value::Null } else { json!(text) };
        let mut message = json!({"role": "assistant", "content": content, "refusal": null});
        if self.calls > 0 {
            message["tool_calls"] = json!(calls);
        }
        let thoughts = joined_thoughts(pieces);
        if !thoughts.is_empty() {
            message["reasoning_content"] = json!(thoughts);
        }
        let reason = self.finish_reason(ending.finish);
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": reason});
        json!({
            "id": self.id, "object": "chat.completion", "created": CREATED, "model": self.model,
            "system_fingerprint": "fp_fake", "choices": [choice], "usage": usage(ending),
        })
    }
}

fn whole_calls(pieces: &[ReplyPiece]) -> Vec<Value> {
    let calls = pieces.iter().filter_map(|piece| match piece {
        ReplyPiece::Call { id, tool, arguments } => {
            let function = json!({"name": tool.name, "arguments": input_text(tool, arguments)});
            Some(json!({"id": id, "type": "function", "function": function}))
        }
        _ => None,
    });
    calls.collect()
}

fn usage(ending: &ReplyEnding) -> Value {
    let ReplyEnding { input_tokens, output_tokens, .. } = ending;
    json!({
        "prompt_tokens": input_tokens, "completion_tokens": output_tokens, "total_tokens": input_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

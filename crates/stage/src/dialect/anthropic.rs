//! Anthropic messages.

use serde_json::{Value, json};

use super::{DialectVoice, ReplyPiece, event, fragments};
use crate::{
    conversation::{
        ConversationMessage, ConversationToolCall, MessageRole, OfferedTool, ToolResult, list, string,
        text_of,
    },
    reply::{FinishReason, ReplyEnding, ReplyFailure},
};

pub(super) fn messages(body: &Value) -> Vec<ConversationMessage> {
    let system = text_of(&body["system"]);
    let system = (!system.is_empty()).then(|| ConversationMessage::text(MessageRole::System, system));
    system.into_iter().chain(list(body, "messages").iter().flat_map(message)).collect()
}

/// A message of the user that has results and text is two: the results, and what the user says after them.
fn message(message: &Value) -> Vec<ConversationMessage> {
    let content = &message["content"];
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let of_kind = |kind: &'static str| parts.iter().filter(move |part| part["type"] == kind);
    let text = match content {
        Value::Array(_) => text_of(&of_kind("text").cloned().collect()),
        content => text_of(content),
    };
    if message["role"] == "assistant" {
        let calls = of_kind("tool_use").map(call).collect();
        return vec![ConversationMessage {
            calls,
            ..ConversationMessage::text(MessageRole::Assistant, text)
        }];
    }
    let results: Vec<_> = of_kind("tool_result").map(result).collect();
    let says_something = !text.is_empty() || results.is_empty();
    let results = (!results.is_empty()).then(|| ConversationMessage::results(results));
    results
        .into_iter()
        .chain(says_something.then(|| ConversationMessage::text(MessageRole::User, text)))
        .collect()
}

fn call(part: &Value) -> ConversationToolCall {
    ConversationToolCall {
        id: string(part, "id"),
        name: string(part, "name"),
        arguments: part["input"].clone(),
    }
}

fn result(part: &Value) -> ToolResult {
    let is_error = part["is_error"] == true;
    ToolResult { id: string(part, "tool_use_id"), text: text_of(&part["content"]), is_error }
}

pub(super) fn tools(body: &Value) -> Vec<OfferedTool> {
    let named =
        list(body, "tools").iter().filter_map(|tool| Some((tool["name"].as_str()?, &tool["input_schema"])));
    named.map(|(name, schema)| OfferedTool::named(name, schema)).collect()
}

/// The body of an error, and the event for one.
pub(super) fn error(failure: &ReplyFailure) -> Value {
    let kind = match failure.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": failure.message}})
}

/// One answer.
pub(super) struct AnthropicVoice {
    id: String,
    model: String,
    /// What the open content block is.
    block: Option<Block>,
    /// How many blocks were opened.
    blocks: usize,
    has_calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
}

impl AnthropicVoice {
    pub(super) fn new(number: usize, model: String) -> Self {
        Self { id: format!("msg_{number}"), model, block: None, blocks: 0, has_calls: false }
    }

    /// Opens a block, after the one before it is closed.
    fn start(&mut self, content_block: &Value) -> String {
        let closing = self.stop();
        let index = self.blocks;
        self.blocks += 1;
        let start = json!({"type": "content_block_start", "index": index, "content_block": content_block});
        closing + &named(&start)
    }

    fn delta(&self, delta: &Value) -> String {
        named(&json!({"type": "content_block_delta", "index": self.blocks - 1, "delta": delta}))
    }

    fn stop(&mut self) -> String {
        let signature = json!({"type": "signature_delta", "signature": "ZmFrZQ=="});
        match self.block.take() {
            None => String::new(),
            Some(Block::Text) => self.end(),
            Some(Block::Thinking) => self.delta(&signature) + &self.end(),
        }
    }

    fn end(&self) -> String {
        named(&json!({"type": "content_block_stop", "index": self.blocks - 1}))
    }

    fn write(&mut self, block: Block, empty: &Value, delta: &Value) -> String {
        let mut out = String::new();
        if self.block != Some(block) {
            out += &self.start(empty);
            self.block = Some(block);
        }
        out + &self.delta(delta)
    }

    fn call(&mut self, id: &str, tool: &OfferedTool, arguments: &Value) -> String {
        self.has_calls = true;
        let block = json!({"type": "tool_use", "id": id, "name": tool.name, "input": {}});
        let mut out = self.start(&block);
        let partial = |json: &str| json!({"type": "input_json_delta", "partial_json": json});
        out += &self.delta(&partial(""));
        for fragment in fragments(&arguments.to_string()) {
            out += &self.delta(&partial(&fragment));
        }
        out + &self.end()
    }

    fn stop_reason(&self, finish: FinishReason) -> &'static str {
        match finish {
            FinishReason::Done if self.has_calls => "tool_use",
            FinishReason::Done => "end_turn",
            FinishReason::Length => "max_tokens",
            FinishReason::Refusal => "refusal",
        }
    }

    fn message(&self, content: &Value, stop_reason: Option<&str>, usage: &Value) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": stop_reason, "stop_sequence": null, "usage": usage,
        })
    }
}

impl DialectVoice for AnthropicVoice {
    fn open(&mut self) -> String {
        let message = self.message(&json!([]), None, &usage(10, 1));
        named(&json!({"type": "message_start", "message": message})) + &named(&json!({"type": "ping"}))
    }

    fn say(&mut self, piece: &ReplyPiece) -> String {
        match piece {
            ReplyPiece::Text(text) => {
                let empty = json!({"type": "text", "text": ""});
                self.write(Block::Text, &empty, &json!({"type": "text_delta", "text": text}))
            }
            ReplyPiece::Thought(text) => {
                let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
                self.write(Block::Thinking, &empty, &json!({"type": "thinking_delta", "thinking": text}))
            }
            ReplyPiece::Call { id, tool, arguments } => self.call(id, tool, arguments),
        }
    }

    fn close(&mut self, ending: &ReplyEnding) -> String {
        let closing = self.stop();
        let delta = json!({"stop_reason": self.stop_reason(ending.finish), "stop_sequence": null});
        let usage = usage(ending.input_tokens, ending.output_tokens);
        let message_delta = json!({"type": "message_delta", "delta": delta, "usage": usage});
        closing + &named(&message_delta) + &named(&json!({"type": "message_stop"}))
    }

    fn fail(&mut self, failure: &ReplyFailure) -> String {
        named(&error(failure))
    }

    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value {
        let mut content: Vec<Value> = Vec::new();
        for piece in pieces {
            self.has_calls |= matches!(piece, ReplyPiece::Call { .. });
            extend(&mut content, piece);
        }
        let usage = usage(ending.input_tokens, ending.output_tokens);
        self.message(&json!(content), Some(self.stop_reason(ending.finish)), &usage)
    }
}

/// Adds a piece to the blocks; text goes on in the block it is in.
fn extend(content: &mut Vec<Value>, piece: &ReplyPiece) {
    let (member, text) = match piece {
        ReplyPiece::Text(text) => ("text", text),
        ReplyPiece::Thought(text) => ("thinking", text),
        ReplyPiece::Call { id, tool, arguments } => {
            content.push(json!({"type": "tool_use", "id": id, "name": tool.name, "input": arguments}));
            return;
        }
    };
    if content.last().is_none_or(|last| last["type"] != member) {
        let mut block = json!({"type": member, member: ""});
        if member == "thinking" {
            block["signature"] = json!("ZmFrZQ==");
        }
        content.push(block);
    }
    let last = content.last_mut().expect("a block was just seen or added");
    last[member] = json!(last[member].as_str().unwrap_or_default().to_owned() + text);
}

/// An event whose name is its type.
fn named(data: &Value) -> String {
    event(data["type"].as_str(), data)
}

fn usage(input_tokens: u64, output_tokens: u64) -> Value {
    json!({
        "input_tokens": input_tokens, "output_tokens": output_tokens,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    })
}

//! Converse of Amazon Bedrock.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{ReplyPiece, StreamVoice, fragments};
use crate::{
    conversation::{
        ConversationMessage, ConversationToolCall, MessageRole, OfferedTool, ToolResult, list, string,
        text_of,
    },
    event_stream::encode,
    reply::{FinishReason, ReplyEnding, ReplyFailure},
};

const SIGNATURE: &str = "ZmFrZQ==";

pub(super) fn messages(body: &Value) -> Vec<ConversationMessage> {
    let system = text_of(&body["system"]);
    let system = (!system.is_empty()).then(|| ConversationMessage::text(MessageRole::System, system));
    system.into_iter().chain(list(body, "messages").iter().flat_map(message)).collect()
}

/// A message of the user that has results and text is two, as in Anthropic's dialect.
fn message(message: &Value) -> Vec<ConversationMessage> {
    let blocks = list(message, "content");
    let text = text_of(&message["content"]);
    if message["role"] == "assistant" {
        let calls = blocks.iter().filter_map(|block| block.get("toolUse")).map(call).collect();
        return vec![ConversationMessage {
            calls,
            ..ConversationMessage::text(MessageRole::Assistant, text)
        }];
    }
    let results: Vec<_> = blocks.iter().filter_map(|block| block.get("toolResult")).map(result).collect();
    let says_something = !text.is_empty() || results.is_empty();
    let results = (!results.is_empty()).then(|| ConversationMessage::results(results));
    results
        .into_iter()
        .chain(says_something.then(|| ConversationMessage::text(MessageRole::User, text)))
        .collect()
}

fn call(call: &Value) -> ConversationToolCall {
    ConversationToolCall {
        id: string(call, "toolUseId"),
        name: string(call, "name"),
        arguments: call["input"].clone(),
    }
}

fn result(result: &Value) -> ToolResult {
    let is_error = result["status"] == "error";
    ToolResult { id: string(result, "toolUseId"), text: text_of(&result["content"]), is_error }
}

pub(super) fn tools(body: &Value) -> Vec<OfferedTool> {
    let specs = list(&body["toolConfig"], "tools").iter().map(|tool| &tool["toolSpec"]);
    let named = specs.filter_map(|spec| Some((spec["name"].as_str()?, &spec["inputSchema"]["json"])));
    named.map(|(name, schema)| OfferedTool::named(name, schema)).collect()
}

/// The body of an HTTP error.
pub(super) fn error(failure: &ReplyFailure) -> Value {
    let kind = match failure.status {
        400 => "ValidationException",
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 => "ModelTimeoutException",
        424 => "ModelErrorException",
        429 => "ThrottlingException",
        503 => "ServiceUnavailableException",
        _ => "InternalServerException",
    };
    json!({"__type": kind, "message": failure.message})
}

/// One answer.
#[derive(Default)]
pub(super) struct BedrockVoice {
    /// What the open block is.
    block: Option<Block>,
    /// How many blocks were opened.
    blocks: usize,
    has_calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Reasoning,
}

impl BedrockVoice {
    /// Goes on in the open block if it is one of these, else opens another.
    fn write(&mut self, block: Block, delta: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        if self.block != Some(block) {
            out.extend(self.stop());
            self.block = Some(block);
            self.blocks += 1;
        }
        out.extend(self.delta(delta));
        out
    }

    fn delta(&self, delta: &Value) -> Vec<u8> {
        event("contentBlockDelta", &json!({"contentBlockIndex": self.blocks - 1, "delta": delta}))
    }

    fn end(&self) -> Vec<u8> {
        event("contentBlockStop", &json!({"contentBlockIndex": self.blocks - 1}))
    }

    fn stop(&mut self) -> Vec<u8> {
        match self.block.take() {
            None => Vec::new(),
            Some(Block::Text) => self.end(),
            Some(Block::Reasoning) => {
                [self.delta(&json!({"reasoningContent": {"signature": SIGNATURE}})), self.end()].concat()
            }
        }
    }

    fn call(&mut self, id: &str, tool: &OfferedTool, arguments: &Value) -> Vec<u8> {
        self.has_calls = true;
        let mut out = self.stop();
        let start = json!({"toolUse": {"toolUseId": id, "name": tool.name}});
        out.extend(event("contentBlockStart", &json!({"contentBlockIndex": self.blocks, "start": start})));
        self.blocks += 1;
        for fragment in fragments(&arguments.to_string()) {
            out.extend(self.delta(&json!({"toolUse": {"input": fragment}})));
        }
        out.extend(self.end());
        out
    }

    fn stop_reason(&self, finish: FinishReason) -> &'static str {
        match finish {
            FinishReason::Done if self.has_calls => "tool_use",
            FinishReason::Done => "end_turn",
            FinishReason::Length => "max_tokens",
            FinishReason::Refusal => "content_filtered",
        }
    }
}

impl StreamVoice for BedrockVoice {
    fn open(&mut self) -> Bytes {
        event("messageStart", &json!({"role": "assistant"})).into()
    }

    fn say(&mut self, piece: &ReplyPiece) -> Bytes {
        let said = match piece {
            ReplyPiece::Text(text) => self.write(Block::Text, &json!({ "text": text })),
            ReplyPiece::Thought(text) => {
                self.write(Block::Reasoning, &json!({"reasoningContent": {"text": text}}))
            }
            ReplyPiece::Call { id, tool, arguments } => self.call(id, tool, arguments),
        };
        said.into()
    }

    fn close(&mut self, ending: &ReplyEnding) -> Bytes {
        let closing = self.stop();
        let stop = event("messageStop", &json!({"stopReason": self.stop_reason(ending.finish)}));
        let metadata = event("metadata", &json!({"usage": usage(ending), "metrics": {"latencyMs": 1}}));
        [closing, stop, metadata].concat().into()
    }

    fn fail(&mut self, failure: &ReplyFailure) -> Bytes {
        let kind = match failure.status {
            400 => "validationException",
            424 => "modelStreamErrorException",
            429 => "throttlingException",
            503 => "serviceUnavailableException",
            _ => "internalServerException",
        };
        let headers = [
            (":exception-type", kind),
            (":content-type", "application/json"),
            (":message-type", "exception"),
        ];
        encode(&headers, json!({"message": failure.message}).to_string().as_bytes()).into()
    }

    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value {
        self.has_calls = pieces.iter().any(|piece| matches!(piece, ReplyPiece::Call { .. }));
        let content: Vec<Value> = pieces.iter().map(block).collect();
        json!({
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": self.stop_reason(ending.finish), "usage": usage(ending), "metrics": {"latencyMs": 1},
        })
    }
}

fn block(piece: &ReplyPiece) -> Value {
    match piece {
        ReplyPiece::Text(text) => json!({ "text": text }),
        ReplyPiece::Thought(text) => {
            json!({"reasoningContent": {"reasoningText": {"text": text, "signature": SIGNATURE}}})
        }
        ReplyPiece::Call { id, tool, arguments } => {
            json!({"toolUse": {"toolUseId": id, "name": tool.name, "input": arguments}})
        }
    }
}

fn event(kind: &str, payload: &Value) -> Vec<u8> {
    let headers = [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
    encode(&headers, payload.to_string().as_bytes())
}

fn usage(ending: &ReplyEnding) -> Value {
    let ReplyEnding { input_tokens, output_tokens, .. } = ending;
    json!({
        "inputTokens": input_tokens, "outputTokens": output_tokens, "totalTokens": input_tokens + output_tokens,
        "cacheReadInputTokens": 0, "cacheWriteInputTokens": 0,
    })
}

//! Gemini `generateContent`.

use serde_json::{Value, json};

use super::{DialectVoice, ReplyPiece, event, joined_text, joined_thoughts};
use crate::{
    conversation::{
        ConversationMessage, ConversationToolCall, MessageRole, OfferedTool, ToolResult, list, string,
        text_of,
    },
    reply::{FinishReason, ReplyEnding, ReplyFailure},
};

pub(super) fn messages(body: &Value) -> Vec<ConversationMessage> {
    let instruction = [&body["systemInstruction"], &body["system_instruction"]];
    let system = instruction.iter().map(|instruction| text_of(&instruction["parts"]));
    let system = system
        .filter(|text| !text.is_empty())
        .map(|text| ConversationMessage::text(MessageRole::System, text));
    system.chain(list(body, "contents").iter().flat_map(message)).collect()
}

/// A message of the user that has results and text is two, as in Anthropic's dialect.
fn message(content: &Value) -> Vec<ConversationMessage> {
    let parts = list(content, "parts");
    let said: Value = parts.iter().filter(|part| part["thought"] != true).cloned().collect();
    let text = text_of(&said);
    if content["role"] == "model" {
        let calls = parts.iter().filter_map(|part| part.get("functionCall")).map(call).collect();
        return vec![ConversationMessage {
            calls,
            ..ConversationMessage::text(MessageRole::Assistant, text)
        }];
    }
    let results: Vec<_> = parts.iter().filter_map(|part| part.get("functionResponse")).map(result).collect();
    let says_something = !text.is_empty() || results.is_empty();
    let results = (!results.is_empty()).then(|| ConversationMessage::results(results));
    results
        .into_iter()
        .chain(says_something.then(|| ConversationMessage::text(MessageRole::User, text)))
        .collect()
}

/// Results are told by the names of their functions: ids are optional, and clients send them on one side only.
fn call(call: &Value) -> ConversationToolCall {
    let name = string(call, "name");
    ConversationToolCall { id: name.clone(), name, arguments: call["args"].clone() }
}

fn result(result: &Value) -> ToolResult {
    let response = &result["response"];
    let output = response.get("output").or_else(|| response.get("result")).or_else(|| response.get("error"));
    let text = match output {
        Some(Value::String(text)) => text.clone(),
        Some(output) => output.to_string(),
        None => response.to_string(),
    };
    ToolResult { id: string(result, "name"), text, is_error: response.get("error").is_some() }
}

pub(super) fn tools(body: &Value) -> Vec<OfferedTool> {
    let groups = list(body, "tools").iter();
    let functions = groups.flat_map(|group| {
        list(group, "functionDeclarations").iter().chain(list(group, "function_declarations"))
    });
    let named = functions.filter_map(|function| {
        let schema = function.get("parametersJsonSchema").unwrap_or(&function["parameters"]);
        Some((function["name"].as_str()?, schema))
    });
    named.map(|(name, schema)| OfferedTool::named(name, schema)).collect()
}

/// The body of an error, and the event for one.
pub(super) fn error(failure: &ReplyFailure) -> Value {
    let status = match failure.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "FAILED_PRECONDITION",
    };
    let retry = failure.retry_after.map(|seconds| {
        let kind = "type.googleapis.com/google.rpc.RetryInfo";
        json!([{"@type": kind, "retryDelay": format!("{seconds}s")}])
    });
    let mut error = json!({"code": failure.status, "message": failure.message, "status": status});
    if let Some(details) = retry {
        error["details"] = details;
    }
    json!({"error": error})
}

/// What the third generation refuses: since the user last spoke, an answer whose first call has not its signature.
pub(super) fn fault(model: &str, body: &Value) -> Option<String> {
    if !model.starts_with("gemini-3") {
        return None;
    }
    let contents = list(body, "contents");
    let is_said = |content: &Value| {
        content["role"] == "user"
            && list(content, "parts").iter().any(|part| part.get("functionResponse").is_none())
    };
    let since = contents.iter().rposition(is_said).map_or(0, |last| last + 1);
    let first_call = |content: &'_ Value| {
        list(content, "parts").iter().find(|part| part.get("functionCall").is_some()).cloned()
    };
    let wrong = |call: &Value| match call["thoughtSignature"].as_str() {
        Some(SIGNATURE | NO_SIGNATURE) => None,
        Some(_) => Some("Thought signature is not valid.".to_owned()),
        None => Some("Function call is missing a thought_signature in functionCall parts.".to_owned()),
    };
    contents[since..].iter().filter_map(first_call).find_map(|call| wrong(&call))
}

const SIGNATURE: &str = "ZmFrZQ==";
/// What stands for a signature where there is none.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// One answer.
pub(super) struct GeminiVoice {
    id: String,
    model: String,
    is_event_stream: bool,
    /// Whether the array has an element, where the stream is one.
    has_begun: bool,
    /// Whether there are thoughts whose signature has not been given yet.
    is_unsigned: bool,
}

impl GeminiVoice {
    pub(super) fn new(number: usize, model: String, is_event_stream: bool) -> Self {
        Self { id: format!("resp-{number}"), model, is_event_stream, has_begun: false, is_unsigned: false }
    }

    fn response(&self, parts: &Value, ending: Option<&ReplyEnding>) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Some(ending) = ending {
            candidate["finishReason"] = json!(finish_reason(ending.finish));
        }
        let (input, output) = ending.map_or((10, 1), |ending| (ending.input_tokens, ending.output_tokens));
        json!({
            "candidates": [candidate], "modelVersion": self.model, "responseId": self.id,
            "usageMetadata": {
                "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output,
            },
        })
    }

    /// What is said; thoughts are signed on the first call, or else at the end.
    fn part(&mut self, piece: &ReplyPiece) -> Value {
        let mut part = part(piece);
        match piece {
            ReplyPiece::Thought(_) => self.is_unsigned = true,
            ReplyPiece::Call { .. } => self.sign(&mut part),
            ReplyPiece::Text(_) => {}
        }
        part
    }

    fn sign(&mut self, part: &mut Value) {
        if std::mem::take(&mut self.is_unsigned) {
            part["thoughtSignature"] = json!(SIGNATURE);
        }
    }

    fn frame(&mut self, data: &Value) -> String {
        if self.is_event_stream {
            return format!("{}\r\n\r\n", event(None, data).trim_end());
        }
        let comma = if std::mem::replace(&mut self.has_begun, true) { "," } else { "[" };
        format!("{comma}{data}\r\n")
    }

    /// What ends the array, where the stream is one.
    fn bracket(&self) -> &'static str {
        if self.is_event_stream { "" } else { "]" }
    }
}

impl DialectVoice for GeminiVoice {
    fn open(&mut self) -> String {
        String::new()
    }

    fn say(&mut self, piece: &ReplyPiece) -> String {
        let part = self.part(piece);
        let response = self.response(&json!([part]), None);
        self.frame(&response)
    }

    fn close(&mut self, ending: &ReplyEnding) -> String {
        let mut last = json!({"text": ""});
        self.sign(&mut last);
        let response = self.response(&json!([last]), Some(ending));
        self.frame(&response) + self.bracket()
    }

    fn fail(&mut self, failure: &ReplyFailure) -> String {
        self.frame(&error(failure)) + self.bracket()
    }

    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value {
        let (thoughts, text) = (joined_thoughts(pieces), joined_text(pieces));
        let mut parts = Vec::new();
        if !thoughts.is_empty() {
            parts.push(self.part(&ReplyPiece::Thought(thoughts)));
        }
        let calls = pieces.iter().filter(|piece| matches!(piece, ReplyPiece::Call { .. }));
        let calls: Vec<_> = calls.map(|call| self.part(call)).collect();
        if !text.is_empty() || calls.is_empty() {
            let mut text = part(&ReplyPiece::Text(text));
            self.sign(&mut text);
            parts.push(text);
        }
        parts.extend(calls);
        self.response(&json!(parts), Some(ending))
    }
}

fn part(piece: &ReplyPiece) -> Value {
    match piece {
        ReplyPiece::Text(text) => json!({"text": text}),
        ReplyPiece::Thought(text) => json!({"text": text, "thought": true}),
        ReplyPiece::Call { id, tool, arguments } => {
            json!({"functionCall": {"id": id, "name": tool.name, "args": arguments}})
        }
    }
}

fn finish_reason(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Done => "STOP",
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::Refusal => "SAFETY",
    }
}

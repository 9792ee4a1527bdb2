//! How an answer is read: items, each added, filled and done.

use nudge_wire::RawJson;
use serde_json::{Map, Value};

use crate::{
    AnswerPiece, SignedReasoning, StopReason, TokenCount, ToolCall,
    dialect::{
        ProviderFault, StreamFault,
        call::StreamedCall,
        events::{EventAnswer, say},
        fault::{FaultWords, stream_fault},
    },
};

/// An answer as it comes.
pub(super) struct ResponseAnswer {
    /// Who encrypts its reasoning.
    signer: String,
    /// Whether the item that is being filled has said something.
    has_said: bool,
    has_refused: bool,
}

impl ResponseAnswer {
    pub(super) fn new(signer: String) -> Self {
        Self { signer, has_said: false, has_refused: false }
    }

    /// An item is whole. Calls and reasoning are taken from here, and texts that did not come before.
    fn item(&mut self, item: &Value, pieces: &mut Vec<AnswerPiece>) {
        let has_said = std::mem::take(&mut self.has_said);
        match item["type"].as_str() {
            Some("function_call") => pieces.extend(call(item).map(AnswerPiece::ToolCall)),
            Some("reasoning") => pieces.extend(self.reasoning(item)),
            Some("message") if !has_said => {
                for part in item["content"].as_array().into_iter().flatten() {
                    say(&part["text"], AnswerPiece::Text, pieces);
                }
            }
            _ => {}
        }
    }

    /// What is not encrypted cannot be sent back: nobody has kept it.
    fn reasoning(&self, item: &Value) -> Option<AnswerPiece> {
        item["encrypted_content"].as_str().filter(|content| !content.is_empty())?;
        let taken = ["type", "id", "summary", "content", "encrypted_content"];
        let members = taken.into_iter().filter(|name| !item[*name].is_null());
        let kept: Map<String, Value> = members.map(|name| (name.to_owned(), item[name].clone())).collect();
        let content = RawJson::of(&kept).expect("a value is JSON");
        Some(AnswerPiece::Reasoning(SignedReasoning { model: self.signer.clone(), content }))
    }

    /// The answer is over, as this response says.
    fn finish(&self, response: &Value, pieces: &mut Vec<AnswerPiece>) {
        if response["usage"].is_object() {
            pieces.push(AnswerPiece::Tokens(tokens(&response["usage"])));
        }
        let reason = response["incomplete_details"]["reason"].as_str();
        pieces.push(AnswerPiece::Stop(match reason {
            Some("content_filter") => StopReason::Refusal,
            _ if self.has_refused => StopReason::Refusal,
            Some("max_output_tokens" | "max_tokens") => StopReason::MaxTokens,
            _ => StopReason::EndTurn,
        }));
    }
}

impl EventAnswer for ResponseAnswer {
    fn event(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let failed = |error: &Value| Err(StreamFault::Provider(stream_fault(&FaultWords::of(error))));
        match event["type"].as_str() {
            Some("response.output_text.delta") => {
                self.has_said = true;
                say(&event["delta"], AnswerPiece::Text, pieces);
            }
            Some("response.refusal.delta") => {
                (self.has_said, self.has_refused) = (true, true);
                say(&event["delta"], AnswerPiece::Text, pieces);
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                say(&event["delta"], AnswerPiece::Thought, pieces);
            }
            Some("response.reasoning_summary_part.added") if event["summary_index"].as_u64() > Some(0) => {
                pieces.push(AnswerPiece::Thought("\n\n".to_owned()));
            }
            Some("response.output_item.done") => self.item(&event["item"], pieces),
            Some("response.completed" | "response.incomplete" | "response.done") => {
                self.finish(&event["response"], pieces);
            }
            Some("response.failed") => return failed(&event["response"]["error"]),
            Some("response.cancelled") => return Err(StreamFault::Provider(ProviderFault::Failed)),
            Some("error") => return failed(if event["error"].is_null() { event } else { &event["error"] }),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        Err(StreamFault::CutOff)
    }
}

/// A call; none if the answer ended in the middle of it.
fn call(item: &Value) -> Option<ToolCall> {
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let id = if item["call_id"].is_string() { text("call_id") } else { text("id") };
    let call = StreamedCall { id, name: text("name"), arguments: text("arguments") };
    let is_half = item["status"] == "incomplete" && !call.is_readable();
    (!is_half).then(|| call.whole())
}

fn tokens(usage: &Value) -> TokenCount {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64).unwrap_or_default();
    TokenCount {
        input: count("/input_tokens"),
        output: count("/output_tokens"),
        cached_read: count("/input_tokens_details/cached_tokens"),
        cached_write: 0,
        reasoning: count("/output_tokens_details/reasoning_tokens"),
    }
}

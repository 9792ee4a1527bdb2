//! How an answer is read: blocks, each begun, filled and ended.

use std::collections::BTreeMap;

use nudge_wire::RawJson;
use serde_json::{Value, json};

use crate::{
    AnswerPiece, SignedReasoning, StopReason, TokenCount,
    dialect::{
        StreamFault,
        call::StreamedCall,
        events::{AnswerBudget, EventAnswer, say},
        fault::{FaultWords, stream_fault},
    },
};

/// An answer as it comes.
pub(super) struct MessageAnswer {
    /// Who signs its reasoning.
    signer: String,
    /// The blocks that are not whole yet, by their place; texts need not be.
    blocks: BTreeMap<u64, OpenBlock>,
    budget: AnswerBudget,
    /// Calls that cannot be read: half of one if the answer became too long.
    unreadable: Vec<StreamedCall>,
    usage: Usage,
    stop: Option<StopReason>,
}

enum OpenBlock {
    Thinking { text: String, signature: String },
    Redacted { data: String },
    Call { call: StreamedCall, given: String },
}

#[derive(Default)]
struct Usage {
    fresh: u64,
    cached_read: u64,
    cached_write: u64,
    output: u64,
}

impl MessageAnswer {
    pub(super) fn new(signer: String) -> Self {
        Self {
            signer,
            blocks: BTreeMap::new(),
            budget: AnswerBudget::default(),
            unreadable: Vec::new(),
            usage: Usage::default(),
            stop: None,
        }
    }

    fn begin(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let block = &event["content_block"];
        let mut keep = |text: &str| {
            let mut kept = String::new();
            self.budget.add(&mut kept, text).map(|()| kept)
        };
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        let open = match block["type"].as_str() {
            Some("thinking") => {
                say(&block["thinking"], AnswerPiece::Thought, pieces);
                OpenBlock::Thinking { text: keep(text("thinking"))?, signature: keep(text("signature"))? }
            }
            Some("redacted_thinking") => OpenBlock::Redacted { data: keep(text("data"))? },
            Some("tool_use") => {
                // Some servers give all of it at the beginning.
                let given = block["input"].as_object().filter(|given| !given.is_empty());
                let given = given.map(|_| block["input"].to_string()).unwrap_or_default();
                let (id, name) = (keep(text("id"))?, keep(text("name"))?);
                let call = StreamedCall { id, name, arguments: String::new() };
                OpenBlock::Call { call, given: keep(&given)? }
            }
            _ => {
                say(&block["text"], AnswerPiece::Text, pieces);
                return Ok(());
            }
        };
        self.budget.begin()?;
        self.blocks.insert(place(event), open);
        Ok(())
    }

    fn fill(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let delta = &event["delta"];
        let more = |name: &str| delta[name].as_str().unwrap_or_default();
        say(&delta["text"], AnswerPiece::Text, pieces);
        say(&delta["thinking"], AnswerPiece::Thought, pieces);
        match self.blocks.get_mut(&place(event)) {
            Some(OpenBlock::Thinking { text, signature }) => {
                self.budget.add(text, more("thinking"))?;
                self.budget.add(signature, more("signature"))
            }
            Some(OpenBlock::Call { call, .. }) => self.budget.add(&mut call.arguments, more("partial_json")),
            Some(OpenBlock::Redacted { .. }) | None => Ok(()),
        }
    }

    fn complete(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) {
        match self.blocks.remove(&place(event)) {
            // What is not signed is not taken back.
            Some(OpenBlock::Thinking { text, signature }) if !signature.is_empty() => {
                let block = json!({"type": "thinking", "thinking": text, "signature": signature});
                self.reasoning(&block, pieces);
            }
            Some(OpenBlock::Redacted { data }) => {
                self.reasoning(&json!({"type": "redacted_thinking", "data": data}), pieces);
            }
            Some(OpenBlock::Call { mut call, given }) => {
                if call.arguments.is_empty() {
                    call.arguments = given;
                }
                if call.is_readable() {
                    pieces.push(AnswerPiece::ToolCall(call.whole()));
                } else {
                    self.unreadable.push(call);
                }
            }
            Some(OpenBlock::Thinking { .. }) | None => {}
        }
    }

    fn reasoning(&self, block: &Value, pieces: &mut Vec<AnswerPiece>) {
        let content = RawJson::of(block).expect("a value is JSON");
        pieces.push(AnswerPiece::Reasoning(SignedReasoning { model: self.signer.clone(), content }));
    }

    fn count(&mut self, usage: &Value, pieces: &mut Vec<AnswerPiece>) {
        let Usage { fresh, cached_read, cached_write, output } = &mut self.usage;
        for (kept, name) in [
            (&mut *fresh, "input_tokens"),
            (cached_read, "cache_read_input_tokens"),
            (cached_write, "cache_creation_input_tokens"),
            (output, "output_tokens"),
        ] {
            // What was said at the beginning is not always said again.
            *kept = usage[name].as_u64().filter(|count| *count > 0).unwrap_or(*kept);
        }
        if usage.is_object() {
            pieces.push(AnswerPiece::Tokens(self.usage.tokens()));
        }
    }

    fn finish(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let has_half = self.blocks.values().any(|block| matches!(block, OpenBlock::Call { .. }));
        let stop = self.stop.filter(|_| !has_half).ok_or(StreamFault::CutOff)?;
        let unreadable = std::mem::take(&mut self.unreadable).into_iter();
        if stop != StopReason::MaxTokens {
            pieces.extend(unreadable.map(|call| AnswerPiece::ToolCall(call.whole())));
        }
        pieces.push(AnswerPiece::Stop(stop));
        Ok(())
    }
}

impl Usage {
    fn tokens(&self) -> TokenCount {
        let Self { fresh, cached_read, cached_write, output } = *self;
        TokenCount {
            input: fresh.saturating_add(cached_read).saturating_add(cached_write),
            output,
            cached_read,
            cached_write,
            reasoning: 0,
        }
    }
}

impl EventAnswer for MessageAnswer {
    fn event(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        match event["type"].as_str() {
            Some("message_start") => self.count(&event["message"]["usage"], pieces),
            Some("content_block_start") => self.begin(event, pieces)?,
            Some("content_block_delta") => self.fill(event, pieces)?,
            Some("content_block_stop") => self.complete(event, pieces),
            Some("message_delta") => {
                self.stop = event["delta"]["stop_reason"].as_str().map(stop_reason).or(self.stop);
                self.count(&event["usage"], pieces);
            }
            Some("message_stop") => {
                self.stop = self.stop.or(Some(StopReason::EndTurn));
                self.finish(pieces)?;
            }
            Some("error") => return Err(StreamFault::Provider(stream_fault(&FaultWords::of(event)))),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        self.finish(pieces)
    }
}

fn place(event: &Value) -> u64 {
    event["index"].as_u64().unwrap_or_default()
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        // Also `tool_use`, `pause_turn` and `stop_sequence`: what was said stands, and it goes on with the next request.
        _ => StopReason::EndTurn,
    }
}

//! How an answer is read: chunks, each with a bit of text, of reasoning or of tool calls.

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

/// Where some servers put what the model thinks, and want it back.
pub(super) const REASONING: &str = "reasoning_content";

/// An answer as it comes.
pub(super) struct CompletionAnswer {
    /// Whose reasoning it is.
    signer: String,
    /// The provider's name for the answer.
    id: String,
    /// Reasoning that is not whole yet.
    reasoning: String,
    calls: Vec<OpenCall>,
    budget: AnswerBudget,
    has_refused: bool,
    stop: Option<StopReason>,
}

struct OpenCall {
    index: Option<u64>,
    call: StreamedCall,
}

impl CompletionAnswer {
    pub(super) fn new(signer: String) -> Self {
        Self {
            signer,
            id: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            budget: AnswerBudget::default(),
            has_refused: false,
            stop: None,
        }
    }

    fn delta(&mut self, delta: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let thought = [&delta[REASONING], &delta["reasoning"]].into_iter().find(|text| text.is_string());
        say(thought.unwrap_or(&Value::Null), AnswerPiece::Thought, pieces);
        let kept = delta[REASONING].as_str().unwrap_or_default();
        self.budget.add(&mut self.reasoning, kept)?;
        let before = pieces.len();
        say_content(&delta["content"], pieces);
        say(&delta["refusal"], AnswerPiece::Text, pieces);
        self.has_refused |= delta["refusal"].as_str().is_some_and(|text| !text.is_empty());
        if pieces.len() > before {
            self.end_reasoning(before, pieces);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.end_reasoning(pieces.len(), pieces);
            self.call(call)?;
        }
        if delta["function_call"].is_object() {
            self.call(&json!({"index": 0, "function": delta["function_call"]}))?;
        }
        Ok(())
    }

    /// What was thought is whole when something else begins, and stands before it.
    fn end_reasoning(&mut self, at: usize, pieces: &mut Vec<AnswerPiece>) {
        if self.reasoning.is_empty() {
            return;
        }
        let content = json!({REASONING: std::mem::take(&mut self.reasoning)});
        let content = RawJson::of(&content).expect("a value is JSON");
        let piece = AnswerPiece::Reasoning(SignedReasoning { model: self.signer.clone(), content });
        pieces.insert(at, piece);
    }

    /// Takes in a fragment of a call, or a whole one.
    fn call(&mut self, fragment: &Value) -> Result<(), StreamFault> {
        let (index, id) = (fragment["index"].as_u64(), fragment["id"].as_str().unwrap_or_default());
        let name = fragment["function"]["name"].as_str().unwrap_or_default();
        let at = self.place(index, id, name).unwrap_or(self.calls.len());
        if at == self.calls.len() {
            self.budget.begin()?;
            self.calls.push(OpenCall { index, call: StreamedCall::default() });
        }
        let call = &mut self.calls[at].call;
        for (kept, said) in [(&mut call.id, id), (&mut call.name, name)] {
            if kept.is_empty() {
                self.budget.add(kept, said)?;
            }
        }
        match &fragment["function"]["arguments"] {
            Value::String(more) => self.budget.add(&mut call.arguments, more),
            Value::Null => Ok(()),
            whole => self.budget.add(&mut call.arguments, &whole.to_string()),
        }
    }

    /// Which of the calls a fragment belongs to; none if it begins another.
    fn place(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        // Some servers say neither index nor id, and some say the same index for all.
        let is_other =
            |call: &StreamedCall| !name.is_empty() && !id.is_empty() && !call.id.is_empty() && call.id != id;
        let is_it = |open: &OpenCall| match index {
            Some(_) => open.index == index && !is_other(&open.call),
            None if !id.is_empty() => open.call.id == id,
            None => name.is_empty(),
        };
        self.calls.iter().rposition(is_it)
    }

    /// The calls are whole. Of an answer that became too long the last may be half of one.
    fn end_calls(&mut self, stop: StopReason, pieces: &mut Vec<AnswerPiece>) {
        for (at, OpenCall { mut call, .. }) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            if stop == StopReason::MaxTokens && !call.is_readable() {
                continue;
            }
            if call.id.is_empty() {
                let answer = if self.id.is_empty() { "call" } else { &self.id };
                call.id = format!("{answer}_{at}");
            }
            pieces.push(AnswerPiece::ToolCall(call.whole()));
        }
    }
}

impl EventAnswer for CompletionAnswer {
    fn event(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        if !event["error"].is_null() {
            return Err(StreamFault::Provider(stream_fault(&FaultWords::of(event))));
        }
        if let Some(id) = event["id"].as_str().filter(|id| id.len() <= 64) {
            id.clone_into(&mut self.id);
        }
        let choice = &event["choices"][0];
        // Some give all at once, as if no stream had been asked for.
        let delta = if choice["delta"].is_null() { &choice["message"] } else { &choice["delta"] };
        self.delta(delta, pieces)?;
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            let stop = stop_reason(reason);
            self.stop = Some(if self.has_refused { StopReason::Refusal } else { stop });
            self.end_calls(stop, pieces);
        }
        if event["usage"].is_object() {
            pieces.push(AnswerPiece::Tokens(tokens(&event["usage"])));
        }
        Ok(())
    }

    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        // Counts come behind the end of the answer, so that it is told only here.
        let stop = self.stop.ok_or(StreamFault::CutOff)?;
        self.end_calls(stop, pieces);
        pieces.push(AnswerPiece::Stop(stop));
        Ok(())
    }

    fn done(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        self.stop = self.stop.or(Some(StopReason::EndTurn));
        self.end(pieces)
    }
}

/// A text, or a list of parts with texts and thoughts.
fn say_content(content: &Value, pieces: &mut Vec<AnswerPiece>) {
    say(content, AnswerPiece::Text, pieces);
    for part in content.as_array().into_iter().flatten() {
        say(&part["text"], AnswerPiece::Text, pieces);
        for thought in part["thinking"].as_array().into_iter().flatten() {
            say(&thought["text"], AnswerPiece::Thought, pieces);
        }
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "length" | "max_tokens" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        // Also `tool_calls` and `function_call`.
        _ => StopReason::EndTurn,
    }
}

fn tokens(usage: &Value) -> TokenCount {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64);
    TokenCount {
        input: count("/prompt_tokens").unwrap_or_default(),
        output: count("/completion_tokens").unwrap_or_default(),
        cached_read: count("/prompt_tokens_details/cached_tokens")
            .or(count("/prompt_cache_hit_tokens"))
            .unwrap_or_default(),
        cached_write: 0,
        reasoning: count("/completion_tokens_details/reasoning_tokens").unwrap_or_default(),
    }
}

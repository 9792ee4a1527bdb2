//! Reads Bedrock's answers: blocks, each begun, filled and ended.

use std::collections::BTreeMap;

use nudge_wire::RawJson;
use serde_json::{Value, json};

use super::fault;
use crate::{
    AnswerPiece, SignedReasoning, StopReason, TokenCount,
    dialect::{
        AnswerReader, ProviderFault, StreamFault,
        call::StreamedCall,
        event_stream::{EventStreamFraming, EventStreamMessage},
        events::{AnswerBudget, say},
    },
};

/// Reads one answer.
pub(super) struct BedrockReader {
    framing: EventStreamFraming,
    answer: BedrockAnswer,
}

impl BedrockReader {
    pub(super) fn new(signer: String) -> Self {
        let answer = BedrockAnswer {
            signer,
            blocks: BTreeMap::new(),
            budget: AnswerBudget::default(),
            unreadable: Vec::new(),
            stop: None,
            is_over: false,
        };
        Self { framing: EventStreamFraming::default(), answer }
    }
}

impl AnswerReader for BedrockReader {
    fn read(&mut self, bytes: &[u8], pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let Self { framing, answer } = self;
        if answer.is_over {
            return Ok(());
        }
        let read = framing.read(bytes, |message| answer.message(message, pieces));
        // What comes behind the end is not looked at.
        if answer.is_over { Ok(()) } else { read }
    }

    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        if self.answer.is_over {
            return Ok(());
        }
        let stop = self.answer.stop.ok_or(StreamFault::CutOff)?;
        self.answer.end(stop, pieces);
        Ok(())
    }
}

struct BedrockAnswer {
    /// Who signs: dialect and model.
    signer: String,
    /// The blocks that are not whole yet, by their place; texts need not be.
    blocks: BTreeMap<u64, BedrockBlock>,
    budget: AnswerBudget,
    /// Calls that cannot be read: half of one if the answer became too long.
    unreadable: Vec<StreamedCall>,
    /// Why it stops. What was counted comes behind that.
    stop: Option<StopReason>,
    is_over: bool,
}

enum BedrockBlock {
    Call(StreamedCall),
    Reasoning { text: String, signature: String },
}

impl BedrockAnswer {
    fn message(
        &mut self,
        message: EventStreamMessage<'_>,
        pieces: &mut Vec<AnswerPiece>,
    ) -> Result<(), StreamFault> {
        if self.is_over {
            return Ok(());
        }
        match message.header(":message-type") {
            Some("exception") => {
                let kind = message.header(":exception-type").unwrap_or_default();
                return Err(StreamFault::Provider(fault::exception(kind, message.payload)));
            }
            Some("error") => return Err(StreamFault::Provider(ProviderFault::Failed)),
            _ => {}
        }
        let Some(kind) = message.header(":event-type") else { return Ok(()) };
        let event: Value = serde_json::from_slice(message.payload)
            .map_err(|_| StreamFault::Malformed("messages of JSON"))?;
        self.event(kind, &event, pieces)
    }

    fn event(&mut self, kind: &str, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let place = event["contentBlockIndex"].as_u64().unwrap_or_default();
        match kind {
            "contentBlockStart" => self.begin_block(place, &event["start"])?,
            "contentBlockDelta" => self.fill_block(place, &event["delta"], pieces)?,
            "contentBlockStop" => self.end_block(place, pieces),
            "messageStop" => self.stop(event["stopReason"].as_str().unwrap_or_default(), pieces)?,
            "metadata" => {
                pieces.push(AnswerPiece::Tokens(tokens(&event["usage"])));
                if let Some(stop) = self.stop {
                    self.end(stop, pieces);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin_block(&mut self, place: u64, start: &Value) -> Result<(), StreamFault> {
        let Some(call) = start.get("toolUse") else { return Ok(()) };
        let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
        self.budget.begin()?;
        let call = StreamedCall { id: text("toolUseId"), name: text("name"), arguments: String::new() };
        self.blocks.insert(place, BedrockBlock::Call(call));
        Ok(())
    }

    fn fill_block(
        &mut self,
        place: u64,
        delta: &Value,
        pieces: &mut Vec<AnswerPiece>,
    ) -> Result<(), StreamFault> {
        say(&delta["text"], AnswerPiece::Text, pieces);
        if let Some(input) = delta["toolUse"]["input"].as_str()
            && let Some(BedrockBlock::Call(call)) = self.blocks.get_mut(&place)
        {
            self.budget.add(&mut call.arguments, input)?;
        }
        if let Some(reasoning) = delta.get("reasoningContent") {
            self.fill_reasoning(place, reasoning, pieces)?;
        }
        Ok(())
    }

    fn fill_reasoning(
        &mut self,
        place: u64,
        delta: &Value,
        pieces: &mut Vec<AnswerPiece>,
    ) -> Result<(), StreamFault> {
        say(&delta["text"], AnswerPiece::Thought, pieces);
        if let Some(redacted) = delta["redactedContent"].as_str() {
            pieces.push(self.signed(&json!({ "redactedContent": redacted })));
            return Ok(());
        }
        if !self.blocks.contains_key(&place) {
            self.budget.begin()?;
            let empty = BedrockBlock::Reasoning { text: String::new(), signature: String::new() };
            self.blocks.insert(place, empty);
        }
        if let Some(BedrockBlock::Reasoning { text, signature }) = self.blocks.get_mut(&place) {
            self.budget.add(text, delta["text"].as_str().unwrap_or_default())?;
            self.budget.add(signature, delta["signature"].as_str().unwrap_or_default())?;
        }
        Ok(())
    }

    fn end_block(&mut self, place: u64, pieces: &mut Vec<AnswerPiece>) {
        match self.blocks.remove(&place) {
            Some(BedrockBlock::Call(call)) if call.is_readable() => {
                pieces.push(AnswerPiece::ToolCall(call.whole()));
            }
            Some(BedrockBlock::Call(call)) => self.unreadable.push(call),
            // What is not signed is not taken back.
            Some(BedrockBlock::Reasoning { text, signature }) if !signature.is_empty() => {
                pieces.push(self.signed(&json!({"reasoningText": {"text": text, "signature": signature}})));
            }
            Some(BedrockBlock::Reasoning { .. }) | None => {}
        }
    }

    fn stop(&mut self, reason: &str, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        for place in open {
            self.end_block(place, pieces);
        }
        let stop = match reason {
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "guardrail_intervened" | "content_filtered" | "refusal" => StopReason::Refusal,
            // The model stumbled over its own call; asked again it mostly does not.
            "malformed_model_output" | "malformed_tool_use" => {
                return Err(StreamFault::Provider(ProviderFault::Failed));
            }
            _ => StopReason::EndTurn,
        };
        if stop != StopReason::MaxTokens {
            let calls = self.unreadable.drain(..).map(StreamedCall::whole);
            pieces.extend(calls.map(AnswerPiece::ToolCall));
        }
        self.stop = Some(stop);
        Ok(())
    }

    fn end(&mut self, stop: StopReason, pieces: &mut Vec<AnswerPiece>) {
        self.is_over = true;
        pieces.push(AnswerPiece::Stop(stop));
    }

    fn signed(&self, content: &Value) -> AnswerPiece {
        let content = RawJson::of(content).expect("a value is JSON");
        AnswerPiece::Reasoning(SignedReasoning { model: self.signer.clone(), content })
    }
}

/// What was counted; tokens of the cache are beside those of the input.
fn tokens(usage: &Value) -> TokenCount {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let [fresh, cached_read, cached_write] =
        ["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"].map(count);
    TokenCount {
        input: fresh.saturating_add(cached_read).saturating_add(cached_write),
        output: count("outputTokens"),
        cached_read,
        cached_write,
        reasoning: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{
        event_stream::tests::encoded,
        stream_checks::{check_faults, check_stream, never_panics},
    };

    fn reader() -> Box<dyn AnswerReader> {
        Box::new(BedrockReader::new("bedrock/m".to_owned()))
    }

    fn body(events: &[(&str, Value)]) -> Vec<u8> {
        let message = |(kind, event): &(&str, Value)| {
            let headers =
                [(":event-type", *kind), (":content-type", "application/json"), (":message-type", "event")];
            encoded(&headers, event.to_string().as_bytes())
        };
        events.iter().flat_map(message).collect()
    }

    fn delta(place: u64, delta: &Value) -> (&'static str, Value) {
        ("contentBlockDelta", json!({"contentBlockIndex": place, "delta": delta, "p": "abc"}))
    }

    fn begin(place: u64, id: &str) -> (&'static str, Value) {
        let start = json!({"toolUse": {"toolUseId": id, "name": "read"}});
        ("contentBlockStart", json!({"contentBlockIndex": place, "start": start}))
    }

    fn end(place: u64) -> (&'static str, Value) {
        ("contentBlockStop", json!({ "contentBlockIndex": place }))
    }

    fn stop(reason: &str) -> (&'static str, Value) {
        ("messageStop", json!({ "stopReason": reason }))
    }

    fn answer() -> Vec<u8> {
        let usage = json!({"inputTokens": 5, "outputTokens": 4, "cacheReadInputTokens": 3, "cacheWriteInputTokens": 1});
        body(&[
            ("messageStart", json!({"role": "assistant"})),
            delta(0, &json!({"reasoningContent": {"text": "Hm "}})),
            delta(0, &json!({"reasoningContent": {"text": "ü."}})),
            delta(0, &json!({"reasoningContent": {"signature": "sig"}})),
            end(0),
            delta(1, &json!({"reasoningContent": {"redactedContent": "AAE="}})),
            end(1),
            delta(2, &json!({"text": "I look."})),
            end(2),
            begin(3, "c1"),
            delta(3, &json!({"toolUse": {"input": "{\"path\":"}})),
            delta(3, &json!({"toolUse": {"input": "\"a\"}"}})),
            end(3),
            begin(4, "c2"),
            end(4),
            stop("tool_use"),
            ("metadata", json!({"usage": usage, "metrics": {"latencyMs": 1}})),
        ])
    }

    #[test]
    fn answers_are_the_same_however_they_are_cut() {
        let told = r#"(Hm ) (ü.) <bedrock/m {"reasoningText":{"text":"Hm ü.","signature":"sig"}}> <bedrock/m {"redactedContent":"AAE="}> I look. [c1 read {"path":"a"}] [c2 read {}] #9/4/3/1/0 EndTurn"#;
        check_stream(reader, &[answer(), b"and nothing counts behind it".to_vec()].concat(), told);
    }

    #[test]
    fn answers_end_for_reasons() {
        let half = [begin(0, "c"), delta(0, &json!({"toolUse": {"input": "{\"a"}})), end(0)];
        for (reason, expected) in [
            ("max_tokens", "MaxTokens"),
            ("guardrail_intervened", r#"[c read "{\"a"] Refusal"#),
            ("stop_sequence", r#"[c read "{\"a"] EndTurn"#),
        ] {
            check_stream(reader, &body(&[half.as_slice(), &[stop(reason)]].concat()), expected);
        }
        // A block that was not ended is over with the answer.
        check_stream(reader, &body(&[begin(0, "c"), stop("tool_use")]), "[c read {}] EndTurn");
    }

    #[test]
    fn faults_are_told() {
        let text = body(&[delta(0, &json!({"text": "a"}))]);
        let exception = |kind: &str| {
            let headers = [(":message-type", "exception"), (":exception-type", kind)];
            encoded(&headers, br#"{"message":"Too many requests."}"#)
        };
        let cases = [
            (Vec::new(), StreamFault::CutOff),
            (text.clone(), StreamFault::CutOff),
            (answer()[..40].to_vec(), StreamFault::CutOff),
            (b"<html><body>".to_vec(), StreamFault::Malformed("messages with a right checksum")),
            (encoded(&[(":event-type", "metadata")], b"{]"), StreamFault::Malformed("messages of JSON")),
            (
                [text.clone(), exception("throttlingException")].concat(),
                StreamFault::Provider(ProviderFault::RateLimited),
            ),
            (exception("modelStreamErrorException"), StreamFault::Provider(ProviderFault::Failed)),
            (encoded(&[(":message-type", "error")], b""), StreamFault::Provider(ProviderFault::Failed)),
            (body(&[stop("malformed_tool_use")]), StreamFault::Provider(ProviderFault::Failed)),
        ];
        check_faults(reader, &cases);
    }

    #[test]
    fn any_bytes_are_read() {
        never_panics(reader, &answer());
    }
}

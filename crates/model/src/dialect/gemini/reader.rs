//! Reads Gemini's answers.

use nudge_wire::RawJson;
use serde::Deserialize;
use serde_json::Value;

use super::{fault, request::SignedPart};
use crate::{
    AnswerPiece, SignedReasoning, StopReason, TokenCount, ToolCall,
    dialect::{CallNaming, ProviderFault, StreamFault, events::EventAnswer},
};

/// An answer as far as it has come.
pub(super) struct GeminiAnswer {
    /// Who signs: dialect and model.
    signer: String,
    naming: CallNaming,
    /// Why it stops, told once what was counted is known.
    stop: Option<StopReason>,
    counted: Option<TokenCount>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiChunk {
    candidates: Option<Vec<GeminiCandidate>>,
    prompt_feedback: Option<GeminiFeedback>,
    usage_metadata: Option<GeminiUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiCandidate {
    content: Option<GeminiContent>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct GeminiContent {
    parts: Option<Vec<GeminiPart>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiPart {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<GeminiCall>,
}

#[derive(Deserialize)]
struct GeminiCall {
    id: Option<String>,
    name: String,
    args: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiFeedback {
    block_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_field_names, reason = "they are Gemini's")]
struct GeminiUsage {
    prompt_token_count: u64,
    tool_use_prompt_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
    cached_content_token_count: u64,
}

impl GeminiUsage {
    fn tokens(&self) -> TokenCount {
        TokenCount {
            input: self.prompt_token_count.saturating_add(self.tool_use_prompt_token_count),
            output: self.candidates_token_count.saturating_add(self.thoughts_token_count),
            cached_read: self.cached_content_token_count,
            cached_write: 0,
            reasoning: self.thoughts_token_count,
        }
    }
}

impl EventAnswer for GeminiAnswer {
    fn event(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let chunk =
            GeminiChunk::deserialize(event).map_err(|_| StreamFault::Malformed("a part of an answer"))?;
        if let Some(error) = &chunk.error {
            return Err(StreamFault::Provider(fault::of_error(500, error)));
        }
        let candidate = chunk.candidates.into_iter().flatten().next();
        if let Some(GeminiCandidate { content, finish_reason }) = candidate {
            let parts = content.and_then(|content| content.parts).unwrap_or_default();
            for part in parts {
                self.part(part, pieces);
            }
            if let Some(reason) = finish_reason {
                self.stop = stop_reason(&reason)?;
            }
        }
        if chunk.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
            self.stop = Some(StopReason::Refusal);
        }
        if let Some(usage) = chunk.usage_metadata {
            let counted = Some(usage.tokens());
            // Every part says it, mostly the same.
            if std::mem::replace(&mut self.counted, counted) != counted {
                pieces.extend(counted.map(AnswerPiece::Tokens));
            }
            pieces.extend(self.stop.map(AnswerPiece::Stop));
        }
        Ok(())
    }

    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let stop = self.stop.ok_or(StreamFault::CutOff)?;
        pieces.push(AnswerPiece::Stop(stop));
        Ok(())
    }
}

impl GeminiAnswer {
    pub(super) fn new(signer: String, naming: CallNaming) -> Self {
        Self { signer, naming, stop: None, counted: None }
    }

    fn part(&self, part: GeminiPart, pieces: &mut Vec<AnswerPiece>) {
        let signature = part.thought_signature.filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            pieces.extend(signature.map(|signature| self.signed(&SignedPart::Call { signature })));
            let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| self.naming.name());
            let input = call.args.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
            let input = RawJson::of(&input).expect("a value is JSON");
            pieces.push(AnswerPiece::ToolCall(ToolCall { id, name: call.name, input }));
            return;
        }
        let text = part.text.unwrap_or_default();
        let is_thought = part.thought == Some(true);
        let signed = signature.map(|signature| {
            let text = text.clone();
            if is_thought {
                SignedPart::Thought { text, signature }
            } else {
                SignedPart::Text { text, signature }
            }
        });
        pieces.extend(signed.map(|signed| self.signed(&signed)));
        if !text.is_empty() {
            pieces.push(if is_thought { AnswerPiece::Thought(text) } else { AnswerPiece::Text(text) });
        }
    }

    fn signed(&self, part: &SignedPart) -> AnswerPiece {
        let content = RawJson::of(part).expect("texts are JSON");
        AnswerPiece::Reasoning(SignedReasoning { model: self.signer.clone(), content })
    }
}

/// Why the answer is over; none if it is not.
fn stop_reason(reason: &str) -> Result<Option<StopReason>, StreamFault> {
    Ok(match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => None,
        "MAX_TOKENS" => Some(StopReason::MaxTokens),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => Some(StopReason::Refusal),
        "MISSING_THOUGHT_SIGNATURE" => return Err(StreamFault::Provider(ProviderFault::Reasoning)),
        // The model stumbled over its own call; asked again it mostly does not.
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
            return Err(StreamFault::Provider(ProviderFault::Failed));
        }
        _ => Some(StopReason::EndTurn),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{
        AnswerReader,
        events::EventAnswerReader,
        stream_checks::{check_faults, check_stream, never_panics},
    };

    fn reader() -> Box<dyn AnswerReader> {
        Box::new(EventAnswerReader::new(GeminiAnswer::new("gemini/m".to_owned(), CallNaming::seeded(7))))
    }

    fn chunk(parts: &str, more: &str) -> String {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}],\"role\":\"model\"}}{more}}}]}}\r\n\r\n"
        )
    }

    fn body(chunks: &[(&str, &str)]) -> String {
        chunks.iter().map(|(parts, more)| chunk(parts, more)).collect()
    }

    const LAST: &str = r#"data: {"candidates":[{"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,
"candidatesTokenCount":4,"thoughtsTokenCount":3,"cachedContentTokenCount":2,"totalTokenCount":16}}"#;

    #[test]
    fn answers_are_the_same_however_they_are_cut() {
        let last = LAST.replace('\n', "") + "\n\n";
        let body = body(&[
            (r#"{"text":"Hm ü.","thought":true}"#, ""),
            (r#"{"text":"I look."}"#, ""),
            (r#"{"text":"","thoughtSignature":"t"}"#, ""),
            (
                r#"{"functionCall":{"id":"c","name":"read","args":{"path":"a"}},"thoughtSignature":"s"},
                   {"functionCall":{"name":"list"}}"#
                    .replace('\n', "")
                    .as_str(),
                "",
            ),
            (r#"{"inlineData":{"mimeType":"image/png"}}"#, ""),
        ]);
        let told = r#"(Hm ü.) I look. <gemini/m {"on":"text","text":"","signature":"t"}> <gemini/m {"on":"call","signature":"s"}> [c read {"path":"a"}] [nudge_0000000000000007_0 list {}] #9/7/2/0/3 EndTurn"#;
        check_stream(reader, (body.clone() + &last).as_bytes(), told);
    }

    #[test]
    fn answers_end_for_reasons() {
        let usage = r#"}],"usageMetadata":{"promptTokenCount":1"#;
        let cases = [
            (",\"finishReason\":\"MAX_TOKENS\"", "a MaxTokens"),
            (",\"finishReason\":\"SAFETY\"", "a Refusal"),
            (",\"finishReason\":\"OTHER\"", "a EndTurn"),
        ];
        for (reason, expected) in cases {
            check_stream(reader, chunk(r#"{"text":"a"}"#, reason).as_bytes(), expected);
        }
        let blocked =
            r#"data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1}}"#;
        check_stream(reader, blocked.as_bytes(), "#1/0/0/0/0 Refusal");
        // What was counted may come behind the reason, and nothing counts behind that.
        let late =
            chunk("", ",\"finishReason\":\"STOP\"") + &chunk("", usage).replace("}]}", "}}") + "data: {]\n\n";
        check_stream(reader, late.as_bytes(), "#1/0/0/0/0 EndTurn");
    }

    #[test]
    fn faults_are_told() {
        let failed = StreamFault::Provider(ProviderFault::Failed);
        let cases = [
            (chunk(r#"{"text":"a"}"#, ""), StreamFault::CutOff),
            (String::new(), StreamFault::CutOff),
            (r#"data: {"candidates":[{"content":"#.to_owned(), StreamFault::CutOff),
            ("data: {]\n\n".to_owned(), StreamFault::Malformed("events of JSON")),
            (chunk("", ",\"finishReason\":\"MALFORMED_FUNCTION_CALL\""), failed),
            ("data: {\"error\":{\"code\":503,\"message\":\"Busy.\"}}\n\n".to_owned(), failed),
            (
                "data: {\"error\":{\"code\":429}}\n\n".to_owned(),
                StreamFault::Provider(ProviderFault::RateLimited),
            ),
        ];
        check_faults(reader, &cases);
    }

    #[test]
    fn any_bytes_are_read() {
        let seed = chunk(r#"{"text":"a","thoughtSignature":"x"},{"functionCall":{"name":"x"}}"#, "");
        never_panics(reader, seed.as_bytes());
    }
}

//! Reads Ollama's answers: a JSON object a line.

use nudge_wire::RawJson;
use serde::Deserialize;

use super::fault;
use crate::{
    AnswerPiece, StopReason, TokenCount, ToolCall,
    dialect::{AnswerReader, CallNaming, LineFraming, StreamFault, call::tool_input, fault::FaultWords},
};

/// Reads one answer.
pub(super) struct OllamaReader {
    framing: LineFraming,
    answer: OllamaAnswer,
}

impl OllamaReader {
    pub(super) fn new(naming: CallNaming) -> Self {
        Self { framing: LineFraming::default(), answer: OllamaAnswer { naming, is_over: false } }
    }
}

impl AnswerReader for OllamaReader {
    fn read(&mut self, bytes: &[u8], pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let Self { framing, answer } = self;
        framing.read(bytes, |line| answer.line(line, pieces))
    }

    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let rest = self.framing.rest();
        match self.answer.line(&rest, pieces) {
            // Half a line is no line.
            Ok(()) | Err(StreamFault::Malformed(_)) => {}
            Err(fault) => return Err(fault),
        }
        if self.answer.is_over { Ok(()) } else { Err(StreamFault::CutOff) }
    }
}

struct OllamaAnswer {
    naming: CallNaming,
    is_over: bool,
}

#[derive(Deserialize)]
struct OllamaLine {
    message: Option<OllamaMessage>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<RawJson>,
}

#[derive(Deserialize)]
struct OllamaMessage {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<OllamaCall>>,
}

#[derive(Deserialize)]
struct OllamaCall {
    function: OllamaFunction,
}

#[derive(Deserialize)]
struct OllamaFunction {
    name: String,
    arguments: Option<RawJson>,
}

impl OllamaAnswer {
    fn line(&mut self, line: &[u8], pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        if self.is_over || line.trim_ascii().is_empty() {
            return Ok(());
        }
        let line: OllamaLine =
            serde_json::from_slice(line).map_err(|_| StreamFault::Malformed("lines of JSON"))?;
        if let Some(error) = line.error {
            let words = FaultWords::of_body(error.as_bytes());
            return Err(StreamFault::Provider(fault(500, &words)));
        }
        if let Some(message) = line.message {
            self.message(message, pieces);
        }
        if line.done {
            self.is_over = true;
            let count = |count: Option<u64>| count.unwrap_or_default();
            let (input, output) = (count(line.prompt_eval_count), count(line.eval_count));
            if (input, output) != (0, 0) {
                pieces.push(AnswerPiece::Tokens(TokenCount { input, output, ..TokenCount::default() }));
            }
            let is_too_long = line.done_reason.as_deref() == Some("length");
            let stop = if is_too_long { StopReason::MaxTokens } else { StopReason::EndTurn };
            pieces.push(AnswerPiece::Stop(stop));
        }
        Ok(())
    }

    fn message(&self, message: OllamaMessage, pieces: &mut Vec<AnswerPiece>) {
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        pieces.extend(some(message.thinking).map(AnswerPiece::Thought));
        pieces.extend(some(message.content).map(AnswerPiece::Text));
        for OllamaCall { function } in message.tool_calls.unwrap_or_default() {
            let input = function.arguments.map_or_else(|| RawJson::object(&[]), unwrapped);
            // Only newer ones have ids, and nobody says for how long those are unique.
            pieces.push(AnswerPiece::ToolCall(ToolCall {
                id: self.naming.name(),
                name: function.name,
                input,
            }));
        }
    }
}

/// Arguments are an object; servers that are only like Ollama may send it as text.
fn unwrapped(arguments: RawJson) -> RawJson {
    match arguments.to::<String>() {
        Ok(text) => tool_input(&text),
        Err(_) => arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{
        ProviderFault,
        stream_checks::{check_faults, check_stream, never_panics},
    };

    fn reader() -> Box<dyn AnswerReader> {
        Box::new(OllamaReader::new(CallNaming::seeded(7)))
    }

    const ANSWER: &str = r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"Hm ü."},"done":false}
{"message":{"role":"assistant","content":"I look."},"done":false}

{"message":{"content":"","tool_calls":[{"id":"x","function":{"index":0,"name":"read","arguments":{"path":"a"}}}]}}
{"message":{"tool_calls":[{"function":{"name":"list"}},{"function":{"name":"list","arguments":"{\"a\":1}"}}]},"done":false}
{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}
{"nonsense
"#;

    #[test]
    fn answers_are_the_same_however_they_are_cut() {
        let told = r#"(Hm ü.) I look. [nudge_0000000000000007_0 read {"path":"a"}] [nudge_0000000000000007_1 list {}] [nudge_0000000000000007_2 list {"a":1}] #9/4/0/0/0 EndTurn"#;
        check_stream(reader, ANSWER.as_bytes(), told);
    }

    #[test]
    fn answers_end_for_reasons() {
        for (line, expected) in [
            (r#"{"message":{"content":"a"},"done":true,"done_reason":"length"}"#, "a MaxTokens"),
            (r#"{"done":true}"#, "EndTurn"),
        ] {
            check_stream(reader, line.as_bytes(), expected);
        }
    }

    #[test]
    fn faults_are_told() {
        let cases = [
            (String::new(), StreamFault::CutOff),
            ("{\"message\":{\"content\":\"a\"}}\n".to_owned(), StreamFault::CutOff),
            ("{\"message\":{\"con".to_owned(), StreamFault::CutOff),
            ("{]\n".to_owned(), StreamFault::Malformed("lines of JSON")),
            ("{\"error\":\"it broke\"}\n".to_owned(), StreamFault::Provider(ProviderFault::Failed)),
            (
                "{\"error\":\"the input length exceeds the context length\"}".to_owned(),
                StreamFault::Provider(ProviderFault::ContextOverflow),
            ),
        ];
        check_faults(reader, &cases);
    }

    #[test]
    fn any_bytes_are_read() {
        never_panics(reader, ANSWER.as_bytes());
    }

    #[test]
    fn calls_of_two_answers_have_two_names() {
        let naming = CallNaming::seeded(1);
        let line = br#"{"message":{"tool_calls":[{"function":{"name":"list"}}]},"done":true}"#;
        let id = || {
            let mut pieces = Vec::new();
            let mut reader = OllamaReader::new(naming.clone());
            reader.read(line, &mut pieces).and_then(|()| reader.end(&mut pieces)).unwrap();
            let AnswerPiece::ToolCall(call) = &pieces[0] else { panic!("{pieces:?}") };
            call.id.clone()
        };
        assert_ne!(id(), id());
    }
}

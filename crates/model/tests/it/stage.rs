//! A conversation with a rehearsal, written down.

use std::fmt::Write;

use futures_util::StreamExt;
use nudge_model::{
    AnswerPart, AnswerPiece, ChatMessage, LanguageModel, ModelError, ModelRequest, script::ScriptedModel,
};
use nudge_wire::RawJson;
use tokio::time::Instant;

/// A conversation that grows by what the rehearsal says.
pub(crate) struct Stage {
    script: ScriptedModel,
    pub(crate) messages: Vec<ChatMessage>,
}

impl Stage {
    pub(crate) fn new(rehearsal: &str) -> Self {
        Self { script: ScriptedModel::parse(rehearsal).unwrap(), messages: Vec::new() }
    }

    pub(crate) fn of(script: ScriptedModel) -> Self {
        Self { script, messages: Vec::new() }
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.user(text, false);
    }

    pub(crate) fn steer(&mut self, text: &str) {
        self.user(text, true);
    }

    fn user(&mut self, text: &str, steer: bool) {
        let content = RawJson::of(&serde_json::json!([{ "type": "text", "text": text }])).unwrap();
        self.messages.push(ChatMessage::User { text: text.to_owned(), content, steer });
    }

    pub(crate) fn result(&mut self, output: &str) {
        let id = self.messages.iter().flat_map(ChatMessage::calls).last().unwrap().id.clone();
        self.messages.push(ChatMessage::Tool { id, output: output.to_owned(), failed: false });
    }

    /// Plays one answer to its end and writes it down, with the virtual milliseconds it took.
    pub(crate) async fn answer(&mut self) -> String {
        self.play(usize::MAX).await
    }

    /// Plays the first pieces of an answer, which is then cut off.
    pub(crate) async fn play(&mut self, most: usize) -> String {
        let began = Instant::now();
        let request = ModelRequest { messages: self.messages.clone(), ..ModelRequest::default() };
        let pieces: Vec<Result<AnswerPiece, ModelError>> =
            self.script.stream(request).take(most).collect().await;
        let (mut text, mut calls) = (String::new(), Vec::new());
        let mut told = String::new();
        for piece in pieces {
            match piece {
                Ok(AnswerPiece::Text(more)) => {
                    told += &more;
                    text += &more;
                }
                Ok(AnswerPiece::Thought(more)) => drop(write!(told, "({more})")),
                Ok(AnswerPiece::ToolCall(call)) => {
                    let _ = write!(told, "[{} {} {:?}]", call.id, call.name, call.input);
                    calls.push(call);
                }
                Ok(AnswerPiece::Plan(entries)) => {
                    let entries: Vec<String> =
                        entries.iter().map(|entry| format!("{} {}", entry.status, entry.content)).collect();
                    let _ = write!(told, "<{}>", entries.join(", "));
                }
                Ok(AnswerPiece::Stop(reason)) => {
                    let _ = write!(told, " {reason:?}");
                }
                Ok(other) => {
                    let _ = write!(told, "{{{other:?}}}");
                }
                Err(error) => {
                    let _ = write!(told, " error: {error}");
                }
            }
        }
        let parts = std::iter::once(AnswerPart::Text(text)).chain(calls.into_iter().map(AnswerPart::Call));
        self.messages.push(ChatMessage::Agent { parts: parts.collect() });
        let _ = write!(told, " {}", began.elapsed().as_millis());
        told
    }
}

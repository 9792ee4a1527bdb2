//! What was said in a session, as the model is told it.

mod restore;

use std::collections::VecDeque;

use nudge_model::{AnswerPart, ChatMessage, SignedReasoning, ToolCall, text_of};
use nudge_wire::RawJson;

use nudge_backend::UserMessage;
use restore::RestoredReferences;

/// How much is remembered. Older turns are forgotten first, whole; of the running turn no message is forgotten, and one
/// that is longer than this by itself is cut at its beginning.
const MOST_BYTES: usize = 1024 * 1024;
const MOST_MESSAGES: usize = 1000;

/// What was said in a session: rebuilt from its updates after a restart, then kept by the agent. Bounded.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    messages: VecDeque<ChatMessage>,
    bytes: usize,
    /// Ids that later updates may refer to.
    restored: RestoredReferences,
    /// What all of it has cost, as was told last.
    restored_cost: f64,
}

impl Conversation {
    /// Nothing was said yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the conversation had cost when it was taken up.
    pub(crate) fn restored_cost(&self) -> f64 {
        self.restored_cost
    }

    /// Whether nothing was said yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(crate) fn user(&mut self, message: &UserMessage, steer: bool) {
        let text = text_of(&message.content);
        self.push(ChatMessage::User { text, content: message.content.clone(), steer });
    }

    /// The model begins to answer.
    pub(crate) fn agent(&mut self) {
        self.push(ChatMessage::Agent { parts: Vec::new() });
    }

    /// The model did not begin to answer after all.
    pub(crate) fn drop_empty_answer(&mut self) {
        if matches!(self.messages.back(), Some(ChatMessage::Agent { parts }) if parts.is_empty()) {
            self.messages.pop_back();
        }
    }

    pub(crate) fn text(&mut self, more: &str) {
        let Some(ChatMessage::Agent { parts }) = self.messages.back_mut() else { return };
        if !matches!(parts.last(), Some(AnswerPart::Text(_))) {
            parts.push(AnswerPart::Text(String::new()));
        }
        let Some(AnswerPart::Text(text)) = parts.last_mut() else { return };
        text.push_str(more);
        self.bytes += more.len();
        if text.len() > 2 * MOST_BYTES {
            let cut = text.ceil_char_boundary(text.len() - MOST_BYTES);
            text.drain(..cut);
            self.bytes -= cut;
        }
    }

    /// Reasoning that the model wants back before what it says next.
    pub(crate) fn reasoning(&mut self, reasoning: SignedReasoning) {
        if let Some(ChatMessage::Agent { parts }) = self.messages.back_mut() {
            self.bytes += reasoning.content.as_str().len();
            parts.push(AnswerPart::Reasoning(reasoning));
        }
    }

    /// The model does not take its reasoning back.
    pub(crate) fn forget_reasoning(&mut self) {
        for message in &mut self.messages {
            let ChatMessage::Agent { parts } = message else { continue };
            let forgotten = parts.extract_if(.., |part| matches!(part, AnswerPart::Reasoning(_)));
            let bytes: usize = forgotten.map(|part| weight_of_part(&part)).sum();
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    pub(crate) fn call(&mut self, call: ToolCall) {
        if let Some(ChatMessage::Agent { parts }) = self.messages.back_mut() {
            self.bytes += weight_of_call(&call);
            parts.push(AnswerPart::Call(call));
        }
    }

    pub(crate) fn result(&mut self, id: &str, output: String, failed: bool) {
        self.push(ChatMessage::Tool { id: id.to_owned(), output, failed });
    }

    /// All of it, with a result for every call.
    pub(crate) fn messages(&self) -> Vec<ChatMessage> {
        let mut told: Vec<ChatMessage> = Vec::with_capacity(self.messages.len());
        let mut open: Vec<String> = Vec::new();
        for message in &self.messages {
            match message {
                ChatMessage::Tool { id, .. } => open.retain(|waiting| waiting != id),
                ChatMessage::User { .. } | ChatMessage::Agent { .. } => {
                    told.extend(open.drain(..).map(no_result));
                }
            }
            open.extend(message.calls().map(|call| call.id.clone()));
            told.push(message.clone());
        }
        told.extend(open.drain(..).map(no_result));
        told
    }

    fn push(&mut self, message: ChatMessage) {
        self.bytes += weight(&message);
        self.messages.push_back(message);
        while self.is_too_much() && self.forget_a_turn() {}
    }

    fn is_too_much(&self) -> bool {
        self.bytes > MOST_BYTES || self.messages.len() > MOST_MESSAGES
    }

    /// Forgets the oldest turn, if it is not the last one.
    fn forget_a_turn(&mut self) -> bool {
        let begins = |message: &ChatMessage| matches!(message, ChatMessage::User { steer: false, .. });
        let Some(next) = self.messages.iter().skip(1).position(begins) else { return false };
        for forgotten in self.messages.drain(..=next) {
            self.bytes = self.bytes.saturating_sub(weight(&forgotten));
        }
        true
    }
}

impl Conversation {
    /// Takes in a version 2 `update` object of the session's transcript, oldest first. What is no part of the
    /// conversation is passed over.
    pub fn update(&mut self, update: &RawJson) {
        restore::take_in(self, update);
    }
}

fn no_result(id: String) -> ChatMessage {
    ChatMessage::Tool { id, output: "This was interrupted before it was done.".to_owned(), failed: true }
}

fn weight(message: &ChatMessage) -> usize {
    match message {
        ChatMessage::User { text, content, .. } => text.len() + content.as_str().len(),
        ChatMessage::Agent { parts } => parts.iter().map(weight_of_part).sum(),
        ChatMessage::Tool { output, .. } => output.len(),
    }
}

fn weight_of_part(part: &AnswerPart) -> usize {
    match part {
        AnswerPart::Text(text) => text.len(),
        AnswerPart::Reasoning(reasoning) => reasoning.content.as_str().len(),
        AnswerPart::Call(call) => weight_of_call(call),
    }
}

fn weight_of_call(call: &ToolCall) -> usize {
    call.name.len() + call.input.as_str().len()
}

//! What the provider answers, in words that hold for every dialect.

use std::{collections::VecDeque, time::Duration};

use regex::Regex;
use serde_json::Value;

use crate::conversation::OfferedTool;

/// One answer of the model: what it says and does, step by step.
///
/// Without any step it is an answer that is complete and empty.
#[derive(Debug, Clone)]
pub struct ModelReply {
    pub(crate) steps: VecDeque<ReplyStep>,
    pub(crate) gap: Duration,
    pub(crate) ending: ReplyEnding,
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// It has said all, or waits for its tools.
    Done,
    /// It has no tokens left.
    Length,
    /// It will not answer that.
    Refusal,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplyEnding {
    pub(crate) finish: FinishReason,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

#[derive(Debug, Clone)]
pub(crate) enum ReplyStep {
    Say(String),
    Think(String),
    /// The tools that would do, the best first.
    Call(Vec<ReplyCandidate>),
    CallAs {
        id: String,
        name: String,
        arguments: Value,
    },
    Pause(Duration),
    Gate(String),
    Fail(ReplyFailure),
    Raw(String),
    Cut,
}

#[derive(Debug, Clone)]
pub(crate) struct ReplyFailure {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) retry_after: Option<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct ReplyCandidate {
    name: Regex,
    pub(crate) arguments: Value,
}

impl ReplyCandidate {
    fn new(pattern: &str, arguments: Value) -> Self {
        let name = Regex::new(&format!("^(?:{pattern})$")).expect("the pattern is a regular expression");
        Self { name, arguments }
    }

    pub(crate) fn fits(&self, tool: &OfferedTool) -> bool {
        let group = tool.namespace.as_deref().unwrap_or_default();
        self.name.is_match(&tool.name) || self.name.is_match(&format!("{group}{}", tool.name))
    }
}

impl ModelReply {
    /// A complete answer that says nothing.
    pub fn empty() -> Self {
        let ending = ReplyEnding { finish: FinishReason::Done, input_tokens: 10, output_tokens: 5 };
        Self { steps: VecDeque::new(), gap: Duration::ZERO, ending }
    }

    /// Says `text`, word by word.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::empty().and_text(text)
    }

    /// Says these chunks, each in an event of its own.
    pub fn chunks<T: Into<String>>(chunks: impl IntoIterator<Item = T>) -> Self {
        Self::empty().and_chunks(chunks)
    }

    /// Thinks `text`, word by word, before it says or does anything.
    pub fn thinking(text: impl AsRef<str>) -> Self {
        Self::empty().and_thinking(text)
    }

    /// Calls a tool. `name` is a regular expression for the tool's whole name; the first tool of the request that
    /// it fits is called. A rule whose call fits no tool of a request is passed over for that request.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::empty().and_call(name, arguments)
    }

    /// Answers with an HTTP status and an error in the shape of the dialect.
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        Self::empty().and_error(status, message)
    }

    /// Says `text`, then waits at the gate until it is opened, and then ends.
    pub fn stall(text: impl Into<String>, gate: impl Into<String>) -> Self {
        Self::chunks([text]).and_gate(gate)
    }

    /// Then says `text`, word by word.
    pub fn and_text(self, text: impl AsRef<str>) -> Self {
        words(text.as_ref()).fold(self, |reply, word| reply.step(ReplyStep::Say(word.to_owned())))
    }

    /// Then says these chunks, each in an event of its own.
    pub fn and_chunks<T: Into<String>>(self, chunks: impl IntoIterator<Item = T>) -> Self {
        chunks.into_iter().fold(self, |reply, chunk| reply.step(ReplyStep::Say(chunk.into())))
    }

    /// Thinks these chunks, each in an event of its own, before it says or does anything.
    pub fn thinking_chunks<T: Into<String>>(chunks: impl IntoIterator<Item = T>) -> Self {
        chunks.into_iter().fold(Self::empty(), |reply, chunk| reply.step(ReplyStep::Think(chunk.into())))
    }

    /// Then thinks `text`, word by word.
    pub fn and_thinking(self, text: impl AsRef<str>) -> Self {
        words(text.as_ref()).fold(self, |reply, word| reply.step(ReplyStep::Think(word.to_owned())))
    }

    /// Then calls a tool, beside those called already.
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.step(ReplyStep::Call(vec![ReplyCandidate::new(name, arguments)]))
    }

    /// Then calls a tool of exactly this name under this id, whether there is one or not: models make such mistakes.
    pub fn and_call_as(self, id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        self.step(ReplyStep::CallAs { id: id.into(), name: name.into(), arguments })
    }

    /// What the last call is in a request that has no tool of the names given so far.
    pub fn or_call(mut self, name: &str, arguments: Value) -> Self {
        match self.steps.back_mut() {
            Some(ReplyStep::Call(candidates)) => candidates.push(ReplyCandidate::new(name, arguments)),
            _ => panic!("`or_call` follows `call`, `and_call` or `or_call`"),
        }
        self
    }

    /// Then waits.
    pub fn and_pause(self, pause: Duration) -> Self {
        self.step(ReplyStep::Pause(pause))
    }

    /// Then waits at the gate of this name until it is open. Before anything was said not even the status is sent.
    pub fn and_gate(self, name: impl Into<String>) -> Self {
        self.step(ReplyStep::Gate(name.into()))
    }

    /// Then reports an error: by the HTTP status if nothing was said yet or the request is not for a stream, else by
    /// the event that the dialect has for that.
    pub fn and_error(self, status: u16, message: impl Into<String>) -> Self {
        self.step(ReplyStep::Fail(ReplyFailure { status, message: message.into(), retry_after: None }))
    }

    /// Then sends this as it is, in no dialect; only in streams.
    pub fn and_raw(self, text: impl Into<String>) -> Self {
        self.step(ReplyStep::Raw(text.into()))
    }

    /// Then breaks the connection, in the middle of the body, or before the status if nothing was said.
    pub fn and_cut(self) -> Self {
        self.step(ReplyStep::Cut)
    }

    /// How many seconds to wait before another try; for the error given last.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        match self.steps.back_mut() {
            Some(ReplyStep::Fail(failure)) => failure.retry_after = Some(seconds),
            _ => panic!("`retry_after` follows `error` or `and_error`"),
        }
        self
    }

    /// Waits this long between any two chunks.
    pub fn every(mut self, gap: Duration) -> Self {
        self.gap = gap;
        self
    }

    /// Why the model stops.
    pub fn finish(mut self, finish: FinishReason) -> Self {
        self.ending.finish = finish;
        self
    }

    /// The tokens it reports as used.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.ending = ReplyEnding { input_tokens, output_tokens, ..self.ending };
        self
    }

    fn step(mut self, step: ReplyStep) -> Self {
        self.steps.push_back(step);
        self
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

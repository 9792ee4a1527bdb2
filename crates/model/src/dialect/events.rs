//! Answers that come as server-sent events of JSON.

use serde_json::Value;

use super::{AnswerReader, EventFraming, StreamFault};
use crate::AnswerPiece;

/// What of an answer is kept until it is whole, in bytes and in parts.
const MOST_BYTES: usize = 16 * 1024 * 1024;
const MOST_PARTS: usize = 256;

/// An answer of which the events come one by one.
pub(crate) trait EventAnswer: Send {
    /// Takes in one event.
    fn event(&mut self, event: &Value, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault>;

    /// The body is over. An answer that was not said to be over is cut off.
    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault>;

    /// The body says that it is over, by `[DONE]`.
    fn done(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        self.end(pieces)
    }
}

/// Reads such an answer, up to its stop.
#[derive(Debug, Default)]
pub(crate) struct EventAnswerReader<A> {
    framing: EventFraming,
    answer: A,
    is_over: bool,
}

impl<A> EventAnswerReader<A> {
    pub(crate) fn new(answer: A) -> Self {
        Self { framing: EventFraming::default(), answer, is_over: false }
    }
}

impl<A: EventAnswer> AnswerReader for EventAnswerReader<A> {
    fn read(&mut self, bytes: &[u8], pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let Self { framing, answer, is_over } = self;
        framing.read(bytes, |data| {
            if *is_over {
                return Ok(());
            }
            if data.trim_ascii() == b"[DONE]" {
                *is_over = true;
                return answer.done(pieces);
            }
            let event = serde_json::from_slice(data).map_err(|_| StreamFault::Malformed("events of JSON"))?;
            let read = answer.event(&event, pieces);
            *is_over = matches!(pieces.last(), Some(AnswerPiece::Stop(_)));
            read
        })
    }

    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let rest = self.framing.rest();
        if self.is_over {
            return Ok(());
        }
        self.is_over = true;
        if rest.trim_ascii() == b"[DONE]" {
            return self.answer.done(pieces);
        }
        // Half an event is no event.
        if let Ok(event) = serde_json::from_slice(&rest) {
            self.answer.event(&event, pieces)?;
        }
        match pieces.last() {
            Some(AnswerPiece::Stop(_)) => Ok(()),
            _ => self.answer.end(pieces),
        }
    }
}

/// How much of an answer may still be kept until it is whole.
#[derive(Debug)]
pub(crate) struct AnswerBudget {
    bytes: usize,
    parts: usize,
}

impl Default for AnswerBudget {
    fn default() -> Self {
        Self { bytes: MOST_BYTES, parts: MOST_PARTS }
    }
}

impl AnswerBudget {
    /// One more part is begun.
    pub(crate) fn begin(&mut self) -> Result<(), StreamFault> {
        let left = self.parts.checked_sub(1);
        self.parts = left.ok_or(StreamFault::Malformed("a reasonable number of parts"))?;
        Ok(())
    }

    /// Adds to what is kept.
    pub(crate) fn add(&mut self, kept: &mut String, more: &str) -> Result<(), StreamFault> {
        let left = self.bytes.checked_sub(more.len());
        self.bytes = left.ok_or(StreamFault::Malformed("tool calls of a reasonable length"))?;
        kept.push_str(more);
        Ok(())
    }
}

/// A text that is not empty, as a piece of an answer.
pub(crate) fn say(text: &Value, piece: fn(String) -> AnswerPiece, pieces: &mut Vec<AnswerPiece>) {
    if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
        pieces.push(piece(text.to_owned()));
    }
}

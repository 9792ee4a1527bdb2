//! Tool calls that a model writes into its text: `{"name": "read", "arguments": {…}}`, bare, fenced or in tags.
//!
//! Small models do so, and servers that do not know a model's ways pass it on as text. What may become a call is held back; it is
//! one if it names a tool that was offered and nothing follows it but more of them. All else is text.

#[cfg(test)]
mod tests;

use nudge_wire::RawJson;
use serde::Deserialize;

use super::{AnswerReader, CallNaming, StreamFault, call::tool_input};
use crate::{AnswerPiece, ToolCall};

/// The longest text that is held back.
const MOST_BYTES: usize = 1024 * 1024;

/// The longest beginning of a call, up to the name of its tool: what is still none by then will be none.
const LONGEST_HEAD: usize = 256;

/// What stands before a call, and behind it.
const OPENINGS: &[&str] =
    &["```json\n", "```tool_call\n", "```\n", "<tool_call>", "<tools>", "<function_call>"];
const CLOSINGS: &[&str] = &["```", "</tool_call>", "</tools>", "</function_call>"];

/// Reads an answer and finds the calls in its text.
pub(crate) struct TextCallReader {
    inner: Box<dyn AnswerReader>,
    finder: TextCallFinder,
}

impl TextCallReader {
    /// Finds calls of these tools in what `inner` reads.
    pub(crate) fn new(inner: Box<dyn AnswerReader>, tools: Vec<String>, naming: CallNaming) -> Self {
        let finder =
            TextCallFinder { tools, naming, held: String::new(), is_line_start: true, stage: HeldText::Open };
        Self { inner, finder }
    }
}

impl AnswerReader for TextCallReader {
    fn read(&mut self, bytes: &[u8], pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let mut read = Vec::new();
        let outcome = self.inner.read(bytes, &mut read);
        self.finder.take_all(read, pieces);
        if outcome.is_err() {
            self.finder.let_go(pieces);
        }
        outcome
    }

    fn end(&mut self, pieces: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        let mut read = Vec::new();
        let outcome = self.inner.end(&mut read);
        self.finder.take_all(read, pieces);
        self.finder.let_go(pieces);
        outcome
    }
}

/// Where the text that is held back stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldText {
    /// Nothing is held, or what may still turn out to be anything.
    Open,
    /// A tool is named: it is held to the end.
    Call,
    /// No call is looked for any more.
    Off,
}

struct TextCallFinder {
    tools: Vec<String>,
    naming: CallNaming,
    held: String,
    /// Whether what is held begins a line.
    is_line_start: bool,
    stage: HeldText,
}

impl TextCallFinder {
    fn take_all(&mut self, read: Vec<AnswerPiece>, pieces: &mut Vec<AnswerPiece>) {
        for piece in read {
            self.take(piece, pieces);
        }
    }

    fn take(&mut self, piece: AnswerPiece, pieces: &mut Vec<AnswerPiece>) {
        match piece {
            AnswerPiece::Text(text) if self.stage == HeldText::Off => pieces.push(AnswerPiece::Text(text)),
            AnswerPiece::Text(text) => self.text(text, pieces),
            AnswerPiece::ToolCall(_) => {
                // Whoever can say it properly says nothing by text.
                self.let_go(pieces);
                self.stage = HeldText::Off;
                pieces.push(piece);
            }
            AnswerPiece::Stop(_) => {
                match text_calls(&self.held, &self.tools) {
                    Some(calls) => pieces.extend(calls.into_iter().map(|call| call.named(&self.naming))),
                    None => self.let_go(pieces),
                }
                self.held.clear();
                pieces.push(piece);
            }
            _ => pieces.push(piece),
        }
    }

    fn text(&mut self, text: String, pieces: &mut Vec<AnswerPiece>) {
        if self.held.is_empty() {
            self.held = text;
        } else {
            self.held.push_str(&text);
        }
        if self.held.len() > MOST_BYTES {
            self.stage = HeldText::Off;
            return self.let_go(pieces);
        }
        if self.stage == HeldText::Call {
            return;
        }
        let mut line = if self.is_line_start { Some(0) } else { after_line_end(&self.held, 0) };
        while let Some(at) = line {
            match head(&self.held[at..], &self.tools) {
                CallHead::None => line = after_line_end(&self.held, at),
                CallHead::Half if self.held.len() - at > LONGEST_HEAD => {
                    line = after_line_end(&self.held, at);
                }
                found => {
                    if found == CallHead::Whole {
                        self.stage = HeldText::Call;
                    }
                    let later = self.held.split_off(at);
                    self.let_go(pieces);
                    self.held = later;
                    self.is_line_start = true;
                    return;
                }
            }
        }
        self.let_go(pieces);
    }

    /// What is held is text after all.
    fn let_go(&mut self, pieces: &mut Vec<AnswerPiece>) {
        if !self.held.is_empty() {
            self.is_line_start = self.held.ends_with('\n');
            pieces.push(AnswerPiece::Text(std::mem::take(&mut self.held)));
        }
    }
}

/// The beginning of the next line.
fn after_line_end(text: &str, from: usize) -> Option<usize> {
    text[from..].find('\n').map(|end| from + end + 1)
}

/// How much of the beginning of a call a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallHead {
    None,
    Half,
    Whole,
}

/// Compares a text with what is expected; gives what follows.
fn expect<'t>(text: &'t str, expected: &str) -> Result<&'t str, CallHead> {
    match text.strip_prefix(expected) {
        Some(rest) => Ok(rest),
        None if expected.starts_with(text) => Err(CallHead::Half),
        None => Err(CallHead::None),
    }
}

/// Whether a text begins with a call of one of these tools.
fn head(text: &str, tools: &[String]) -> CallHead {
    let mut rest = text.trim_start_matches([' ', '\t']);
    let openings: Vec<_> = OPENINGS.iter().map(|opening| expect(rest, opening)).collect();
    match openings.iter().find_map(|opening| opening.ok()) {
        Some(inside) => rest = inside,
        None if openings.contains(&Err(CallHead::Half)) => return CallHead::Half,
        None => {}
    }
    for expected in ["{", "\"name\"", ":", "\""] {
        match expect(rest.trim_start(), expected) {
            Ok(later) => rest = later,
            Err(verdict) => return verdict,
        }
    }
    let names: Vec<_> = tools.iter().map(|tool| expect(rest, &format!("{tool}\""))).collect();
    if names.iter().any(Result::is_ok) {
        CallHead::Whole
    } else if names.contains(&Err(CallHead::Half)) {
        CallHead::Half
    } else {
        CallHead::None
    }
}

/// A call as models write it.
#[derive(Deserialize)]
struct TextCall {
    name: String,
    #[serde(alias = "parameters", alias = "input")]
    arguments: Option<RawJson>,
}

impl TextCall {
    fn named(self, naming: &CallNaming) -> AnswerPiece {
        let arguments = self.arguments.unwrap_or_else(|| RawJson::object(&[]));
        // Some write the arguments as the text of an object.
        let input = arguments.to::<String>().map_or(arguments, |text| tool_input(&text));
        AnswerPiece::ToolCall(ToolCall { id: naming.name(), name: self.name, input })
    }
}

/// The calls that a text is made of; none if there is anything else in it.
fn text_calls(text: &str, tools: &[String]) -> Option<Vec<TextCall>> {
    let (mut rest, mut calls) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        rest = without_any(rest, OPENINGS);
        let mut read = serde_json::Deserializer::from_str(rest).into_iter::<TextCall>();
        let call = read.next()?.ok().filter(|call| tools.contains(&call.name))?;
        calls.push(call);
        rest = without_any(rest[read.byte_offset()..].trim_start(), CLOSINGS).trim_start();
    }
    Some(calls).filter(|calls| !calls.is_empty())
}

fn without_any<'t>(text: &'t str, beginnings: &[&str]) -> &'t str {
    beginnings.iter().find_map(|beginning| text.strip_prefix(beginning)).unwrap_or(text)
}

//! From the acts of an answer to its pieces, each with the time before it.

use std::time::Duration;

use nudge_wire::RawJson;

use super::{
    format::{Act, Stop},
    place::Scene,
    template::Values,
};
use crate::{Error, Piece, PlanEntry, StopReason, ToolCall};

/// How many pieces an answer has at most.
const MOST_PIECES: usize = 100_000;

/// A piece and how long it keeps us waiting.
#[derive(Debug)]
pub(super) struct Cue {
    pub(super) after: Duration,
    pub(super) piece: Result<Piece, Error>,
}

impl Cue {
    pub(super) fn at_once(piece: Result<Piece, Error>) -> Self {
        Self { after: Duration::ZERO, piece }
    }
}

/// The pieces of an answer. It ends with a stop or an error.
pub(super) fn cues(scene: Scene) -> Vec<Cue> {
    let mut answer = Answer {
        values: scene.values,
        token_ms: scene.token_ms,
        calls: scene.calls,
        wait: Duration::ZERO,
        cues: Vec::new(),
    };
    for act in &scene.acts {
        answer.act(act);
        if answer.is_over() {
            return answer.cues;
        }
    }
    answer.push(Piece::Stop(StopReason::EndTurn));
    answer.cues
}

struct Answer {
    values: Values,
    token_ms: u64,
    calls: usize,
    /// Waiting that belongs to the next piece.
    wait: Duration,
    cues: Vec<Cue>,
}

impl Answer {
    fn is_over(&self) -> bool {
        matches!(self.cues.last(), Some(Cue { piece: Ok(Piece::Stop(_)) | Err(_), .. }))
    }

    fn push(&mut self, piece: Piece) {
        let after = std::mem::take(&mut self.wait);
        self.cues.push(Cue { after, piece: Ok(piece) });
    }

    fn act(&mut self, act: &Act) {
        if let Some(text) = &act.text {
            self.words(act, text, Piece::Text);
        } else if let Some(text) = &act.thought {
            self.words(act, text, Piece::Thought);
        } else if let Some(name) = &act.call {
            self.call(act, name);
        } else if let Some(entries) = &act.plan {
            let entry = |entry: &super::format::Entry| PlanEntry {
                content: self.values.fill(&entry.content),
                priority: entry.priority.clone(),
                status: entry.status.clone(),
            };
            let plan = entries.iter().map(entry).collect();
            self.push(Piece::Plan(plan));
        } else if let Some(usage) = act.usage {
            self.push(Piece::Usage { used: usage.used, size: usage.size });
        } else if let Some(pause) = act.pause_ms {
            self.push(Piece::Paused);
            self.wait += Duration::from_millis(pause);
            self.push(Piece::Resumed);
        } else if let Some(wait) = act.wait_ms {
            self.wait += Duration::from_millis(wait);
        } else if let Some(stop) = act.stop {
            self.push(Piece::Stop(reason(stop)));
        } else if let Some(why) = &act.error {
            let after = std::mem::take(&mut self.wait);
            self.cues.push(Cue { after, piece: Err(Error::Unavailable(why.clone())) });
        }
    }

    /// A text word by word, as often as the act says.
    fn words(&mut self, act: &Act, text: &str, piece: fn(String) -> Piece) {
        let times = act.repeat.as_ref().map_or(1, |repeat| self.values.number(repeat));
        let token = Duration::from_millis(act.token_ms.unwrap_or(self.token_ms));
        for i in 1..=times {
            self.values.set("i", i.to_string());
            for word in self.values.fill(text).split_inclusive([' ', '\n']) {
                if self.cues.len() >= MOST_PIECES {
                    return;
                }
                self.wait += token;
                self.push(piece(word.to_owned()));
            }
        }
    }

    fn call(&mut self, act: &Act, name: &str) {
        self.calls += 1;
        let input = match (&act.raw_input, &act.input) {
            (Some(raw), _) => RawJson::parse(self.values.fill(raw)).ok(),
            (None, Some(table)) => RawJson::of(&self.values.json(table)).ok(),
            (None, None) => None,
        };
        let input = input.unwrap_or_else(|| RawJson::parse("{}").expect("braces are an object"));
        let (id, name) = (format!("call_{}", self.calls), self.values.fill(name));
        self.push(Piece::ToolCall(ToolCall { id, name, input }));
    }
}

fn reason(stop: Stop) -> StopReason {
    match stop {
        Stop::EndTurn => StopReason::EndTurn,
        Stop::MaxTokens => StopReason::MaxTokens,
        Stop::Refusal => StopReason::Refusal,
    }
}

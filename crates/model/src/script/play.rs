//! From the acts of an answer to its pieces, each with the time before it.

use std::time::Duration;

use nudge_wire::RawJson;

use super::{
    format::{ScriptAct, ScriptStop},
    place::ScriptScene,
    template::TemplateValues,
};
use crate::{AnswerPiece, ModelError, PlanEntry, StopReason, ToolCall};

/// How many pieces an answer has at most.
const MOST_PIECES: usize = 100_000;

/// A piece and how long it keeps us waiting.
#[derive(Debug)]
pub(super) struct ScriptCue {
    pub(super) after: Duration,
    pub(super) piece: Result<AnswerPiece, ModelError>,
}

impl ScriptCue {
    pub(super) fn at_once(piece: Result<AnswerPiece, ModelError>) -> Self {
        Self { after: Duration::ZERO, piece }
    }
}

/// The pieces of an answer. It ends with a stop or an error.
pub(super) fn cues(scene: ScriptScene) -> Vec<ScriptCue> {
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
    answer.push(AnswerPiece::Stop(StopReason::EndTurn));
    answer.cues
}

struct Answer {
    values: TemplateValues,
    token_ms: u64,
    calls: usize,
    /// Waiting that belongs to the next piece.
    wait: Duration,
    cues: Vec<ScriptCue>,
}

impl Answer {
    fn is_over(&self) -> bool {
        matches!(self.cues.last(), Some(ScriptCue { piece: Ok(AnswerPiece::Stop(_)) | Err(_), .. }))
    }

    fn push(&mut self, piece: AnswerPiece) {
        let after = std::mem::take(&mut self.wait);
        self.cues.push(ScriptCue { after, piece: Ok(piece) });
    }

    fn act(&mut self, act: &ScriptAct) {
        if let Some(text) = &act.text {
            self.words(act, text, AnswerPiece::Text);
        } else if let Some(text) = &act.thought {
            self.words(act, text, AnswerPiece::Thought);
        } else if let Some(name) = &act.call {
            self.call(act, name);
        } else if let Some(entries) = &act.plan {
            let entry = |entry: &super::format::ScriptEntry| PlanEntry {
                content: self.values.fill(&entry.content),
                priority: entry.priority.clone(),
                status: entry.status.clone(),
            };
            let plan = entries.iter().map(entry).collect();
            self.push(AnswerPiece::Plan(plan));
        } else if let Some(usage) = act.usage {
            self.push(AnswerPiece::Usage { used: usage.used, size: usage.size });
        } else if let Some(pause) = act.pause_ms {
            self.push(AnswerPiece::Paused);
            self.wait += Duration::from_millis(pause);
            self.push(AnswerPiece::Resumed);
        } else if let Some(wait) = act.wait_ms {
            self.wait += Duration::from_millis(wait);
        } else if let Some(stop) = act.stop {
            self.push(AnswerPiece::Stop(reason(stop)));
        } else if let Some(why) = &act.error {
            let after = std::mem::take(&mut self.wait);
            self.cues.push(ScriptCue { after, piece: Err(ModelError::Rehearsed(why.clone())) });
        }
    }

    /// A text word by word, as often as the act says.
    fn words(&mut self, act: &ScriptAct, text: &str, piece: fn(String) -> AnswerPiece) {
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

    fn call(&mut self, act: &ScriptAct, name: &str) {
        self.calls += 1;
        let input = match (&act.raw_input, &act.input) {
            (Some(raw), _) => RawJson::parse(self.values.fill(raw)).ok(),
            (None, Some(table)) => RawJson::of(&self.values.json(table)).ok(),
            (None, None) => None,
        };
        let input = input.unwrap_or_else(|| RawJson::parse("{}").expect("braces are an object"));
        let (id, name) = (format!("call_{}", self.calls), self.values.fill(name));
        self.push(AnswerPiece::ToolCall(ToolCall { id, name, input }));
    }
}

fn reason(stop: ScriptStop) -> StopReason {
    match stop {
        ScriptStop::EndTurn => StopReason::EndTurn,
        ScriptStop::MaxTokens => StopReason::MaxTokens,
        ScriptStop::Refusal => StopReason::Refusal,
    }
}

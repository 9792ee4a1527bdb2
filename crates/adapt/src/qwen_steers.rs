//! Steers of qwen-code, which asks for them: after its tools have run it asks, by a method of its own, what the user has said meanwhile.
//! That is a break-point. While its model talks it does not ask, and is cut off.

use std::time::Duration;

use nudge_backend::{AgentQuestion, QuestionAnswer, QuestionId};
use nudge_wire::RawJson;
use serde_json::{Value, json};
use tokio::time::Instant;

/// The method.
pub(crate) const DRAIN: &str = "craft/drainMidTurnQueue";
/// How long it may be until the answer: after two seconds it goes on without, and what comes then is left for another time.
const IN_TIME: Duration = Duration::from_millis(1500);

/// What an agent has asked for in one session.
#[derive(Default)]
pub(crate) struct QwenSteers {
    /// It waits to be told what goes in.
    asked: Option<(AgentQuestion, Instant)>,
    /// A client is asked for messages that it keeps itself.
    passed: Option<QuestionId>,
    /// Whether the client knows nothing of that.
    is_refused: bool,
}

impl QwenSteers {
    /// The agent waits. What it asked before is not waited for any more.
    pub(crate) fn ask(&mut self, question: AgentQuestion, now: Instant) -> Option<QuestionId> {
        self.asked.replace((question, now)).map(|(earlier, _)| earlier.id)
    }

    /// What the agent has asked, and whether an answer comes in time.
    pub(crate) fn take(&mut self, now: Instant) -> Option<(AgentQuestion, bool)> {
        let (question, at) = self.asked.take()?;
        Some((question, now.saturating_duration_since(at) < IN_TIME))
    }

    /// Whether the client is to be asked for messages of its own.
    pub(crate) fn passes(&mut self, question: QuestionId) -> bool {
        if self.is_refused || self.passed.is_some() {
            return false;
        }
        self.passed = Some(question);
        true
    }

    /// What a client has answered, as the agent is told it. One that knows no such method has nothing, and is not asked again.
    pub(crate) fn answered(&mut self, question: QuestionId, answer: QuestionAnswer) -> QuestionAnswer {
        if self.passed.take_if(|passed| *passed == question).is_none() {
            return answer;
        }
        self.is_refused |= answer.is_err();
        answer.or_else(|_| Ok(messages(&[])))
    }

    /// The agent is gone.
    pub(crate) fn clear(&mut self) {
        (self.asked, self.passed) = (None, None);
    }
}

/// The answer that has these. They are one to it, for it takes in a few alone.
pub(crate) fn messages(contents: &[&RawJson]) -> RawJson {
    let blocks: Vec<Value> =
        contents.iter().filter_map(|content| content.to::<Vec<Value>>().ok()).flatten().collect();
    let items = if blocks.is_empty() { json!([]) } else { json!([{ "content": blocks }]) };
    let answer = json!({ "messages": [], "items": items, "hasQueuedPrompt": false });
    RawJson::of(&answer).expect("it is plain data")
}

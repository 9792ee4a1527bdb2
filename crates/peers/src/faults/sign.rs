//! What a user sees first after a fault has struck.

use serde_json::Value;

use super::table::HALF;
use crate::tee::{Record, Side};

/// What is looked for: a sign in the turn of a prompt, beside what the agent says in any turn.
pub struct SignSearch<'a> {
    /// The session.
    pub session: &'a str,
    /// The id of the prompt.
    pub prompt: u64,
    /// When the fault struck.
    pub struck: f64,
    /// Texts that are no sign.
    pub usual: &'a [String],
}

impl SignSearch<'_> {
    /// The seconds from the fault to the first message that a client shows, of what came since.
    pub fn first_sign(&self, record: &[Record]) -> Option<f64> {
        let mut later = record.iter().filter(|record| record.to == Side::Client && record.at >= self.struck);
        let sign = later.find(|record| {
            let message: Value = serde_json::from_str(&record.line).unwrap_or_default();
            self.is_sign(&message)
        });
        sign.map(|record| record.at - self.struck)
    }

    /// Whether a message is the end of the turn, a question to the user, or something that is shown in the session. Titles,
    /// options, counts of tokens and what the model had said before are none.
    fn is_sign(&self, message: &Value) -> bool {
        if message.get("method").is_none() {
            return message["id"] == self.prompt;
        }
        if message["params"]["sessionId"] != self.session {
            return false;
        }
        if message.get("id").is_some() {
            return true;
        }
        let update = &message["params"]["update"];
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" | "agent_thought_chunk" => {
                let text = update["content"]["text"].as_str().unwrap_or_default();
                !is_of_the_model(text) && !self.usual.iter().any(|usual| usual == text)
            }
            "tool_call" | "plan" | "notice" => true,
            "tool_call_update" => update["status"] == "completed" || update["status"] == "failed",
            _ => false,
        }
    }
}

/// Whether this is what the model said before it failed, and nothing more.
fn is_of_the_model(text: &str) -> bool {
    text.replace(HALF.trim(), "").trim().is_empty()
}

/// What the agent said since a moment that a model need not have said.
pub(crate) fn usual_texts<'a>(updates: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let texts = updates.filter_map(|update| update["content"]["text"].as_str());
    texts.map(str::to_owned).collect()
}

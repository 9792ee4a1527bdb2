//! What an agent is told of a turn that was cut off, if it is one that forgets such turns.

use std::{collections::BTreeSet, sync::Arc};

use nudge_backend::UserMessage;
use nudge_bridge::{IndexedUpdate, UpdateSpeaker};
use nudge_wire::caps::AgentInit;
use serde_json::Value;

use crate::{echo, tier};

/// The most that is told, in bytes; the newest of it.
const MOST: usize = 32 * 1024;

const BEFORE: &str = "You were interrupted by the user, and what you were asked and have done since then is not in your \
    memory. It follows, oldest first. Do not repeat what is done.\n\n<turn>\n";
const AFTER: &str = "</turn>\n\nThe user now says:\n";

/// Agents that were seen to drop everything since the prompt from their memory when they are cancelled.
pub(crate) fn forgets(init: &AgentInit) -> bool {
    tier::name(init).is_some_and(|name| name == "gemini-cli")
}

/// The turn so far, in words.
#[derive(Debug, Default)]
pub(crate) struct TurnSoFar {
    text: String,
    /// The tool calls that were told of. Some agents tell of a call only when it has ended.
    calls: BTreeSet<Arc<str>>,
    is_speaking: bool,
}

impl TurnSoFar {
    /// The agent is told this.
    pub(crate) fn ask(&mut self, messages: &[UserMessage]) {
        for message in messages {
            self.line("User", &echo::text(&message.content));
        }
    }

    /// The agent says this.
    pub(crate) fn hear(&mut self, update: &IndexedUpdate) {
        match update.kind.speaker() {
            UpdateSpeaker::Agent => {
                let words = update.raw.get(&["content"]).map(|content| echo::text(&content));
                self.speak(&words.unwrap_or_default());
            }
            UpdateSpeaker::Tool if update.kind.is_tool_call() => {
                let Ok(value) = update.raw.to::<Value>() else { return };
                if let (Some(title), Some(id)) = (value["title"].as_str(), &update.tool_call_id)
                    && self.calls.insert(Arc::clone(id))
                {
                    self.line("Tool", title);
                }
                for block in value["content"].as_array().into_iter().flatten() {
                    if let Some(output) = block["content"]["text"].as_str() {
                        self.line("Output", output);
                    }
                }
            }
            _ => {}
        }
    }

    /// What goes in front of the next prompt.
    pub(crate) fn tell(&self) -> String {
        let end = if self.text.ends_with('\n') { "" } else { "\n" };
        format!("{BEFORE}{}{end}{AFTER}", self.text)
    }

    fn line(&mut self, who: &str, what: &str) {
        if what.is_empty() {
            return;
        }
        let space = if self.is_speaking { "\n" } else { "" };
        self.is_speaking = false;
        self.push(&format!("{space}{who}: {what}\n"));
    }

    fn speak(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        let who = if self.is_speaking { "" } else { "You: " };
        self.is_speaking = true;
        self.push(&format!("{who}{words}"));
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * MOST {
            let from = self.text.len() - MOST;
            let from = (from..self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
            self.text.drain(..from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nudge_wire::{RawJson, Version};
    use serde_json::json;

    #[test]
    fn the_turn_is_told_in_order() {
        let mut turn_so_far = TurnSoFar::default();
        let content = RawJson::of(&json!([{ "type": "text", "text": "fix it" }])).unwrap();
        turn_so_far.ask(&[UserMessage { id: "m".into(), content, params: None }]);
        turn_so_far.speak("I look ");
        turn_so_far.speak("around.");
        turn_so_far.line("Tool", "ls");
        turn_so_far.line("Output", "");
        turn_so_far.line("Output", "a.rs");
        let told = "<turn>\nUser: fix it\nYou: I look around.\nTool: ls\nOutput: a.rs\n</turn>";
        assert!(turn_so_far.tell().contains(told), "{}", turn_so_far.tell());
    }

    #[test]
    fn it_stays_short() {
        let mut turn_so_far = TurnSoFar::default();
        for _ in 0..1000 {
            turn_so_far.speak(&"é".repeat(500));
        }
        assert!(turn_so_far.text.len() <= 2 * MOST);
    }

    #[test]
    fn only_some_agents_forget() {
        let of = |name: &str| {
            let result = json!({ "protocolVersion": 1, "agentInfo": { "name": name, "version": "1" } });
            forgets(&AgentInit::new(Version::V1, RawJson::of(&result).unwrap()))
        };
        assert!(of("gemini-cli"));
        assert!(!of("goose"));
    }
}

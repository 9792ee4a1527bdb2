//! Tells what an agent repeats of the user's words from what it has to say about them.

use std::collections::VecDeque;

use nudge_wire::RawJson;
use serde_json::Value;

/// The newest messages, which are kept to be recognised. An agent may repeat one after its turn has ended.
const MOST: usize = 32;

/// What the user said last, as text.
#[derive(Debug, Default)]
pub(crate) struct PromptEcho {
    said: VecDeque<String>,
    /// What the agent has repeated so far of the message it repeats.
    heard: String,
}

impl PromptEcho {
    /// The user says this; `content` is a list of blocks.
    pub(crate) fn note_prompt(&mut self, content: &RawJson) {
        self.note_text(&text(content));
    }

    /// The agent is told this, which it may repeat as if the user had said it.
    pub(crate) fn note_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.said.truncate(MOST - 1);
            self.said.push_front(text.to_owned());
        }
        self.heard.clear();
    }

    /// Whether a `user_message` or a chunk of one repeats what was said.
    pub(crate) fn is_repeated(&mut self, update: &RawJson) -> bool {
        let content = update.get(&["content"]).map(|content| text(&content)).unwrap_or_default();
        if content.is_empty() {
            return true;
        }
        let heard = format!("{}{content}", self.heard);
        let continues = |said: &String| said.contains(heard.trim());
        if self.said.iter().any(continues) {
            self.heard = heard;
            return true;
        }
        // Some agents wrap the words of the user in their own.
        let wraps = |said: &String| content.contains(said.trim());
        let begins = |said: &String| said.contains(content.trim());
        if self.said.iter().any(|said| wraps(said) || begins(said)) {
            self.heard = content;
            return true;
        }
        self.heard.clear();
        false
    }
}

/// The text of a block or a list of blocks.
pub(crate) fn text(content: &RawJson) -> String {
    match content.to::<Value>() {
        Ok(Value::Array(blocks)) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        Ok(block) => block["text"].as_str().unwrap_or_default().to_owned(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn raw(value: &Value) -> RawJson {
        RawJson::of(value).unwrap()
    }

    #[test]
    fn what_was_said_is_recognised_whole_and_in_pieces() {
        let mut echo = PromptEcho::default();
        echo.note_prompt(&raw(&json!([{ "type": "text", "text": "fix the bug" }])));
        let mut heard =
            |text: &str| echo.is_repeated(&raw(&json!({ "content": { "type": "text", "text": text } })));
        assert!(heard("fix "));
        assert!(heard("the bug"));
        assert!(heard("fix the bug"));
        assert!(!heard("[request interrupted by user]"));
    }
}

//! What the client can tell of the turn from what it is shown, and what must not be shown then.

use std::collections::BTreeSet;

use serde_json::Value;

/// A session as one client sees it.
#[derive(Debug, Default)]
pub(super) struct Sight {
    /// Whether a turn runs, as far as the client can tell.
    pub(super) is_running: bool,
    /// Tool calls that have not ended.
    tools: BTreeSet<String>,
}

impl Sight {
    /// Takes an update that is no message of the user.
    pub(super) fn take(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("state_update") => self.state(&update["state"]),
            // Version 1 is told in this way of turns that have no request of its own.
            Some("session_info_update") if update["_meta"]["state"].is_string() => {
                self.state(&update["_meta"]["state"]);
            }
            Some("tool_call" | "tool_call_update") => {
                self.is_running = true;
                self.tool(update);
            }
            Some("agent_message_chunk") => self.is_running = true,
            _ => {}
        }
    }

    fn state(&mut self, state: &Value) {
        if state == "idle" {
            self.ended();
        } else {
            self.is_running = true;
        }
    }

    fn tool(&mut self, update: &Value) {
        let id = update["toolCallId"].as_str().expect("a tool call has an id").to_owned();
        match update["status"].as_str() {
            Some("pending" | "in_progress") => drop(self.tools.insert(id)),
            Some(_) => drop(self.tools.remove(&id)),
            None => {}
        }
    }

    /// The turn is over: the state says so, or the answer to its prompt.
    pub(super) fn ended(&mut self) {
        self.is_running = false;
        self.tools.clear();
    }

    /// A message is delivered now: a turn begins with it, or takes it in.
    pub(super) fn deliver(&mut self, mode: &str, text: &str) {
        match mode {
            "queue" => assert!(!self.is_running, "`{text}` was queued and is delivered while a turn runs"),
            "steer" => {
                assert!(
                    self.tools.is_empty(),
                    "`{text}` is delivered while a tool call runs: {:?}",
                    self.tools
                );
            }
            _ => {}
        }
        self.is_running = true;
    }
}

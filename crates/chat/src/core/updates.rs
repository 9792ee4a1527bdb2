//! What an update of the session changes beside the conversation.

use serde_json::Value;

use super::{ChatAct, ChatCore, TurnView, options::SessionOption};
use crate::{
    completion::CompletionItem,
    content_text::content_text,
    conversation::ConversationForm,
    styled::{DIM, TextColour},
    terminal_text,
};

/// After how many seconds the end of a turn is told by a sound: somebody who has waited for so long may look elsewhere.
const LONG_TURN: u64 = 10;
/// How many commands of an agent are kept.
const COMMANDS: usize = 200;

impl ChatCore {
    pub(super) fn update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "state_update" => self.state(update),
            "plan" | "plan_update" => self.set_plan(update),
            "plan_removed" => self.plan_removed(),
            "usage_update" => self.usage(update),
            "session_info_update" => {
                if let Some(title) = update["title"].as_str() {
                    self.title = Some(terminal_text::row(title));
                }
            }
            "config_option_update" => self.options = SessionOption::all(&update["configOptions"]),
            "available_commands_update" => self.commands(update),
            kind => {
                self.told.update(update);
                if kind == "user_message" && self.is_history {
                    self.composer.remember(&content_text(&update["content"]));
                }
                if kind == "user_message" {
                    self.pending.delivered(update["messageId"].as_str().unwrap_or_default());
                }
                self.conversation.update(update);
            }
        }
    }

    fn state(&mut self, update: &Value) {
        let before = self.turn;
        self.turn = match update["state"].as_str() {
            Some("running") => TurnView::Running,
            Some("requires_action") => TurnView::NeedsUser,
            _ => TurnView::Idle,
        };
        if before == TurnView::Idle && self.turn != TurnView::Idle {
            self.turn_since = self.now;
        }
        if self.is_stopping && self.turn != TurnView::Running || self.turn == TurnView::NeedsUser {
            // It speaks of what was before.
            self.hint = None;
        }
        if self.turn == TurnView::Idle {
            self.is_stopping = false;
            self.put_plan();
            self.conversation.end_turn();
            self.pending.turn_over();
            if before != TurnView::Idle {
                self.turn_over(update);
            }
        }
    }

    /// Says how a turn has ended, where that is not as usual.
    fn turn_over(&mut self, update: &Value) {
        let seconds = self.now.saturating_sub(self.turn_since).as_secs();
        if seconds >= LONG_TURN {
            self.acts.push(ChatAct::Ring);
        }
        if let Some(message) = update["error"]["message"].as_str() {
            return self.note(TextColour::Red.text(), &format!("· {}", terminal_text::one_line(message)));
        }
        let reason = update["stopReason"].as_str().unwrap_or("end_turn");
        let text = match reason {
            "end_turn" => match self.form {
                ConversationForm::Spoken => format!("The turn is over, after {seconds} seconds."),
                ConversationForm::Drawn => return,
            },
            "cancelled" => "· stopped".to_owned(),
            "refusal" => "· the agent refuses to go on".to_owned(),
            "max_tokens" => "· the answer was cut off: it was too long".to_owned(),
            "max_turn_requests" => "· the turn was cut off: it asked the model too often".to_owned(),
            other => format!("· the turn ended: {}", terminal_text::row(other)),
        };
        self.note(DIM, &text);
    }

    fn usage(&mut self, update: &Value) {
        let usage = self.usage.get_or_insert_default();
        usage.used = update["used"].as_u64().unwrap_or(usage.used);
        usage.size = update["size"].as_u64().unwrap_or(usage.size);
        if let Some(amount) = update["cost"]["amount"].as_f64() {
            let currency = terminal_text::row(update["cost"]["currency"].as_str().unwrap_or("USD"));
            let sign = if currency == "USD" { "$".to_owned() } else { format!("{currency} ") };
            usage.cost = Some(format!("{sign}{amount:.2}"));
        }
    }

    fn commands(&mut self, update: &Value) {
        let list = update["availableCommands"].as_array().into_iter().flatten().take(COMMANDS);
        let one = |command: &Value| {
            let name = terminal_text::row(command["name"].as_str()?);
            let hint =
                command["input"]["hint"].as_str().map(|hint| format!("‹{}› ", terminal_text::row(hint)));
            let about = terminal_text::row(command["description"].as_str().unwrap_or_default());
            Some(CompletionItem {
                text: format!("/{name}"),
                about: format!("{}{about}", hint.unwrap_or_default()),
            })
        };
        self.commands = list.filter_map(one).collect();
    }
}

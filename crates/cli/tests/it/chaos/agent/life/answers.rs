//! What the client sends and what it is told, each request answered once.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Asked, Life, string};
use crate::chaos::{
    agent::saga::Fate,
    world::{Revoke, number, text},
};

impl Life<'_> {
    pub(super) fn ask(&mut self, method: &str, params: &Value, asked: Asked) -> u64 {
        self.next += 1;
        self.saga.tally.requests += 1;
        self.open.insert(self.next, asked);
        self.write(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    pub(super) fn write(&mut self, message: &Value) {
        self.note('>', message);
        if !self.is_dead && self.process.try_line(message.to_string()).is_err() {
            self.is_dead = true;
        }
    }

    /// Takes one message, if one comes in time.
    pub(super) fn take(&mut self, patience: Duration) -> bool {
        let message = self.read(patience);
        if let Some(message) = &message {
            self.handle(message);
        }
        message.is_some()
    }

    pub(super) fn handle(&mut self, message: &Value) {
        let update = &message["params"]["update"];
        match (message["method"].as_str(), update["sessionUpdate"].as_str()) {
            (_, Some("user_message" | "user_message_chunk")) => {
                self.delivered(&string(&update["messageId"]), &text(&update["content"]));
            }
            (_, Some(kind)) => {
                if kind == "agent_message_chunk" {
                    self.said = text(&update["content"]);
                }
                self.sight.take(update);
            }
            (Some("session/request_permission"), _) => {
                if self.dice.below(3) == 0 {
                    self.held.push(message.clone());
                } else {
                    self.permit(message);
                }
            }
            (Some("$/cancel_request"), _) => {
                let id = &message["params"]["requestId"];
                self.held.retain(|request| request["id"] != *id);
            }
            (Some(_), _) => {
                // What else the agent asks for is not known here.
                if message.get("id").is_some() {
                    let error = json!({"code": -32601, "message": "Method not found"});
                    self.write(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
                }
            }
            (None, _) => {
                let id = message["id"].as_u64();
                let asked = id.and_then(|id| self.open.remove(&id));
                let asked = asked.unwrap_or_else(|| panic!("answered twice or unasked: {message}"));
                self.saga.tally.answers += 1;
                self.answered(&asked, message);
            }
        }
    }

    fn delivered(&mut self, id: &str, text: &str) {
        assert!(self.seen.insert(id.to_owned()), "{text} is delivered twice");
        let known = &mut self.saga.world.messages[number(text)];
        let is_it = known.id.as_deref().is_none_or(|known| known == id);
        assert!(is_it, "{text} has the id {id} and not that of {known:?}");
        assert_ne!(known.revoke, Revoke::Done, "{known:?} is delivered after it was revoked");
        assert!(known.texts.iter().any(|may| may == text), "{text} is not what {known:?} may say");
        self.sight.deliver(known.mode, text);
    }

    fn answered(&mut self, asked: &Asked, message: &Value) {
        let reason = message["error"]["data"]["reason"].as_str();
        let is_done = message.get("result").is_some();
        let told = &mut self.saga.world.told;
        let messages = &mut self.saga.world.messages;
        match asked {
            Asked::Other => {}
            Asked::Prompt { number, is_first } => self.prompted(*number, *is_first, message),
            Asked::Inject { number, is_first } => match (message["result"]["messageId"].as_str(), reason) {
                (Some(id), _) => {
                    let known = &mut messages[*number];
                    told.accepted += u64::from(known.id.is_none());
                    assert!(known.id.as_deref().is_none_or(|known| known == id), "the same key, another id");
                    known.id = Some(id.to_owned());
                    known.at_first |= is_first;
                }
                (None, Some("no_running_turn")) => messages[*number].is_refused = true,
                _ => panic!("{message}"),
            },
            Asked::Revoke { number } => match reason {
                None if is_done => {
                    told.revoked += 1;
                    messages[*number].revoke = Revoke::Done;
                }
                Some("already_delivered") => messages[*number].revoke = Revoke::No,
                _ => panic!("{message}"),
            },
            Asked::Replace { number, text } => {
                let texts = &mut messages[*number].texts;
                match reason {
                    None if is_done => {
                        told.replaced += 1;
                        // Nothing that was sent before counts any more; what was sent later may.
                        let at =
                            texts.iter().position(|may| may == text).expect("it was noted when it was sent");
                        texts.drain(..at);
                    }
                    Some("already_delivered" | "unknown_message_id") => texts.retain(|may| may != text),
                    _ => panic!("{message}"),
                }
            }
        }
    }

    /// The answer to a prompt: in version 1 its turn is over, in version 2 it is delivered.
    fn prompted(&mut self, number: usize, is_first: bool, message: &Value) {
        let known = &mut self.saga.world.messages[number];
        let fate = match (self.version, message["result"]["stopReason"].as_str()) {
            // It may have waited still.
            (1, Some("cancelled")) => Fate::Cancelled,
            (1, Some(_)) => Fate::Ran,
            (1, None) => {
                assert!(message.get("error").is_some(), "{message}");
                Fate::Ran
            }
            (_, _) if message.get("error").is_some() => {
                assert_eq!(message["error"]["code"], -32800, "{message}");
                Fate::Dropped
            }
            (_, _) => {
                known.id = Some(string(&message["result"]["messageId"]));
                Fate::Ran
            }
        };
        known.at_first |= is_first;
        self.saga.prompts.insert(number, fate);
        if self.version == 1 {
            self.sight.ended();
        }
    }
}

//! What the client does, and what is done to the agent meanwhile.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Asked, Life};
use crate::chaos::{
    agent::{havoc, kind, saga::Fate},
    world::{Known, Revoke},
};

/// Prompts that wait for their answer at one time.
const PROMPTS: usize = 3;

impl Life<'_> {
    /// What was not answered in an earlier life is sent again under the same key.
    pub(super) fn send_again(&mut self) {
        let is_open = |known: &&Known| known.id.is_none() && !known.is_refused;
        let open: Vec<usize> =
            self.saga.world.messages.iter().filter(is_open).map(|known| known.number).collect();
        for number in open {
            match self.saga.prompts.get(&number) {
                None => self.retry(number),
                Some(Fate::Unknown) if self.dice.below(2) == 0 => {
                    self.saga.world.told.retried += 1;
                    if self.version == 2 {
                        // If it does not wait any more it is a new prompt, of this version.
                        self.saga.world.messages[number].mode = "prompt";
                    }
                    self.send_prompt(number, false);
                }
                Some(_) => {}
            }
        }
    }

    pub(super) fn deed(&mut self) {
        if self.saga.world.session.is_none() || self.is_dead {
            return;
        }
        let known = self.saga.world.messages.len();
        let any = (known > 0).then(|| self.dice.index(known));
        match (self.dice.below(28), any) {
            (0..=1, _) => self.cancel(),
            (2..=4, Some(number)) => self.revoke(number),
            (5..=7, Some(number)) => self.replace(number),
            (8, Some(number)) if !self.saga.is_prompt(number) => self.retry(number),
            (9..=11, _) => {
                let waiting =
                    self.open.values().filter(|asked| matches!(asked, Asked::Prompt { .. })).count();
                if waiting < PROMPTS {
                    let script = self.script();
                    self.prompt(&script);
                }
            }
            (12, _) => self.pass(),
            (13..=15, _) if self.harm > 0 => self.harm(),
            (chance, _) => self.inject(if chance % 2 == 0 { "queue" } else { "steer" }),
        }
    }

    /// Something to play, which may be the end of the agent.
    fn script(&mut self) -> String {
        let number = self.saga.world.messages.len();
        let script = kind::script(self.dice, number, self.harm > 0);
        if kind::is_deadly(&script) {
            self.harm -= 1;
            self.saga.is_deadly = true;
        }
        script
    }

    fn add(&mut self, mode: &'static str, script: &str) -> usize {
        let number = self.saga.world.messages.len();
        self.saga.world.messages.push(Known {
            number,
            mode,
            id: None,
            at_first: false,
            texts: vec![format!("say {number} a{script}")],
            revoke: Revoke::No,
            is_refused: false,
        });
        number
    }

    fn inject(&mut self, mode: &'static str) {
        let script = self.script();
        let number = self.add(mode, &script);
        self.send_inject(number, true);
    }

    /// Sends a message again, whether or not it was answered.
    fn retry(&mut self, number: usize) {
        let known = &self.saga.world.messages[number];
        if !known.is_refused {
            self.saga.world.told.retried += 1;
            self.send_inject(number, false);
        }
    }

    fn send_inject(&mut self, number: usize, is_first: bool) {
        let known = &self.saga.world.messages[number];
        let params = json!({
            "sessionId": self.saga.world.session,
            "mode": known.mode,
            "content": [{"type": "text", "text": known.texts[0]}],
            "_meta": {"idempotencyKey": format!("key {number}")},
        });
        self.ask("session/inject", &params, Asked::Inject { number, is_first });
    }

    /// Prompts; gives the number of the message.
    pub(super) fn prompt(&mut self, script: &str) -> usize {
        // In version 1 a prompt waits behind what is queued; in version 2 it depends on whether a turn runs.
        let number = self.add(if self.version == 1 { "queue" } else { "prompt" }, script);
        self.saga.prompts.insert(number, Fate::Unknown);
        self.saga.tally.prompts += 1;
        self.send_prompt(number, true);
        number
    }

    fn send_prompt(&mut self, number: usize, is_first: bool) {
        let params = json!({
            "sessionId": self.saga.world.session,
            "prompt": [{"type": "text", "text": self.saga.world.messages[number].texts[0]}],
            "_meta": {"idempotencyKey": format!("key {number}")},
        });
        self.ask("session/prompt", &params, Asked::Prompt { number, is_first });
    }

    fn revoke(&mut self, number: usize) {
        let is_prompt = self.saga.is_prompt(number);
        let known = &mut self.saga.world.messages[number];
        if let (Some(id), Revoke::No, false) = (&known.id, known.revoke, is_prompt) {
            let params = json!({"sessionId": self.saga.world.session, "messageId": id});
            known.revoke = Revoke::Asked;
            self.ask("session/revoke_inject", &params, Asked::Revoke { number });
        }
    }

    fn replace(&mut self, number: usize) {
        let is_prompt = self.saga.is_prompt(number);
        let mark = self.dice.below(1_000_000);
        let known = &mut self.saga.world.messages[number];
        if let (Some(id), Revoke::No, false) = (&known.id, known.revoke, is_prompt) {
            let text = format!("say {number} r{mark}; sleep 5; say replaced");
            let content = json!([{"type": "text", "text": text}]);
            let params = json!({"sessionId": self.saga.world.session, "messageId": id, "content": content});
            known.texts.push(text.clone());
            self.ask("session/replace_inject", &params, Asked::Replace { number, text });
        }
    }

    /// Asks for something that only the agent can answer, or sets an option of it.
    fn pass(&mut self) {
        let session = &self.saga.world.session;
        let (method, params) = match (self.dice.below(2), self.version) {
            (0, _) => ("_test/echo", json!({"sessionId": session, "n": 1})),
            (_, 1) => ("session/set_mode", json!({"sessionId": session, "modeId": "code"})),
            _ => (
                "session/set_config_option",
                json!({"sessionId": session, "configId": "mode", "type": "select", "value": "code"}),
            ),
        };
        self.ask(method, &params, Asked::Other);
    }

    pub(super) fn cancel(&mut self) {
        let params = json!({"sessionId": self.saga.world.session});
        self.write(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}));
    }

    /// Answers a permission request.
    pub(super) fn permit(&mut self, request: &Value) {
        let outcome = match self.dice.below(4) {
            0 => json!({"outcome": "selected", "optionId": "no"}),
            1 => json!({"outcome": "cancelled"}),
            _ => json!({"outcome": "selected", "optionId": "yes"}),
        };
        self.write(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}}));
    }

    /// Does something to the agent.
    pub(super) fn harm(&mut self) {
        self.harm -= 1;
        match self.dice.below(8) {
            0..=2 => {
                self.saga.is_deadly = true;
                self.kill("kill -9 of the agent");
            }
            3 => {
                self.saga.is_deadly = true;
                for pid in havoc::keepers(&self.saga.place) {
                    self.saga.tally.harmed("kill -9 of its keeper", 1);
                    havoc::signal(pid, Signal::KILL);
                }
            }
            4 => {
                self.saga.is_deadly = true;
                self.stop(None);
                self.kill("kill -9 of a stopped agent");
                self.stopped = None;
            }
            5..=6 => {
                let moment = Duration::from_micros(self.dice.below(120_000));
                self.stop(Some(Instant::now() + moment));
            }
            _ => self.stop(None),
        }
    }

    fn kill(&mut self, how: &'static str) {
        for pid in havoc::agents(&self.saga.place) {
            self.saga.tally.harmed(how, 1);
            havoc::signal(pid, Signal::KILL);
        }
    }

    /// Stops the agent until then, or until nothing happens any more.
    pub(super) fn stop(&mut self, until: Option<Instant>) {
        if self.stopped.is_none()
            && let Some(pid) = havoc::agents(&self.saga.place).pop()
        {
            let how = if until.is_some() { "stop for a moment" } else { "stop for long" };
            self.saga.tally.harmed(how, 1);
            havoc::signal(pid, Signal::STOP);
            self.stopped = Some((pid, until));
        }
    }
}

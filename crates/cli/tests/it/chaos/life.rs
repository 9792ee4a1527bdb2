//! One life of the process, from its start to its death or its end.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use nudge_testkit::{PATIENCE, Process};
use serde_json::{Value, json};

use super::{
    Dice,
    world::{Held, Known, Revoke, World, text},
};

/// How a life ends.
#[derive(Debug)]
pub(crate) enum Death {
    /// By itself.
    None,
    /// At a failpoint, such as `store.commit.before:3`.
    At(String),
    /// Killed from outside after so many microseconds.
    After(u64),
}

/// What is done in one life.
const DEEDS: usize = 24;
/// Requests that wait for an answer at one time.
const IN_FLIGHT: usize = 4;

pub(crate) struct Life {
    process: Process,
    next: u64,
    /// What was asked for and is not answered.
    open: BTreeMap<u64, Asked>,
    cwd: String,
    /// Ids of the messages seen to be delivered.
    seen: Vec<String>,
    is_dead: bool,
    may_die: bool,
    dies_at: Option<Instant>,
}

#[derive(Debug)]
enum Asked {
    Other,
    Inject { number: usize, is_first: bool },
    Revoke { number: usize },
    Replace { number: usize, text: String },
}

impl Life {
    pub(crate) fn begin(place: &Path, death: &Death, log: Option<&Path>) -> Self {
        let data = place.join("data");
        let work = place.join("work");
        std::fs::create_dir_all(&work).expect("a folder can be made");
        let rehearsal = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chaos.toml");
        let path = |path: &Path| path.to_str().expect("its name is text").to_owned();
        let mut env = vec![("NUDGE_DATA", path(&data)), ("NUDGE_REHEARSAL", path(&rehearsal))];
        if let Death::At(failpoint) = death {
            env.push(("NUDGE_FAILPOINT", failpoint.clone()));
        }
        env.extend(log.map(|log| ("NUDGE_FAILPOINT_LOG", path(log))));
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let process = crate::nudge_with(&["acp", "--on-close", "cancel"], &env);
        let dies_at = match death {
            Death::After(micros) => Some(Instant::now() + Duration::from_micros(*micros)),
            _ => None,
        };
        let (cwd, may_die) = (path(&work), !matches!(death, Death::None));
        Self {
            process,
            next: 0,
            open: BTreeMap::new(),
            cwd,
            seen: Vec::new(),
            is_dead: false,
            may_die,
            dies_at,
        }
    }

    /// Loads or makes the session, does what comes to mind, and if it lives sees to it that all is delivered.
    pub(crate) fn live(&mut self, world: &mut World, dice: &mut Dice) {
        self.open_session(world);
        self.send_again(world);
        for _ in 0..DEEDS {
            self.deed(world, dice);
            while self.open.len() >= IN_FLIGHT && self.take(world, PATIENCE) {}
            // Sometimes the world moves on before the next thing is said.
            let patience = Duration::from_micros(dice.below(4_000));
            while dice.below(3) > 0 && self.take(world, patience) {}
        }
        if self.is_dead {
            assert!(self.may_die, "it ended by itself: {}", self.process.last_words());
            world.told.crashes += 1;
            return;
        }
        if self.dies_at.is_some() {
            self.process.kill();
            while self.take(world, PATIENCE) {}
            world.told.crashes += 1;
            return;
        }
        self.settle(world);
    }

    /// Loads the session and compares, no more.
    pub(crate) fn look(&mut self, world: &mut World) {
        self.open_session(world);
        world.told.delivered += self.seen.len() as u64;
        assert!(!self.is_dead, "it ended by itself: {}", self.process.last_words());
    }

    fn open_session(&mut self, world: &mut World) {
        let info = json!({"name": "chaos", "version": "1"});
        let params = json!({"protocolVersion": 2, "info": info, "capabilities": {}});
        self.ask("initialize", &params, Asked::Other);
        let Some(session) = world.session.clone() else {
            let opened = self.ask("session/new", &json!({"cwd": self.cwd}), Asked::Other);
            let opened = self.answer_to(opened, world, |_| {});
            world.session = opened.and_then(|opened| Some(opened["sessionId"].as_str()?.to_owned()));
            return;
        };
        let params = json!({"sessionId": session, "cwd": self.cwd, "replayFrom": {"type": "start"}});
        let asked = self.ask("session/resume", &params, Asked::Other);
        let mut held = Held::default();
        let opened = self.answer_to(asked, world, |update| {
            if update["sessionUpdate"] == "user_message" {
                held.delivered.push((string(&update["messageId"]), text(&update["content"])));
            }
        });
        let Some(opened) = opened else { return };
        let pending = opened["_meta"]["inject"]["pending"].as_array().expect("what waits is told");
        held.pending =
            pending.iter().map(|waits| (string(&waits["messageId"]), text(&waits["content"]))).collect();
        world.check(&held);
        self.seen = held.delivered.into_iter().map(|(id, _)| id).collect();
    }

    /// Waits for one answer; `None` if death comes first.
    fn answer_to(&mut self, id: u64, world: &mut World, mut see: impl FnMut(&Value)) -> Option<Value> {
        while let Some(message) = self.read(PATIENCE) {
            see(&message["params"]["update"]);
            let is_it = message["id"] == id && message.get("method").is_none();
            if is_it {
                self.open.remove(&id);
                assert!(message.get("error").is_none(), "{message}");
                return Some(message["result"].clone());
            }
            self.handle(&message, world);
        }
        None
    }

    /// What was not answered in an earlier life is sent again under the same key.
    fn send_again(&mut self, world: &mut World) {
        let Some(session) = world.session.clone() else { return };
        for known in &world.messages {
            if known.id.is_none() && !known.is_refused {
                world.told.retried += 1;
                let params = inject(&session, known);
                self.ask("session/inject", &params, Asked::Inject { number: known.number, is_first: false });
            }
        }
    }

    fn deed(&mut self, world: &mut World, dice: &mut Dice) {
        let Some(session) = world.session.clone() else { return };
        let known = world.messages.len() as u64;
        let any = (known > 0).then(|| usize::try_from(dice.below(known)).expect("it is small"));
        match (dice.below(20), any) {
            (0..=1, _) => {
                let note =
                    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
                self.write(&note);
            }
            (2..=4, Some(number)) => self.revoke(world, &session, number),
            (5..=7, Some(number)) => self.replace(world, &session, number, dice),
            (chance, _) => {
                let number = world.messages.len();
                let kind =
                    ["say", "long", "tool", "say"][usize::try_from(dice.below(4)).expect("it is small")];
                let known = Known {
                    number,
                    mode: if chance % 2 == 0 { "queue" } else { "steer" },
                    id: None,
                    at_first: false,
                    texts: vec![format!("{kind} {number} a")],
                    revoke: Revoke::No,
                    is_refused: false,
                };
                let params = inject(&session, &known);
                world.messages.push(known);
                self.ask("session/inject", &params, Asked::Inject { number, is_first: true });
            }
        }
    }

    fn revoke(&mut self, world: &mut World, session: &str, number: usize) {
        let known = &mut world.messages[number];
        if let (Some(id), Revoke::No) = (&known.id, known.revoke) {
            let params = json!({"sessionId": session, "messageId": id});
            known.revoke = Revoke::Asked;
            self.ask("session/revoke_inject", &params, Asked::Revoke { number });
        }
    }

    fn replace(&mut self, world: &mut World, session: &str, number: usize, dice: &mut Dice) {
        let known = &mut world.messages[number];
        if let (Some(id), Revoke::No) = (&known.id, known.revoke) {
            let text = format!("say {number} r{}", dice.below(1_000_000));
            let content = json!([{"type": "text", "text": text}]);
            let params = json!({"sessionId": session, "messageId": id, "content": content});
            known.texts.push(text.clone());
            self.ask("session/replace_inject", &params, Asked::Replace { number, text });
        }
    }

    fn ask(&mut self, method: &str, params: &Value, asked: Asked) -> u64 {
        self.next += 1;
        self.open.insert(self.next, asked);
        self.write(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    fn write(&mut self, message: &Value) {
        if !self.is_dead && self.process.try_line(message.to_string()).is_err() {
            self.is_dead = true;
        }
    }

    /// Takes one message, if one comes in time.
    fn take(&mut self, world: &mut World, patience: Duration) -> bool {
        match self.read(patience) {
            Some(message) => {
                self.handle(&message, world);
                true
            }
            None => false,
        }
    }

    /// The next message; `None` if none comes in time or the process has died.
    fn read(&mut self, patience: Duration) -> Option<Value> {
        let now = Instant::now();
        let left = self.dies_at.map_or(patience, |at| at.saturating_duration_since(now).min(patience));
        match self.process.json_within(left) {
            Ok(Some(message)) => return Some(message),
            Ok(None) => self.is_dead = true,
            Err(_) => {}
        }
        if self.dies_at.is_some_and(|at| Instant::now() >= at) && !self.is_dead {
            self.dies_at = None;
            self.process.kill();
            // What it had said before is still read.
            return self.read(PATIENCE);
        }
        None
    }

    fn handle(&mut self, message: &Value, world: &mut World) {
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "user_message" {
            self.delivered(&string(&update["messageId"]), &text(&update["content"]), world);
        } else if message["method"] == "session/request_permission" {
            let options = message["params"]["options"].as_array().expect("there are options");
            let option =
                options.iter().find(|option| option["kind"] == "allow_always").expect("it is offered");
            let outcome = json!({"outcome": "selected", "optionId": option["optionId"]});
            self.write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}}));
        } else if message.get("method").is_none() {
            let id = message["id"].as_u64().expect("an answer has the id of its request");
            let asked =
                self.open.remove(&id).unwrap_or_else(|| panic!("answered twice or unasked: {message}"));
            answered(&asked, message, world);
        }
    }

    fn delivered(&mut self, id: &str, text: &str, world: &mut World) {
        assert!(!self.seen.iter().any(|seen| seen == id), "{text} is delivered twice");
        self.seen.push(id.to_owned());
        if let Some(known) = world.by_id(id) {
            assert_ne!(known.revoke, Revoke::Done, "{known:?} is delivered after it was revoked");
            assert!(known.texts.iter().any(|may| may == text), "{text} is not what {known:?} may say");
        }
    }

    /// All that was accepted is delivered, all that was asked for is answered.
    fn settle(&mut self, world: &mut World) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let is_due = |known: &&Known| known.id.is_some() && known.revoke == Revoke::No;
            let due = world.messages.iter().filter(is_due).filter_map(|known| known.id.clone());
            let missing = due.filter(|id| !self.seen.contains(id)).count();
            if missing == 0 && self.open.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "{missing} are not delivered, {:?} not answered", self.open);
            if self.is_dead {
                assert!(self.may_die, "it died by itself");
                world.told.crashes += 1;
                return;
            }
            if !self.take(world, Duration::from_millis(50)) {
                let session = world.session.clone().expect("there is a session");
                self.write(
                    &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
                );
            }
        }
    }
}

fn answered(asked: &Asked, message: &Value, world: &mut World) {
    let reason = message["error"]["data"]["reason"].as_str();
    match asked {
        Asked::Other => {}
        Asked::Inject { number, is_first } => match (message["result"]["messageId"].as_str(), reason) {
            (Some(id), _) => {
                world.told.accepted += 1;
                let known = &mut world.messages[*number];
                assert!(known.id.as_deref().is_none_or(|known| known == id), "the same key, another id");
                known.id = Some(id.to_owned());
                known.at_first = *is_first;
            }
            (None, Some("no_running_turn")) => world.messages[*number].is_refused = true,
            _ => panic!("{message}"),
        },
        Asked::Revoke { number } => match (message.get("result"), reason) {
            (Some(_), _) => {
                world.told.revoked += 1;
                world.messages[*number].revoke = Revoke::Done;
            }
            (None, Some("already_delivered")) => world.messages[*number].revoke = Revoke::No,
            _ => panic!("{message}"),
        },
        Asked::Replace { number, text } => match (message.get("result"), reason) {
            (Some(_), _) => {
                world.told.replaced += 1;
                // Nothing that was sent before counts any more; what was sent later may.
                let texts = &mut world.messages[*number].texts;
                let at = texts.iter().position(|may| may == text).expect("it was noted when it was sent");
                texts.drain(..at);
            }
            (None, Some("already_delivered" | "unknown_message_id")) => {
                world.messages[*number].texts.retain(|may| may != text);
            }
            _ => panic!("{message}"),
        },
    }
}

fn inject(session: &str, known: &Known) -> Value {
    json!({
        "sessionId": session,
        "mode": known.mode,
        "content": [{"type": "text", "text": known.texts[0]}],
        "_meta": {"idempotencyKey": format!("key {}", known.number)},
    })
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("expected a text, got {value}")).to_owned()
}

//! One life of Nudge in front of the agent, from its start to its death or its end.

mod answers;
mod deeds;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use nudge_testkit::{PATIENCE, Process};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Dice, havoc, saga::Saga, sight::Sight};
use crate::chaos::world::{Held, Known, Revoke, text};

/// What is done in one life.
const DEEDS: usize = 24;
/// How often the agent is done harm in one life, at most: it is started again after pauses that grow.
const HARM: u64 = 3;
/// How often something is asked for again that the agent died over.
const TRIES: usize = 6;
/// How long the client looks on when nothing happens, before it does something.
const QUIET: Duration = Duration::from_millis(100);

pub(super) struct Life<'a> {
    saga: &'a mut Saga,
    dice: &'a mut Dice,
    process: Process,
    version: u64,
    next: u64,
    /// What was asked for and is not answered.
    open: BTreeMap<u64, Asked>,
    /// Permissions that the agent waits for.
    held: Vec<Value>,
    sight: Sight,
    /// What the agent has said last.
    said: String,
    /// Ids of the messages seen to be delivered.
    seen: BTreeSet<String>,
    /// Harm that may still be done.
    harm: u64,
    /// An agent that was stopped, and when it may go on.
    stopped: Option<(i32, Option<Instant>)>,
    is_dead: bool,
    dies_at: Option<Instant>,
    /// The newest frames, to be shown if something is wrong.
    frames: Vec<String>,
}

#[derive(Debug)]
enum Asked {
    Other,
    Prompt { number: usize, is_first: bool },
    Inject { number: usize, is_first: bool },
    Revoke { number: usize },
    Replace { number: usize, text: String },
}

impl<'a> Life<'a> {
    pub(super) fn begin(saga: &'a mut Saga, dice: &'a mut Dice, dies_after: Option<Duration>) -> Self {
        let path = |name: &str| saga.place.join(name).to_str().expect("its name is text").to_owned();
        let work = path("work");
        std::fs::create_dir_all(&work).expect("a folder can be made");
        let agent = crate::adapt::agent();
        let mut args = vec!["acp", "--no-daemon", "--on-close", "cancel"];
        args.extend(saga.kind.isolate.then_some("--isolate"));
        let log = path("log");
        args.extend(["--", agent.to_str().expect("its name is text"), "--log", &log]);
        args.extend(saga.kind.options.iter().map(String::as_str));
        let process = crate::nudge_with(&args, &[("NUDGE_DATA", &path("data")), ("NUDGE_LOG", "info")]);
        let version = 1 + dice.below(2);
        let harm = dice.below(HARM + 1);
        Self {
            saga,
            dice,
            process,
            version,
            next: 0,
            open: BTreeMap::new(),
            held: Vec::new(),
            sight: Sight::default(),
            said: String::new(),
            seen: BTreeSet::new(),
            harm,
            stopped: None,
            is_dead: false,
            dies_at: dies_after.map(|after| Instant::now() + after),
            frames: Vec::new(),
        }
    }

    /// Opens the session, does what comes to mind, and if it lives sees to it that all is delivered and answered.
    pub(super) fn live(mut self) {
        let may_die = self.dies_at.is_some();
        self.open_session();
        self.send_again();
        for _ in 0..DEEDS {
            self.deed();
            self.tend();
            // Sometimes the world moves on before the next thing is said.
            let patience = Duration::from_micros(self.dice.below(6_000));
            while self.dice.below(3) > 0 && self.take(patience) {}
            let busy = |asked: &&Asked| !matches!(asked, Asked::Prompt { .. });
            if self.open.values().filter(busy).count() >= 4 {
                self.take(QUIET);
            }
        }
        if may_die {
            return self.die();
        }
        self.settle();
        self.last_word();
        self.end();
    }

    /// Loads the session and compares, no more.
    pub(super) fn look(mut self) {
        self.harm = 0;
        self.open_session();
        self.settle();
        self.end();
    }

    fn open_session(&mut self) {
        let info = json!({"name": "chaos", "version": "1"});
        let params = match self.version {
            1 => json!({"protocolVersion": 1, "clientCapabilities": {}}),
            _ => json!({"protocolVersion": 2, "info": info, "capabilities": {}}),
        };
        let asked = self.ask("initialize", &params, Asked::Other);
        if self.answer_to(asked, &mut Held::default()).is_none() {
            return;
        }
        for _ in 0..TRIES {
            let mut held = Held::default();
            let asked = self.ask_for_session();
            if self.harm > 0 && self.dice.below(10) == 0 {
                self.harm();
                self.stopped = self.stopped.map(|(pid, _)| (pid, Some(Instant::now() + QUIET)));
            }
            let Some(answer) = self.answer_to(asked, &mut held) else { return };
            if let Some(opened) = answer.get("result") {
                return self.opened(opened, held);
            }
            assert!(self.saga.is_deadly, "nobody has done it harm: {answer}");
        }
        panic!("the session cannot be opened");
    }

    fn ask_for_session(&mut self) -> u64 {
        let cwd = self.saga.place.join("work");
        let Some(session) = self.saga.world.session.clone() else {
            return self.ask("session/new", &json!({"cwd": cwd, "mcpServers": []}), Asked::Other);
        };
        let method = if self.version == 1 { "session/load" } else { "session/resume" };
        let params =
            json!({"sessionId": session, "cwd": cwd, "mcpServers": [], "replayFrom": {"type": "start"}});
        self.ask(method, &params, Asked::Other)
    }

    /// The session is there: what it holds is compared with what the client was told.
    fn opened(&mut self, opened: &Value, mut held: Held) {
        if self.saga.world.session.is_none() {
            self.saga.world.session = Some(string(&opened["sessionId"]));
            return;
        }
        let pending = opened["_meta"]["inject"]["pending"].as_array().expect("what waits is told");
        held.pending =
            pending.iter().map(|waits| (string(&waits["messageId"]), text(&waits["content"]))).collect();
        self.saga.check(&held);
        self.seen = held.delivered.iter().map(|(id, _)| id.clone()).collect();
        self.saga.world.told.delivered = self.seen.len() as u64;
        self.saga.delivered = held.delivered;
    }

    /// Waits for one answer, taking what is shown before it as history; `None` if death comes first.
    fn answer_to(&mut self, id: u64, held: &mut Held) -> Option<Value> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && !self.is_dead {
            self.tend();
            let Some(message) = self.read(QUIET) else { continue };
            if message["id"] == id && message.get("method").is_none() {
                self.saga.tally.answers += 1;
                self.open.remove(&id);
                return Some(message);
            }
            let update = &message["params"]["update"];
            match update["sessionUpdate"].as_str() {
                Some("user_message" | "user_message_chunk") => {
                    let (id, words) = (string(&update["messageId"]), text(&update["content"]));
                    match held.delivered.last_mut().filter(|(last, _)| *last == id) {
                        Some((_, said)) => said.push_str(&words),
                        None => held.delivered.push((id, words)),
                    }
                }
                Some(_) => {}
                None => self.handle(&message),
            }
        }
        assert!(self.is_dead, "no answer to {id}");
        None
    }

    /// Lets a stopped agent go on when it is time, and now and then answers a permission that is waited for.
    fn tend(&mut self) {
        if let Some((pid, Some(at))) = self.stopped
            && Instant::now() >= at
        {
            self.stopped = None;
            havoc::signal(pid, Signal::CONT);
        }
        if !self.held.is_empty() && self.dice.below(4) == 0 {
            let request = self.held.remove(0);
            self.permit(&request);
        }
    }

    /// All that was accepted is delivered, all that was asked for is answered, and the session is idle.
    fn settle(&mut self) {
        let deadline = Instant::now() + 2 * PATIENCE;
        let is_patient = self.saga.seed % 100 == 50;
        let mut quiet = 0_u32;
        loop {
            let missing = self.missing();
            if missing.is_empty() && self.open.is_empty() && !self.sight.is_running {
                return;
            }
            let what = (&missing, &self.open, &self.sight);
            assert!(Instant::now() < deadline, "not delivered, not answered, still running: {what:?}");
            assert!(!self.is_dead, "it ended by itself: {}", self.process.last_words());
            if self.take(QUIET) {
                continue;
            }
            quiet += 1;
            for request in std::mem::take(&mut self.held) {
                self.permit(&request);
            }
            if quiet.is_multiple_of(4) {
                self.cancel();
            }
            if quiet >= 5 && !is_patient {
                self.rescue();
            }
        }
    }

    /// Messages that were accepted and are not delivered.
    fn missing(&self) -> Vec<usize> {
        let is_due = |known: &&Known| {
            let is_taken = known.id.as_ref().is_some_and(|id| !self.seen.contains(id));
            // The answer to a prompt says that it was delivered.
            is_taken && known.revoke == Revoke::No && !self.saga.is_prompt(known.number)
        };
        self.saga.world.messages.iter().filter(is_due).map(|known| known.number).collect()
    }

    /// An agent that is stopped goes on; one that hears nothing any more is killed.
    fn rescue(&mut self) {
        if let Some((pid, _)) = self.stopped.take() {
            havoc::signal(pid, Signal::CONT);
            return;
        }
        let agents = havoc::agents(&self.saga.place);
        if self.saga.is_hung(&agents) {
            for pid in agents {
                self.saga.tally.harmed("kill -9 of a hung agent", 1);
                havoc::signal(pid, Signal::KILL);
            }
        }
    }

    /// After all that, the agent answers.
    fn last_word(&mut self) {
        for _ in 0..TRIES {
            let words = format!("{} a", self.prompt(""));
            let began = Instant::now();
            // An agent that has just died over it is started again, and asked again.
            let mut quiet = 0;
            while quiet < 30 {
                assert!(
                    !self.is_dead && began.elapsed() < PATIENCE,
                    "no end of the last turn: {:?}",
                    self.open
                );
                self.tend();
                quiet = if self.take(QUIET) || !self.open.is_empty() { 0 } else { quiet + 1 };
                if self.said == words && self.open.is_empty() && !self.sight.is_running {
                    return;
                }
            }
            assert!(self.saga.is_deadly, "the last prompt was not answered");
        }
        panic!("the agent does not answer any more");
    }

    /// Kills Nudge, if nobody has yet, and sees that nothing is left.
    fn die(mut self) {
        self.process.kill();
        self.dies_at = None;
        while !self.is_dead {
            self.take(PATIENCE);
        }
        self.saga.is_deadly = true;
        self.saga.tally.harmed("kill -9 of nudge", 1);
        self.saga.world.told.crashes += 1;
        let took = havoc::all_gone(&self.saga.place, "nudge was killed");
        let longest = &mut self.saga.tally.longest[0];
        *longest = took.max(*longest);
    }

    /// Closes the input, with the agent stopped now and then, and sees that nothing is left.
    fn end(mut self) {
        if self.dice.below(12) == 0 {
            self.stop(None);
        }
        self.process.close_input();
        while !self.is_dead {
            self.take(PATIENCE);
        }
        assert!(self.open.is_empty(), "not answered: {:?}", self.open);
        let took = havoc::all_gone(&self.saga.place, "the end of its input");
        let longest = &mut self.saga.tally.longest[1];
        *longest = took.max(*longest);
    }

    /// The next message; `None` if none comes in time or the process has died.
    fn read(&mut self, patience: Duration) -> Option<Value> {
        let now = Instant::now();
        let left = self.dies_at.map_or(patience, |at| at.saturating_duration_since(now).min(patience));
        match self.process.json_within(left) {
            Ok(Some(message)) => {
                self.note('<', &message);
                return Some(message);
            }
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

    fn note(&mut self, direction: char, message: &Value) {
        if self.frames.len() >= 400 {
            self.frames.drain(..200);
        }
        let frame: String = message.to_string().chars().take(300).collect();
        self.frames.push(format!("{direction} {frame}"));
    }
}

impl Drop for Life<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.process.kill();
            let frames = self.frames[self.frames.len().saturating_sub(80)..].join("\n");
            let log = std::fs::read(self.saga.log()).unwrap_or_default();
            let log = String::from_utf8_lossy(&log[log.len().saturating_sub(20_000)..]).into_owned();
            let (seed, kind, words) = (self.saga.seed, &self.saga.kind, self.process.last_words());
            eprintln!(
                "seed {seed}, version {}, {kind:?}\n{frames}\n-- agent:\n{log}\n-- nudge:\n{words}",
                self.version
            );
        }
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("expected a text, got {value}")).to_owned()
}

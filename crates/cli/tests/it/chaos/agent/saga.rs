//! What is known of a run over all lives of Nudge, and what must therefore hold.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{kind::Kind, tally::Tally};
use crate::chaos::world::{Held, World, number, text};

/// A run.
pub(super) struct Saga {
    pub(super) seed: u64,
    pub(super) kind: Kind,
    pub(super) place: PathBuf,
    pub(super) world: World,
    /// What became of the messages that were sent by `session/prompt`.
    pub(super) prompts: BTreeMap<usize, Fate>,
    pub(super) tally: Tally,
    /// Whether the agent or Nudge may have died with something on its way to the agent.
    pub(super) is_deadly: bool,
    /// What the session holds at the end: id and text of each message of the user.
    pub(super) delivered: Vec<(String, String)>,
}

/// What the client was told of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was not answered.
    Unknown,
    /// Its turn was ended, or never began.
    Cancelled,
    /// Its turn has run.
    Ran,
    /// It was taken back before it was delivered.
    Dropped,
}

impl Saga {
    pub(super) fn new(seed: u64, kind: Kind, place: &Path) -> Self {
        let tally = Tally { runs: 1, ..Tally::default() };
        Self {
            seed,
            kind,
            place: place.to_owned(),
            world: World::default(),
            prompts: BTreeMap::new(),
            tally,
            is_deadly: false,
            delivered: Vec::new(),
        }
    }

    pub(super) fn log(&self) -> PathBuf {
        self.place.join("log")
    }

    pub(super) fn is_prompt(&self, number: usize) -> bool {
        self.prompts.contains_key(&number)
    }

    /// The invariants, from what a load tells.
    pub(super) fn check(&self, held: &Held) {
        self.world.check(held);
        for (prompt, fate) in &self.prompts {
            let count = held.delivered.iter().filter(|(_, text)| number(text) == *prompt).count();
            match fate {
                Fate::Unknown | Fate::Cancelled => {}
                Fate::Ran => assert_eq!(count, 1, "prompt {prompt} has had its turn: {held:?}"),
                Fate::Dropped => assert_eq!(count, 0, "prompt {prompt} was taken back: {held:?}"),
            }
        }
    }

    /// Whether the agent that runs has stopped to listen.
    pub(super) fn is_hung(&self, agents: &[i32]) -> bool {
        let log = fs::read(self.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        agents.iter().any(|pid| log.contains(&format!("{pid} * hangs")))
    }

    /// What was delivered has reached the agent, and once; unless somebody died over it.
    pub(super) fn check_heard(&mut self) {
        let log = fs::read(self.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let heard = heard(&log);
        for (_, text) in &self.delivered {
            let times = heard.iter().filter(|line| *line == text).count();
            let is_told = times > 0 || heard.iter().any(|line| line.contains('\n') && line.contains(&**text));
            if self.is_deadly {
                let who = usize::from(self.world.told.crashes > 0);
                self.tally.unheard[who] += u64::from(!is_told);
                continue;
            }
            assert!(is_told, "`{text}` was delivered and has not reached the agent: {heard:#?}");
            assert!(times == 1, "`{text}` has reached the agent {times} times");
        }
        let notes = [("die", " * dies"), ("hang", " * hangs"), ("garble", " > a line for people")];
        for (how, note) in notes {
            let times = log.lines().filter(|line| line.ends_with(note)).count();
            self.tally.harmed(how, times as u64);
        }
        for word in ["flood", "twice"] {
            let times = heard.iter().filter(|line| !line.contains('\n') && line.contains(word)).count();
            self.tally.harmed(word, times as u64);
        }
        self.tally.told = self.world.told.clone();
        let starts = log.lines().filter(|line| line.ends_with(" * started")).count();
        self.tally.harmed("starts of the agent", starts as u64);
    }
}

/// All texts that the agent was given and has taken.
fn heard(log: &str) -> Vec<String> {
    let frames: Vec<_> = log.lines().filter_map(frame).collect();
    let refused: BTreeSet<(&str, String)> =
        frames.iter().filter(|(_, way, frame)| *way == '>' && is_refusal(frame)).map(key).collect();
    let taken = frames.iter().filter(|frame| frame.1 == '<' && !refused.contains(&key(frame)));
    let blocks = taken.flat_map(|(_, _, frame)| {
        let params = &frame["params"];
        [&params["prompt"], &params["content"]].into_iter().filter_map(Value::as_array).flatten().map(text)
    });
    blocks.collect()
}

/// A line of the log: the process, the direction, the frame.
fn frame(line: &str) -> Option<(&str, char, Value)> {
    let (pid, rest) = line.split_once(' ')?;
    Some((pid, rest.chars().next()?, serde_json::from_str(rest.get(2..)?).ok()?))
}

/// What a request and its answer have in common.
fn key<'a>((pid, _, frame): &(&'a str, char, Value)) -> (&'a str, String) {
    (pid, frame["id"].to_string())
}

/// Whether the agent says that it did not take what it was given.
fn is_refusal(frame: &Value) -> bool {
    let reason = frame["error"]["data"]["reason"].as_str();
    let outcome = frame["result"]["outcome"].as_str();
    matches!(reason, Some("no_running_turn" | "scripted_busy"))
        || matches!(outcome, Some("promptRequired" | "failed"))
}

//! Clients made with the official SDKs hold whole conversations with `nudge acp`: prompts, tools and permissions, a
//! cancelled turn, messages into a running one, and the same session again in a new process.
//!
//! Each client tells what it said and heard as the same kind of events, so that what is expected is written once. What
//! Nudge sent is validated against the schemas that come with the TypeScript SDK.

mod frames;
mod rust;
mod rust_v2;
mod story;
mod told;

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    programs::{Outcome, nudge, package, run_with},
    python::python_with,
    typescript::node_with,
};

/// A folder for sessions and one to work in.
struct Place {
    folder: TempDir,
    daemon: &'static str,
}

impl Place {
    /// Where every process holds its own sessions.
    fn alone() -> Self {
        Self::new("off")
    }

    /// Where a daemon holds them.
    fn shared() -> Self {
        Self::new("on")
    }

    fn new(daemon: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Self { folder, daemon };
        fs::create_dir(place.cwd()).expect("the folder is ours");
        fs::write(Path::new(&place.cwd()).join("editor.txt"), "on disk").expect("the folder is ours");
        place
    }

    fn path(&self, name: &str) -> String {
        let folder = self.folder.path().canonicalize().expect("the folder is there");
        folder.join(name).to_str().expect("its name is text").to_owned()
    }

    fn cwd(&self) -> String {
        self.path("work")
    }

    fn env(&self) -> Vec<(&'static str, String)> {
        let rehearsal = package().join("../cli/tests/rehearsal.toml");
        vec![
            ("NUDGE_DATA", self.path("data")),
            ("NUDGE_DAEMON", self.daemon.to_owned()),
            ("NUDGE_REHEARSAL", rehearsal.to_str().expect("its name is text").to_owned()),
            ("NUDGE_TRACE", self.path("trace")),
        ]
    }

    /// Calls `run` with the environment.
    fn with_env<T>(&self, run: impl FnOnce(&[(&str, &str)]) -> T) -> T {
        let env = self.env();
        run(&env.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>())
    }

    /// What comes of a command of `nudge` here.
    fn command(&self, args: &[&str]) -> Outcome {
        self.with_env(|env| run_with(nudge(), args, env))
    }

    /// Asserts that a whole conversation went as it should.
    fn check(&self, version: u64, events: &[Value]) {
        story::check(version, events);
        let written = fs::read_to_string(Path::new(&self.cwd()).join("allowed.txt")).ok();
        assert_eq!(written.as_deref().map(str::trim), Some("words"));
        for name in ["rejected.txt", "cancelled.txt"] {
            assert!(!Path::new(&self.cwd()).join(name).exists(), "{name} was not allowed");
        }
        let sent = frames::read(&self.path("trace"));
        frames::check_updates(&sent, events);
        frames::check_schema(version, &sent);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.daemon == "on" {
            drop(self.command(&["stop"]));
        }
    }
}

/// Runs the client made with the TypeScript SDK.
fn typescript(version: u64, place: &Place) {
    let version_text = version.to_string();
    let args = [version_text.as_str(), &place.cwd(), nudge(), "acp"];
    if let Some(outcome) = place.with_env(|env| node_with("conversation.mjs", &args, env)) {
        check_program(version, place, &outcome);
    }
}

fn check_program(version: u64, place: &Place, outcome: &Outcome) {
    assert!(outcome.status.success(), "{outcome:#?}");
    // What an SDK cannot read it reports there, and goes on.
    assert_eq!(outcome.errors, "");
    let events = outcome.json();
    let ended: Vec<_> = events.iter().filter_map(|event| event["ended"].as_i64()).collect();
    assert_eq!(ended, [0, 0], "each of the two processes ends well when its input does");
    place.check(version, &events);
}

#[test]
fn typescript_sdk() {
    typescript(1, &Place::alone());
}

#[test]
fn typescript_sdk_in_version_2() {
    typescript(2, &Place::alone());
}

#[test]
fn python_sdk() {
    let place = Place::alone();
    let args = [&*place.cwd(), nudge(), "acp"];
    if let Some(outcome) = place.with_env(|env| python_with("conversation.py", &args, env)) {
        check_program(1, &place, &outcome);
    }
}

#[test]
fn typescript_sdk_through_the_daemon() {
    for version in [1, 2] {
        typescript(version, &Place::shared());
    }
}

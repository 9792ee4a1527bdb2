//! `nudge acp -- AGENT`, with an agent that plays what it is told, over real pipes. What needs no process is shown in memory,
//! in `crates/hub/tests/it/adapted`.

mod client;
mod doctor;
mod form;
mod input;
mod isolate;
mod lane;
mod leaving;
mod log;
mod nes;
mod pass_through;
mod permission;
mod pressure;
mod raw;
mod sessions;
mod sign_in;
mod start;
mod steer;
mod supervision;
mod terminal;
mod versions;

use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use nudge_testkit::Process;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nudge_with;
use client::Client;
use log::Log;
pub(crate) use supervision::kill;

/// Every way there is to steer an agent: its number, and the options of an agent that is steered that way.
const TIERS: [(u64, &str); 7] = [
    (1, "--inject"),
    (1, "--v2 --inject"),
    (2, "--steering"),
    (2, "--v2 --steering"),
    (3, "--v2 --prompt-steering"),
    (4, ""),
    (4, "--v2"),
];

/// Runs a test for every kind of agent with clients of both versions: the tier, the agent's options, the version.
fn for_all(test: impl Fn(u64, &str, u64)) {
    let cases = TIERS.into_iter().flat_map(|(tier, options)| [(tier, options, 1), (tier, options, 2)]);
    check_each(cases, |(tier, options, version)| test(tier, options, version));
}

/// Runs a test with a client and an agent that speak the same version.
fn for_same(test: impl Fn(&str, u64)) {
    check_each([("", 1), ("--v2", 2)], |(options, version)| test(options, version));
}

/// Runs a test with a client and an agent that do not.
fn for_mixed(test: impl Fn(&str, u64)) {
    check_each([("--v2", 1), ("", 2)], |(options, version)| test(options, version));
}

/// Runs a test with each case, and says of all of them whether they hold.
fn check_each<C: Debug + Clone>(cases: impl IntoIterator<Item = C>, test: impl Fn(C)) {
    let holds = |case: &C| catch_unwind(AssertUnwindSafe(|| test(case.clone()))).is_ok();
    let failed: Vec<_> = cases.into_iter().filter(|case| !holds(case)).collect();
    assert!(failed.is_empty(), "it does not hold for {failed:?}");
}

/// A place for sessions, a folder to work in, and what the agent writes down.
struct Place {
    data: TempDir,
    work: TempDir,
    desk: TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = || tempfile::tempdir().expect("a temporary folder");
        Self { data: dir(), work: dir(), desk: dir() }
    }

    fn cwd(&self) -> String {
        let path = self.work.path().canonicalize().expect("the folder is there");
        path.to_str().expect("its name is text").to_owned()
    }

    /// Lets an agent go on that waits for this file.
    fn touch(&self, name: &str) {
        std::fs::write(self.work.path().join(name), "").expect("the folder can be written to");
    }

    /// Lets an agent answer `initialize` that waits for the file `GATE`.
    fn open_gate(&self) {
        std::fs::write(self.desk.path().join("gate"), "").expect("the folder can be written to");
    }

    fn close_gate(&self) {
        std::fs::remove_file(self.desk.path().join("gate")).expect("the gate was open");
    }

    fn desk(&self, name: &str) -> String {
        self.desk.path().join(name).to_str().expect("its name is text").to_owned()
    }

    /// What the agent has heard and said.
    fn log(&self) -> Log {
        Log::read(&self.desk.path().join("log"))
    }

    /// `nudge acp` with these options of its own, in front of an agent with these. `MEMORY`, `COUNT` and `GATE` are files.
    fn start(&self, own: &[&str], options: &str, daemon: &str) -> Process {
        let program = agent();
        let program = program.to_str().expect("its name is text");
        let options = options.replace("MEMORY", &self.desk("memory")).replace("COUNT", &self.desk("count"));
        let options = options.replace("GATE", &self.desk("gate"));
        let log = self.desk("log");
        let mut args = [&["acp"], own, &["--", program, "--log", &log]].concat();
        args.extend(options.split_whitespace());
        self.nudge(&args, daemon)
    }

    fn nudge(&self, args: &[&str], daemon: &str) -> Process {
        let data = self.data.path().to_str().expect("its name is text");
        nudge_with(args, &[("NUDGE_DATA", data), ("NUDGE_DAEMON", daemon), ("NUDGE_LINGER", "5")])
    }

    /// A client of a process of its own.
    fn client(&self, options: &str, version: u64) -> Client {
        Client::new(self.start(&[], options, "off"), version, &json!({}))
    }

    /// A client of the daemon.
    fn shared_client(&self, options: &str, version: u64) -> Client {
        Client::new(self.start(&[], options, "on"), version, &json!({}))
    }

    /// A client with a new session.
    fn session(&self, options: &str, version: u64) -> Client {
        let mut client = self.client(options, version);
        client.new_session(&self.cwd());
        client
    }

    /// A client whose agent waits in a tool call for the file `go`, and says `after` then.
    fn in_a_tool(&self, options: &str, version: u64) -> Client {
        let mut client = self.session(options, version);
        client.prompt("tool t go; say after");
        client.tool("in_progress");
        client
    }

    /// A client whose agent has said `one`, and says `two` when the file `go` is there.
    fn in_a_stream(&self, options: &str, version: u64) -> Client {
        let mut client = self.session(options, version);
        client.prompt("say one; until go; say two");
        client.said("one");
        client
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A daemon that was started here goes.
        drop(self.nudge(&["stop"], "on").finish());
    }
}

/// The program of the scripted agent, beside the test's own.
pub(crate) fn agent() -> PathBuf {
    let own = std::env::current_exe().expect("a test knows its own path");
    let folder =
        own.parent().and_then(Path::parent).expect("tests are built in a folder of the target folder");
    let program = folder.join("scripted-agent");
    assert!(program.is_file(), "no {}: run `cargo build -p nudge-testkit --bins`", program.display());
    program
}

/// The process of the agent that was started last, of those that write to this log.
pub(crate) fn newest_process(log: &Path) -> u32 {
    Log::read(log).newest()
}

fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The text of one content block or several.
fn text(content: &Value) -> String {
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

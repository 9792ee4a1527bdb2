//! The editor's pipes in the hands of the daemon: what goes through them, and how that ends.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, Command, Stdio},
};

use nudge_testkit::eventually;
use serde_json::{Value, json};

use super::{Client, Place};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;

pub(super) fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

fn wait(mut child: Child) -> (Option<i32>, String) {
    let status = child.wait().unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    (status.code(), errors)
}

/// `nudge acp` beside a daemon, with other than pipes.
fn spawn(place: &Place, input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nudge"));
    command.arg("acp").envs(place.env()).env("NUDGE_DAEMON", "on");
    command.stdin(input).stdout(output).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn no_byte_of_a_pipe_goes_through_the_relay() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    signal("STOP", client.process.id());
    client.new_session(&place.cwd());
    client.prompt("hello");
    client.said("heard hello");
    signal("CONT", client.process.id());
    let (status, _, errors) = client.process.finish();
    assert!(status.success() && errors.is_empty(), "{errors}");
}

#[test]
fn sockets_are_handed_over_and_stay_as_they_are() {
    let place = Place::new();
    let (near, far) = UnixStream::pair().unwrap();
    let kept = far.try_clone().unwrap();
    let child = spawn(&place, OwnedFd::from(far.try_clone().unwrap()), OwnedFd::from(far));
    let mut lines = BufReader::new(near.try_clone().unwrap()).lines();
    let mut ask = || {
        writeln!(&near, "{INITIALIZE}").unwrap();
        lines.next().unwrap().unwrap()
    };
    assert!(ask().contains("protocolVersion"));
    signal("STOP", child.id());
    assert!(ask().contains("protocolVersion"));
    let flags = rustix::fs::fcntl_getfl(&kept).unwrap();
    assert!(
        !flags.contains(rustix::fs::OFlags::NONBLOCK),
        "whoever else has the socket would not wait any more"
    );
    signal("CONT", child.id());
    drop(kept);
    near.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(lines.next().map(Result::unwrap), None);
    assert_eq!(wait(child), (Some(0), String::new()));
}

#[test]
fn what_cannot_be_handed_over_is_carried() {
    let place = Place::new();
    let path = place.work.path().join("output");
    let mut child = spawn(&place, Stdio::piped(), File::create(&path).unwrap());
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{INITIALIZE}").unwrap();
    eventually("an answer in the file", || std::fs::read_to_string(&path).unwrap().ends_with('\n'));
    drop(input);
    assert_eq!(wait(child), (Some(0), String::new()));
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], 1);
    // Nothing to read from, and a pipe to write to.
    let mut child = spawn(&place, Stdio::null(), Stdio::piped());
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert_eq!((output.as_str(), wait(child)), ("", (Some(0), String::new())));
}

#[test]
fn what_was_asked_is_answered_after_the_end_of_the_input() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    client.new_session(&place.cwd());
    client.prompt("pause");
    client.said("before");
    client.process.close_input();
    client.said("after");
    assert_eq!(client.turn_end(1), "end_turn");
    let (status, lines, errors) = client.process.finish();
    assert!(status.success() && lines.is_empty() && errors.is_empty(), "{status} {lines:?} {errors}");
}

/// A client in whose session a command runs until `go` is called; then another client finds that it has ended well.
struct Waiting {
    place: Place,
    client: Client,
}

impl Waiting {
    fn new() -> Self {
        let place = Place::new();
        let mut client = place.shared_client(1);
        client.new_session(&place.cwd());
        client.prompt("run while [ ! -e go ]; do sleep 0.01; done");
        let request = client.agent_request();
        client.permit(&request, "allow_once");
        client.tool("in_progress");
        Self { place, client }
    }

    /// The editor is told at once, and the turn goes on.
    fn check(mut self) {
        while self.client.process.next_json().is_some() {}
        let session = self.client.session.clone();
        std::fs::write(self.place.work.path().join("go"), "").unwrap();
        let mut again = self.place.shared_client(1);
        again.load(&session, &self.place.cwd());
        again.said("ran");
        let story = again.story().join("\n");
        assert!(!story.contains("interrupted"), "{story}");
    }
}

/// A shell makes what it runs in the background ignore interrupts, and so does all that is started from there.
fn ignores_interrupts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    // The lowest bit is signal 1.
    ignored & 0b10 != 0
}

#[test]
fn the_pipes_end_with_the_relay_and_the_turn_goes_on() {
    for name in ["KILL", "TERM", "INT"] {
        if name == "INT" && ignores_interrupts() {
            nudge_testkit::skipped("interrupts are ignored here");
            continue;
        }
        let waiting = Waiting::new();
        signal(name, waiting.client.process.id());
        waiting.check();
    }
}

#[test]
fn the_pipes_end_with_the_relay_after_the_end_of_the_input() {
    let mut waiting = Waiting::new();
    waiting.client.process.close_input();
    waiting.client.process.kill();
    waiting.check();
}

#[test]
fn an_editor_that_stops_listening_is_an_ordinary_end() {
    let place = Place::new();
    let mut child = spawn(&place, Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    writeln!(input, "{INITIALIZE}").unwrap();
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    assert_eq!(wait(child), (Some(0), String::new()));
    drop(input);
}

#[test]
fn a_daemon_that_is_killed_is_told_of() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    let pid = client.ask("_nudge/status", &json!({}))["pid"].as_u64().unwrap();
    signal("KILL", u32::try_from(pid).unwrap());
    while client.process.next_json().is_some() {}
    let (status, _, errors) = client.process.finish();
    assert_eq!(status.code(), Some(1));
    assert!(errors.contains("the daemon has ended the connection"), "{errors}");
}

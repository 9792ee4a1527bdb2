//! Agents that die, fail to start, or do not behave.

use nudge_testkit::{eventually, is_alive, peak_memory};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Place, check_each, client::Client};

/// An agent that remembers a session when it is started again, and one that does not.
const MEMORIES: [&str; 2] = ["--resume --memory MEMORY", "--v2"];

fn for_memories(test: impl Fn(&str, u64)) {
    let cases = MEMORIES.into_iter().flat_map(|options| [(options, 1), (options, 2)]);
    check_each(cases, |(options, version)| test(options, version));
}

/// Ends a process, the way `kill -9` does.
pub(crate) fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("it is a process");
    kill_process(pid, Signal::KILL).expect("it can be killed");
}

/// The error that a turn ends with.
fn turn_error(client: &mut Client, prompt: u64) -> Value {
    if client.version == 1 {
        return client.response(prompt)["error"].clone();
    }
    let end = client.until("an error", |message| message["params"]["update"]["stopReason"] == "error");
    end["params"]["update"]["error"].clone()
}

/// Fails unless the agent knows that this was said before, in this order, each once.
fn check_told(client: &mut Client, options: &str, before: &[&str]) {
    let told = client.recall();
    if options.contains("MEMORY") {
        return assert_eq!(told, before);
    }
    // It was told in a recap, ahead of what followed.
    let all = told.join("\n");
    let mut from = 0;
    for words in before {
        let at = all[from..].find(words).unwrap_or_else(|| panic!("{words} is not told in {told:?}"));
        from += at + words.len();
    }
    for words in before {
        assert_eq!(all.matches(words).count(), 1, "{words} is told once in {told:?}");
    }
}

#[test]
fn an_agent_that_dies_in_a_turn_is_started_again_and_knows_the_session() {
    for_memories(|options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        client.turn("say first");
        let session = client.session.clone();
        let prompt = client.prompt("say on; die");
        let error = turn_error(&mut client, prompt);
        assert_eq!(
            (&error["code"], &error["data"]["reason"]),
            (&json!(-32603), &json!("agent_gone")),
            "{error}"
        );
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("exit status: 3") && message.contains("last words"), "{message}");
        check_told(&mut client, options, &["say first", "say on; die"]);
        assert_eq!(client.session, session);
        assert_eq!(client.turn("say again"), "again");
        client.agent_is("gone");
        client.agent_is("back");
    });
}

#[test]
fn what_waits_is_still_delivered_when_the_agent_is_killed() {
    for_memories(|options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        let prompt = client.prompt("tool t go");
        client.tool("in_progress");
        let queue = client.inject("queue", "say queued");
        let steer = client.inject("steer", "say steered");
        kill(place.log().newest());
        turn_error(&mut client, prompt);
        client.delivered(&steer);
        client.delivered(&queue);
        client.said("queued");
        let ends = client.ends();
        client.turn_end(ends.max(if version == 1 { 2 } else { 3 }));
        check_told(&mut client, options, &["tool t go", "say steered", "say queued"]);
        let users = client.users();
        for words in ["say steered", "say queued"] {
            assert_eq!(users.iter().filter(|user| *user == words).count(), 1, "{users:?}");
        }
    });
}

#[test]
fn an_agent_may_take_its_time_to_start() {
    let place = Place::new();
    let mut client = place.session("--slow-start 700", 1);
    assert_eq!(client.turn("say awake"), "awake");
}

#[test]
fn an_agent_that_does_not_start_says_why_and_may_start_later() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = Client::silent(place.start(&[], "--fail-start 2 COUNT", "off"), version);
        for _ in 0..2 {
            let id = client.greet(&json!({}));
            let error = client.response(id)["error"].clone();
            let message = error["message"].as_str().unwrap_or_default();
            assert!(message.contains("exit status: 3") && message.contains("not ready yet"), "{error}");
        }
        let id = client.greet(&json!({}));
        client.result(id);
        client.new_session(&place.cwd());
        assert_eq!(client.turn("say awake"), "awake");
    }
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let place = Place::new();
    let process = place.nudge(&["acp", "--", "no-such-agent-anywhere", "--key", "sesame"], "off");
    let mut client = Client::silent(process, 1);
    let id = client.greet(&json!({}));
    let error = client.response(id)["error"].to_string();
    assert!(error.contains("no-such-agent-anywhere") && error.contains("PATH"), "{error}");
    assert!(!error.contains("sesame"), "arguments may be secrets: {error}");
}

#[test]
fn an_agent_that_cannot_be_started_again_fails_the_prompt_and_not_the_session() {
    let place = Place::new();
    let count = place.desk("count");
    std::fs::write(&count, "9").unwrap();
    let mut client = place.session("--fail-start 9 COUNT", 1);
    std::fs::write(&count, "0").unwrap();
    let prompt = client.prompt("say on; die");
    turn_error(&mut client, prompt);
    let prompt = client.prompt("say lost");
    let message = turn_error(&mut client, prompt)["message"].to_string();
    assert!(message.contains("not ready yet"), "{message}");
    std::fs::write(&count, "9").unwrap();
    client.turn("say found");
    client.said("found");
}

#[test]
fn a_flood_waits_for_a_client_that_does_not_read() {
    const COUNT: usize = 150_000;
    let place = Place::new();
    let mut client = place.session("", 1);
    let nudge = client.process.id();
    // The program itself, which is large without optimisation, is not the flood.
    let before = peak_memory(nudge).expect("the process runs");
    let grown = || peak_memory(nudge).expect("the process runs") - before;
    let prompt = client.prompt(&format!("flood {COUNT}"));
    let mut seen = (0, 0);
    eventually("a flood that stands still", || {
        let size = std::fs::metadata(place.desk("log")).map_or(0, |log| log.len());
        seen = if size == seen.0 && size > 100_000 { (size, seen.1 + 1) } else { (size, 0) };
        seen.1 > 100
    });
    assert!(grown() < 32 * 1024 * 1024, "{} bytes", grown());
    client.result(prompt);
    let flood = client.updates().filter(|update| update["sessionUpdate"] == "agent_message_chunk").count();
    assert_eq!(flood, COUNT);
    assert!(grown() < 32 * 1024 * 1024, "{} bytes", grown());
}

#[test]
fn an_agent_that_does_not_stop_is_ended_and_comes_back() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = Client::new(place.start(&["--patience", "1"], "", "off"), version, &json!({}));
        client.new_session(&place.cwd());
        client.prompt("say on; hang");
        eventually("the agent to hang", || place.log().noted("hangs").count() == 1);
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        assert_eq!(client.turn("say again"), "again");
        assert_eq!(place.log().pids().len(), 2, "it was started twice");
    }
}

/// Whether all processes of the agent have ended.
pub(super) fn is_over(place: &Place) -> bool {
    place.log().pids().into_iter().all(|pid| !is_alive(pid))
}

#[test]
fn no_agent_is_left_behind() {
    let scripts = ["say on; sleep 60000", "say on; hang", "say on"];
    let cases = scripts.into_iter().flat_map(|script| [(script, "kill -9"), (script, "the input ends")]);
    check_each(cases, |(script, how)| {
        let place = Place::new();
        let mut client = Client::new(place.start(&["--on-close", "cancel"], "", "off"), 1, &json!({}));
        client.new_session(&place.cwd());
        client.prompt(script);
        client.said("on");
        assert!(!is_over(&place));
        match how {
            "kill -9" => client.process.kill(),
            _ => client.process.close_input(),
        }
        eventually("the end of the agent", || is_over(&place));
    });
}

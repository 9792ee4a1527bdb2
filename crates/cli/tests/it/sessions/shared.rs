//! Several clients on one session, through the daemon.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::json;

use super::{Client, Place};

/// A client of each version on one session.
fn pair(place: &Place) -> (Client, Client) {
    let mut one = place.shared_client(1);
    one.new_session(&place.cwd());
    let mut two = place.shared_client(2);
    let session = one.session.clone();
    two.load(&session, &place.cwd());
    (one, two)
}

#[test]
fn both_versions_see_the_same_conversation() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place);
    one.prompt("plan");
    one.turn_end(1);
    let id = two.inject("queue", "from two");
    two.turn_end(2);
    one.turn_end(2);
    assert_eq!(one.delivered(&id), "from two");
    let mut told = one.story();
    // A client shows its own prompt itself.
    told.insert(0, "user: plan".to_owned());
    assert_eq!(told, two.story());
}

#[test]
fn a_client_that_does_not_read_is_cut_off_and_slows_nobody() {
    let place = Place::new();
    let mut one = place.shared_client(2);
    one.new_session(&place.cwd());
    let clients =
        |one: &mut Client| one.ask("_nudge/status", &json!({}))["sessions"][0][1]["clients"].clone();
    let mut deaf = Command::new(env!("CARGO_BIN_EXE_nudge"))
        .arg("acp")
        .envs(place.env())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let load = json!({"sessionId": one.session, "cwd": place.cwd(), "mcpServers": []});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": load}),
    ];
    for line in lines {
        writeln!(deaf.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
    nudge_testkit::eventually("it has joined", || clients(&mut one) == 2);
    one.prompt(&format!("flood {}", "x".repeat(40_000)));
    assert_eq!(one.turn_end(1), "end_turn");
    nudge_testkit::eventually("it is cut off", || clients(&mut one) == 1);
    deaf.kill().unwrap();
    deaf.wait().unwrap();
}

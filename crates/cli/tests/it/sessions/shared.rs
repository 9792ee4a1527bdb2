//! Several clients on one session, through the daemon.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::json;

use super::{Client, Place, content};

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
fn a_prompt_is_not_echoed_to_the_v1_client_that_sent_it() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place);
    one.prompt("mine");
    one.turn_end(1);
    two.turn_end(1);
    assert_eq!(one.users(), Vec::<String>::new());
    assert_eq!(two.users(), ["user: mine"]);
    two.prompt("yours");
    two.turn_end(2);
    one.turn_end(2);
    assert_eq!(one.users(), ["user: yours"]);
    assert_eq!(two.users(), ["user: mine", "user: yours"], "a v2 client always gets it");
}

#[test]
fn the_first_answer_to_a_permission_request_counts() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place);
    one.prompt("run true");
    let (asked_one, asked_two) = (one.agent_request(), two.agent_request());
    two.permit(&asked_two, "allow_once");
    one.until("the withdrawal", |message| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == asked_one["id"]
    });
    // Too late, and harmless.
    one.permit(&asked_one, "reject_once");
    assert_eq!(one.turn_end(1), "end_turn");
    assert!(two.story().contains(&"tool completed".to_owned()) || two.turn_end(1) == "end_turn");
}

#[test]
fn any_client_may_revoke_and_a_client_that_leaves_ends_nothing() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place);
    one.prompt("talk");
    two.said("word");
    let gone = one.inject("queue", "gone");
    let kept = one.inject("queue", "kept");
    two.revoke(&gone);
    drop(one);
    let steer = two.inject("steer", "go on");
    assert_eq!(two.delivered(&steer), "go on");
    assert_eq!(two.turn_end(1), "end_turn");
    assert_eq!(two.delivered(&kept), "kept");
    assert!(!two.users().contains(&"user: gone".to_owned()));
}

#[test]
fn a_permission_waits_while_nobody_is_there() {
    let place = Place::new();
    let mut one = place.shared_client(1);
    one.new_session(&place.cwd());
    one.prompt("run touch done");
    one.agent_request();
    let session = one.session.clone();
    drop(one);
    let mut two = place.shared_client(2);
    two.load(&session, &place.cwd());
    let request = two.agent_request();
    two.permit(&request, "allow_once");
    assert_eq!(two.turn_end(1), "end_turn");
    assert!(place.work.path().join("done").exists());
}

#[test]
fn a_client_that_joins_in_mid_turn_misses_nothing() {
    let place = Place::new();
    let mut one = place.shared_client(2);
    one.new_session(&place.cwd());
    one.prompt("talk");
    one.said("word");
    let mut late: Vec<Client> = (0..4).map(|at| place.shared_client(1 + at % 2)).collect();
    for client in &mut late {
        client.load(&one.session, &place.cwd());
    }
    let id = one.inject("steer", "enough");
    one.delivered(&id);
    one.turn_end(1);
    for client in &mut late {
        client.turn_end(1);
        assert_eq!(client.story(), one.story(), "version {}", client.version);
    }
}

#[test]
fn orders_of_two_clients_are_the_same_for_both() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place);
    one.prompt("talk");
    one.said("word");
    for at in 0..5 {
        let of = |client: &Client, who: &str| json!({"sessionId": client.session, "mode": "queue", "content": content(&format!("{who} {at}"))});
        let (params_one, params_two) = (of(&one, "a"), of(&two, "b"));
        one.send("session/inject", &params_one);
        two.send("session/inject", &params_two);
    }
    one.cancel();
    one.turn_end(11);
    two.turn_end(11);
    let seen = |client: &Client| -> Vec<String> {
        client
            .users()
            .into_iter()
            .filter(|line| line.starts_with("user: a") || line.starts_with("user: b"))
            .collect()
    };
    assert_eq!(seen(&one), seen(&two));
    for who in ["a", "b"] {
        let of: Vec<_> =
            seen(&one).into_iter().filter(|line| line.starts_with(&format!("user: {who}"))).collect();
        assert_eq!(of, (0..5).map(|at| format!("user: {who} {at}")).collect::<Vec<_>>());
    }
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

#[test]
fn a_client_that_dies_takes_no_turn_with_it() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place);
    two.prompt("run while [ ! -e go ]; do sleep 0.01; done");
    let request = two.agent_request();
    two.permit(&request, "allow_once");
    two.tool("in_progress");
    // It waits, and then nobody waits for it.
    one.prompt("queued");
    let queued = |two: &mut Client| two.ask("_nudge/status", &json!({}))["sessions"][0][1]["pending"].clone();
    nudge_testkit::eventually("it is queued", || {
        queued(&mut two).as_array().is_some_and(|all| all.len() == 1)
    });
    drop(one);
    std::fs::write(place.work.path().join("go"), "").unwrap();
    assert_eq!(two.turn_end(1), "end_turn");
    two.said("heard queued");
}

#[test]
fn a_client_that_loads_twice_is_asked_once() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place);
    one.prompt("run true");
    let asked = two.agent_request();
    let session = two.session.clone();
    two.load(&session, &place.cwd());
    two.until("the first question is withdrawn", |message| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == asked["id"]
    });
    let again = two.agent_request();
    two.permit(&again, "allow_once");
    assert_eq!(one.turn_end(1), "end_turn");
}

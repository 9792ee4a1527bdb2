//! Sessions share one process of the agent, or have one each.

use nudge_testkit::{eventually, is_alive};
use serde_json::json;

use super::{Place, client::Client};

/// A client with two sessions, in both of which something was said; their ids.
fn two_sessions(place: &Place, own: &[&str]) -> (Client, [String; 2]) {
    let mut client = Client::new(place.start(own, "", "off"), 1, &json!({}));
    let ids = ["say a", "say b"].map(|words| {
        client.new_session(&place.cwd());
        client.turn(words);
        client.session.clone()
    });
    (client, ids)
}

fn living(place: &Place) -> usize {
    place.log().pids().into_iter().filter(|pid| is_alive(*pid)).count()
}

/// The processes that were prompted.
fn prompted(place: &Place) -> usize {
    let log = place.log();
    let lines = log.0.iter().filter(|line| line.direction == '<' && line.text.contains("session/prompt"));
    lines.map(|line| line.pid).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn sessions_share_a_process_and_do_not_wait_for_each_other() {
    let place = Place::new();
    let (mut client, [first, second]) = two_sessions(&place, &[]);
    assert_eq!((prompted(&place), living(&place)), (1, 1));
    client.session = first;
    let waiting = client.prompt("say c; until go");
    client.said("c");
    client.session = second;
    let id = client.prompt("say d");
    client.result(id);
    place.touch("go");
    client.result(waiting);
}

#[test]
fn isolated_sessions_have_a_process_each() {
    let place = Place::new();
    let (client, _) = two_sessions(&place, &["--isolate"]);
    assert_eq!((prompted(&place), living(&place)), (2, 2));
    drop(client);
    eventually("the end of all", || living(&place) == 0);
}

#[test]
fn an_isolated_session_does_not_die_with_another() {
    let place = Place::new();
    let (mut client, [first, second]) = two_sessions(&place, &["--isolate"]);
    client.session = first;
    let id = client.prompt("die");
    assert!(client.response(id).get("error").is_some());
    client.session = second;
    assert_eq!(client.turn("recall"), "say b|recall");
}

#[test]
fn a_session_that_dies_with_another_comes_back_by_itself() {
    let place = Place::new();
    let (mut client, [first, second]) = two_sessions(&place, &[]);
    client.session = first;
    let id = client.prompt("die");
    assert!(client.response(id).get("error").is_some());
    client.session = second;
    let told = client.turn("recall");
    assert!(told.contains("say b") && told.ends_with("|recall"), "{told}");
}

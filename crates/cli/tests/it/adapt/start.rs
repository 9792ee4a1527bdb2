//! How long an agent may take to start, and for whom it is started.

use nudge_testkit::eventually;
use serde_json::json;

use super::{Place, client::Client, supervision::is_over};

#[test]
fn an_agent_that_never_answers_is_given_up() {
    for daemon in ["off", "on"] {
        let place = Place::new();
        let mut client =
            Client::silent(place.start(&["--start-timeout", "1"], "--start-after GATE", daemon), 1);
        let id = client.greet(&json!({}));
        let error = client.response(id)["error"].clone();
        assert_eq!(error["data"]["reason"], "agent_start_timeout", "{error}");
        assert!(error["message"].as_str().unwrap().contains("--start-timeout"), "{error}");
        eventually("the end of the agent", || is_over(&place));
        place.open_gate();
        let id = client.greet(&json!({}));
        client.result(id);
        client.new_session(&place.cwd());
        assert_eq!(client.turn("say awake"), "awake");
    }
}

fn starts(place: &Place) -> usize {
    place.log().noted("started").count()
}

#[test]
fn an_agent_that_is_being_started_ends_with_its_last_client() {
    let place = Place::new();
    let mut client = Client::silent(place.start(&[], "--start-after GATE", "on"), 1);
    client.greet(&json!({}));
    eventually("a start", || starts(&place) == 1);
    client.process.kill();
    eventually("the end of the agent", || is_over(&place));
}

#[test]
fn a_client_that_goes_does_not_end_a_start_that_another_waits_for() {
    let place = Place::new();
    let traces = ["first", "second"].map(|name| format!("{}/{name}.trace", place.cwd()));
    let mut clients = traces
        .each_ref()
        .map(|trace| Client::silent(place.start(&["--trace", trace], "--start-after GATE", "on"), 1));
    let ids = clients.each_mut().map(|client| client.greet(&json!({})));
    let is_heard =
        |trace: &String| std::fs::read_to_string(trace).is_ok_and(|text| text.contains("initialize"));
    eventually("both to be heard", || traces.iter().all(is_heard));
    eventually("a start", || starts(&place) == 1);
    let [mut first, mut second] = clients;
    first.process.kill();
    // The daemon has noticed when the pipes end.
    while first.process.next_line().is_some() {}
    place.open_gate();
    second.result(ids[1]);
    assert_eq!(starts(&place), 1);
}

//! Clients that leave while their agent works, and those that stay.

use std::process::Command;

use serde_json::json;

use super::{Place, client::Client, for_same};
use crate::nudge_with;

#[test]
fn a_client_that_says_nothing_more_cannot_answer_its_agent_and_goes() {
    for_same(|options, version| {
        for daemon in ["on", "off"] {
            let place = Place::new();
            let mut client = Client::new(place.start(&[], options, daemon), version, &json!({}));
            client.new_session(&place.cwd());
            client.prompt("ask a");
            client.agent_request();
            let session = client.session.clone();
            client.leave();
            if daemon == "on" {
                let mut again = place.shared_client(options, version);
                again.load(&session, &place.cwd());
                let request = again.agent_request();
                again.answer(&request, r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#);
                again.said("a: selected yes");
            }
        }
    });
}

/// A client of the daemon whose environment has this bird.
fn client(place: &Place, bird: &str, version: u64) -> Client {
    let program = super::agent();
    let args = ["acp", "--", program.to_str().unwrap(), "--bold", "--log", &place.desk("log")];
    let data = place.data.path().to_str().unwrap();
    let env = [("NUDGE_DATA", data), ("NUDGE_DAEMON", "on"), ("NUDGE_LINGER", "5"), ("BIRD", bird)];
    Client::new(nudge_with(&args, &env), version, &json!({}))
}

#[test]
fn a_terminal_sees_the_environment_of_the_client_whose_turn_it_serves() {
    let place = Place::new();
    let mut wren = client(&place, "wren", 2);
    wren.new_session(&place.cwd());
    assert_eq!(wren.turn("term echo $BIRD"), "term: wren (0)");
    let mut lark = client(&place, "lark", 2);
    lark.load(&wren.session.clone(), &place.cwd());
    assert_eq!(lark.turn("term echo $BIRD"), "term: lark (0)");
    wren.turn_end(2);
    drop(lark);
    assert_eq!(wren.turn("term echo $BIRD"), "term: wren (0)");
}

#[test]
fn who_is_told_to_end_does_not_wait_for_an_agent_that_is_not_there() {
    for_same(|options, version| {
        let place = Place::new();
        place.open_gate();
        let mut client = place.session(&format!("{options} --start-after GATE"), version);
        place.close_gate();
        client.prompt("die");
        client.agent_is("gone");
        let opening = client.send("session/new", &json!({"cwd": place.cwd(), "mcpServers": []}));
        // What is answered came later.
        client.ask("_nudge/status", &json!({}));
        let pid = client.process.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        assert!(client.response(opening).get("error").is_some());
        while client.process.next_line().is_some() {}
    });
}

//! An agent that is away holds up what is said to it, and nothing else.

use serde_json::{Value, json};

use super::{Place, client::Client, supervision::kill};

/// What a connection may have waiting for its agent, and some more.
const TOO_MUCH: usize = 8;
const MIB: usize = 1024 * 1024;

/// A client with a session of suggestions, whose agent has died and does not start before the gate is open.
fn without_agent(place: &Place, own: &[&str], version: u64) -> (Client, Value) {
    place.open_gate();
    let mut client = Client::new(place.start(own, "--start-after GATE", "off"), version, &json!({}));
    client.new_session(&place.cwd());
    let nes = client.ask("nes/start", &json!({}))["sessionId"].clone();
    let document =
        json!({"sessionId": nes, "uri": "file:///w/a.rs", "languageId": "rust", "version": 1, "text": "a"});
    client.note("document/didOpen", &document.to_string());
    place.close_gate();
    kill(place.log().newest());
    client.agent_is("gone");
    (client, nes)
}

/// Has a question answered that is not the agent's.
fn suggest(client: &mut Client, nes: &Value) {
    let position = json!({"line": 0, "character": 1});
    let params = json!({"sessionId": nes, "uri": "file:///w/a.rs", "version": 1, "position": position, "triggerKind": "manual"});
    client.ask("nes/suggest", &params);
}

fn is_answered(client: &Client, id: u64) -> bool {
    client.log.iter().any(|message| message.value["id"] == id && message.value.get("method").is_none())
}

#[test]
fn suggestions_do_not_wait_for_an_agent_that_is_away() {
    for version in [1, 2] {
        let place = Place::new();
        let (mut client, nes) = without_agent(&place, &[], version);
        let first = client.send("_test/echo", &json!({"at": 1}));
        client.note("_test/tell", r#"{"at":2}"#);
        let third = client.send("_test/echo", &json!({"at": 3}));
        suggest(&mut client, &nes);
        assert!(!is_answered(&client, first) && !is_answered(&client, third));
        place.open_gate();
        assert_eq!((client.result(first), client.result(third)), (json!({"at": 1}), json!({"at": 3})));
        let log = place.log();
        let at = |at: u64| log.place('<', |frame| frame["params"]["at"] == at).expect("it was passed");
        assert!(at(1) < at(2) && at(2) < at(3), "in order");
    }
}

#[test]
fn a_request_that_waits_for_the_agent_can_be_cancelled() {
    let place = Place::new();
    let (mut client, _) = without_agent(&place, &[], 1);
    let ids = [1, 2, 3].map(|at| client.send("_test/echo", &json!({"at": at})));
    client.note("$/cancel_request", &json!({"requestId": ids[1]}).to_string());
    assert_eq!(client.response(ids[1])["error"]["code"], -32800);
    place.open_gate();
    assert_eq!((client.result(ids[0]), client.result(ids[2])), (json!({"at": 1}), json!({"at": 3})));
    assert_eq!(place.log().heard("_test/echo").len(), 2);
}

#[test]
fn what_waits_for_an_agent_that_is_away_is_bounded() {
    let place = Place::new();
    let (mut client, nes) = without_agent(&place, &[], 1);
    let large = "x".repeat(MIB);
    let ids: Vec<_> = (0..TOO_MUCH).map(|_| client.send("_test/echo", &json!({"large": large}))).collect();
    let last = client.response(*ids.last().unwrap());
    assert_eq!(last["error"]["data"]["reason"], "agent_away", "{last}");
    suggest(&mut client, &nes);
    place.open_gate();
    let answers: Vec<_> = ids.iter().map(|id| client.response(*id)).collect();
    let taken = answers.iter().filter(|answer| answer["result"]["large"] == large.as_str()).count();
    assert!((1..=4).contains(&taken), "{taken} of {TOO_MUCH}");
    assert_eq!(answers.iter().filter(|answer| answer.get("error").is_some()).count(), TOO_MUCH - taken);
}

#[test]
fn all_that_waits_is_answered_when_the_agent_does_not_come() {
    let place = Place::new();
    let (mut client, nes) = without_agent(&place, &["--start-timeout", "1"], 1);
    let ids = [1, 2, 3].map(|at| client.send("_test/echo", &json!({"at": at})));
    suggest(&mut client, &nes);
    for id in ids {
        let response = client.response(id);
        assert_eq!(response["error"]["data"]["reason"], "agent_start_timeout", "{response}");
    }
}

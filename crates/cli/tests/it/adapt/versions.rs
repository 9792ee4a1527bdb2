//! A client of one version and an agent of the other.

use serde_json::Value;

use super::{Place, client::Client, raw};

/// A version 2 client in front of a version 1 agent.
fn new_client(place: &Place) -> Client {
    place.session("", 2)
}

/// A version 1 client in front of a version 2 agent.
fn old_client(place: &Place) -> Client {
    place.session("--v2", 1)
}

/// The updates of these kinds.
fn of_kind(client: &Client, kind: &str) -> Vec<Value> {
    client.updates().filter(|update| update["sessionUpdate"] == kind).cloned().collect()
}

#[test]
fn a_turn_in_version_2_of_an_agent_of_version_1() {
    let place = Place::new();
    let mut client = new_client(&place);
    let id = client.prompt("say a; say b; tool t 1; say c");
    let message = client.result(id)["messageId"].as_str().expect("version 2 has message ids").to_owned();
    assert_eq!(client.delivered(&message), "say a; say b; tool t 1; say c");
    assert_eq!(client.turn_end(1), "end_turn");
    let states: Vec<_> =
        of_kind(&client, "state_update").iter().map(|update| update["state"].clone()).collect();
    assert_eq!(states, ["running", "idle"]);
    let ids: Vec<_> =
        of_kind(&client, "agent_message_chunk").iter().map(|chunk| chunk["messageId"].clone()).collect();
    assert!(ids[0].is_string() && ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    let tools = of_kind(&client, "tool_call_update");
    let statuses: Vec<_> = tools.iter().map(|update| update["status"].clone()).collect();
    assert_eq!(statuses, ["pending", "in_progress", "completed"]);
    assert_eq!(tools[0]["title"], "Tool t");
    assert!(of_kind(&client, "tool_call").is_empty());
}

#[test]
fn a_turn_in_version_1_of_an_agent_of_version_2() {
    let place = Place::new();
    let mut client = old_client(&place);
    let id = client.prompt("say a; tool t 1; say c");
    assert_eq!(client.result(id)["stopReason"], "end_turn");
    let answer = client.log.iter().position(|message| message.value["id"] == id).unwrap();
    assert_eq!(client.said_since(0), "ac");
    let late = client.log[answer + 1..].iter().any(|message| message.value["params"]["update"].is_object());
    assert!(!late, "the answer comes last");
    assert_eq!(of_kind(&client, "tool_call").len(), 1);
    assert_eq!(of_kind(&client, "tool_call_update").len(), 2);
    for kind in ["user_message", "state_update", "user_message_chunk"] {
        assert!(of_kind(&client, kind).is_empty(), "{kind}");
    }
}

#[test]
fn terminals_are_served_to_an_agent_of_a_version_2_client() {
    let place = Place::new();
    let mut client = place.session("--bold", 2);
    let cwd = place.cwd();
    assert_eq!(client.turn("term pwd"), format!("term: {cwd} (0)"));
    assert_eq!(client.turn("term echo out && exit 3"), "term: out (3)");
}

#[test]
fn the_greeting_of_a_client_reaches_an_agent_of_its_version_as_it_came() {
    let place = Place::new();
    let mut client = Client::silent(place.start(&[], "", "off"), 1);
    let params = format!(
        r#"{{"clientCapabilities":{{ "x":{odd}}}, "protocolVersion":1,"_meta":{odd} }}"#,
        odd = raw::ODD
    );
    let id = client.send_raw("initialize", &params);
    client.result(id);
    assert_eq!(raw::member(&place.log().heard("initialize")[0], "params").unwrap(), params);
}

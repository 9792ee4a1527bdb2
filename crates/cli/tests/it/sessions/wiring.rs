//! What clients say in mid-turn, one test of each kind: all else of it is shown in memory, in `crates/hub/tests/it/sessions`.

use serde_json::json;

use super::{Client, Place, both, content};

#[test]
fn queued_while_a_turn_runs_they_follow_one_at_a_time() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let first = client.inject("queue", "one");
        let second = client.inject("queue", "two");
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        assert_eq!(client.turn_end(3), "end_turn");
        assert_eq!((client.delivered(&first), client.delivered(&second)), ("one".into(), "two".into()));
        let story = client.story();
        let story: Vec<&str> = story.iter().map(String::as_str).skip_while(|line| *line != "idle").collect();
        let told = ["idle", "user: one", "agent: heard one", "idle", "user: two", "agent: heard two", "idle"];
        assert_eq!(story, told, "version {version}");
    });
}

#[test]
fn a_steer_in_a_stream_cuts_it_off() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let id = client.inject("steer", "stop");
        assert_eq!(client.delivered(&id), "stop");
        assert_eq!(client.turn_end(1), "end_turn", "cancelled means that the user cancelled");
        let story = client.story();
        assert_eq!(story[story.len() - 3..], ["user: stop", "agent: steered by stop", "idle"], "{story:?}");
    });
}

fn steering(client: &mut Client, words: &str, meta: &serde_json::Value) -> serde_json::Value {
    let params = json!({"sessionId": client.session, "prompt": content(words), "_meta": meta});
    client.ask("_session/steering", &params)
}

#[test]
fn session_steering_while_busy_is_a_steer_its_sender_is_not_shown() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        assert_eq!(steering(&mut client, "left", &json!({}))["outcome"], "injected");
        client.said("steered by left");
        client.turn_end(1);
        assert!(!client.users().contains(&"user: left".to_owned()));
    });
}

#[test]
fn what_is_revoked_is_never_delivered() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let gone = client.inject("queue", "gone");
        let kept = client.inject("queue", "kept");
        assert_eq!(client.revoke(&gone), json!({}));
        assert_eq!(client.revoke(&gone), json!({}), "revoking twice succeeds");
        let replace = json!({"sessionId": client.session, "messageId": gone, "content": content("x")});
        let refused = client.refused("session/replace_inject", &replace);
        assert_eq!(refused, (-32002, "unknown_message_id".into()), "it cannot be replaced any more");
        client.cancel();
        client.delivered(&kept);
        client.turn_end(2);
        let users = client.users();
        assert_eq!(users.last().map(String::as_str), Some("user: kept"));
        assert!(!users.iter().any(|line| line.contains("gone")), "{users:?}");
    });
}

#[test]
fn what_is_not_on_disk_is_not_told_of() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let pending = |client: &mut Client| {
            client.ask("_nudge/status", &json!({}))["sessions"][0][1]["pending"].clone()
        };
        let held = nudge_testkit::Held::take(&place.data.path().join("sessions.db"));
        let params = json!({"sessionId": client.session, "mode": "queue", "content": content("wait")});
        let inject = client.send("session/inject", &params);
        assert_eq!(pending(&mut client), json!([]));
        drop(held);
        let id = client.response(inject)["result"]["messageId"].clone();
        assert_eq!(pending(&mut client)[0]["messageId"], id);
    });
}

#[test]
fn what_is_offered_is_said_in_both_places() {
    both(|version| {
        let place = Place::new();
        let client = place.client(version);
        let init = &client.initialized;
        let capabilities = if version == 1 { &init["agentCapabilities"] } else { &init["capabilities"] };
        let inject = &capabilities["session"]["inject"];
        assert_eq!(inject["modes"], json!(["queue", "steer"]));
        assert_eq!(inject["steer_in_stream"], json!(["interrupt", "finish"]));
        assert_eq!(inject["steerInStream"], json!(["interrupt", "finish"]));
        assert_eq!(inject["pending"]["replace"], true);
        assert_eq!(&capabilities["_meta"]["inject"], inject);
        assert_eq!(init["_meta"]["steering"]["supported"], true);
    });
}

#[test]
fn version_2_may_be_spoken_as_early_pages_have_it() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 2);
    client.prompt("one");
    client.turn_end(1);
    assert_eq!(client.initialized["agentInfo"], client.initialized["info"]);
    let session = client.session.clone();
    client.process.finish();
    let mut early = place.start(&["acp"], "off");
    let nes = json!({"nes": {"rename": {}, "searchAndReplace": {}}, "positionEncodings": ["utf-8"]});
    let params =
        json!({"protocolVersion": 2, "clientInfo": {"name": "e", "version": "1"}, "clientCapabilities": nes});
    early.line(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string());
    let answer = early.next_json().expect("an answer");
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-8", "{answer}");
    assert_eq!(answer["result"]["agentInfo"]["name"], "nudge");
    drop(early);
    let mut client = place.client(2);
    client.session.clone_from(&session);
    client.ask("session/load", &json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []}));
    assert!(client.story().contains(&"user: one".to_owned()), "{:#?}", client.story());
    client.prompt("two");
    client.turn_end(1);
}

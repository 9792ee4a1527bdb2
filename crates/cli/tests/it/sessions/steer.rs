//! `steer`: into the running turn, at its next break-point.

use std::fs;

use serde_json::json;

use super::{Client, Place, both, content};

/// A command that runs until the file `go` is there.
const WAITS: &str = "run while [ ! -e go ]; do sleep 0.01; done";

fn set(client: &mut Client, option: &str, value: &str) {
    let params = json!({"sessionId": client.session, "configId": option, "value": value, "type": "id"});
    client.ask("session/set_config_option", &params);
}

#[test]
fn in_a_tool_it_waits_for_the_end_of_the_tool() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, WAITS);
        let id = client.inject("steer", "left");
        fs::write(place.work.path().join("go"), "").unwrap();
        assert_eq!(client.delivered(&id), "left");
        assert_eq!(client.turn_end(1), "end_turn");
        let story = client.story().join("\n");
        assert!(story.ends_with("tool completed\nuser: left\nagent: steered by left\nidle"), "{story}");
    });
}

#[test]
fn in_a_stream_it_cuts_it_off() {
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

#[test]
fn in_a_stream_it_waits_for_its_end_if_the_user_wants_it_so() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        set(&mut client, "steer_in_stream", "finish");
        client.prompt("pause");
        client.said("before");
        let id = client.inject("steer", "on");
        client.delivered(&id);
        client.turn_end(1);
        let story = client.story().join("\n");
        assert!(story.ends_with("agent: before after\nuser: on\nagent: steered by on\nidle"), "{story}");
    });
}

#[test]
fn while_the_provider_pauses_it_is_held() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("pause");
        client.said("before");
        let id = client.inject("steer", "on");
        client.delivered(&id);
        assert_eq!(client.turn_end(1), "end_turn");
        let story = client.story().join("\n");
        assert!(story.contains("user: on\nagent: steered by on\nidle"), "{story}");
    });
}

#[test]
fn several_are_delivered_together_in_order() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, WAITS);
        client.inject("steer", "a");
        client.inject("steer", "b");
        fs::write(place.work.path().join("go"), "").unwrap();
        client.turn_end(1);
        let story = client.story().join("\n");
        assert!(story.contains("user: a\nuser: b\nagent: steered by"), "{story}");
    });
}

#[test]
fn a_steer_goes_before_a_message_that_was_queued_earlier() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, WAITS);
        client.inject("queue", "later");
        client.inject("steer", "now");
        fs::write(place.work.path().join("go"), "").unwrap();
        client.turn_end(2);
        let users = client.users();
        assert_eq!(users[users.len() - 2..], ["user: now", "user: later"], "{users:?}");
    });
}

#[test]
fn on_an_idle_session_there_is_nothing_to_steer() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let params = json!({"sessionId": client.session, "mode": "steer", "content": content("x")});
        assert_eq!(client.refused("session/inject", &params), (-32010, "no_running_turn".into()));
        assert_eq!(client.refused("_session/inject", &params), (-32010, "no_running_turn".into()));
    });
}

#[test]
fn while_a_permission_is_asked_it_is_held() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("run true");
        let request = client.agent_request();
        let id = client.inject("steer", "wait");
        let queued = client.inject("queue", "after");
        client.permit(&request, "allow_once");
        client.delivered(&id);
        client.delivered(&queued);
        client.turn_end(2);
        let story = client.story().join("\n");
        assert!(
            story.contains("tool completed\nuser: wait\nagent: steered by wait\nidle\nuser: after"),
            "{story}"
        );
    });
}

//! `steer`: into the running turn, at its next break-point.

use std::fs;

use serde_json::json;

use super::{Client, Place, both, content};

/// A command that runs until the file `go` is there.
const WAITS: &str = "run while [ ! -e go ]; do sleep 0.01; done";

async fn set(client: &mut Client, option: &str, value: &str) {
    let params = json!({"sessionId": client.session, "configId": option, "value": value, "type": "id"});
    client.ask("session/set_config_option", &params).await;
}

#[tokio::test]
async fn in_a_tool_it_waits_for_the_end_of_the_tool() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, WAITS).await;
        let id = client.inject("steer", "left").await;
        fs::write(place.work.path().join("go"), "").unwrap();
        assert_eq!(client.delivered(&id).await, "left");
        assert_eq!(client.turn_end(1).await, "end_turn");
        let story = client.story().join("\n");
        assert!(story.ends_with("tool completed\nuser: left\nagent: steered by left\nidle"), "{story}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_it_cuts_it_off() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let id = client.inject("steer", "stop").await;
        assert_eq!(client.delivered(&id).await, "stop");
        assert_eq!(client.turn_end(1).await, "end_turn", "cancelled means that the user cancelled");
        let story = client.story();
        assert_eq!(story[story.len() - 3..], ["user: stop", "agent: steered by stop", "idle"], "{story:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_it_waits_for_its_end_if_the_user_wants_it_so() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        set(&mut client, "steer_in_stream", "finish").await;
        client.prompt("pause");
        client.said("before").await;
        let id = client.inject("steer", "on").await;
        client.delivered(&id).await;
        client.turn_end(1).await;
        let story = client.story().join("\n");
        assert!(story.ends_with("agent: before after\nuser: on\nagent: steered by on\nidle"), "{story}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn while_the_provider_pauses_it_is_held() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("pause");
        client.said("before").await;
        let id = client.inject("steer", "on").await;
        client.delivered(&id).await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        let story = client.story().join("\n");
        assert!(story.contains("user: on\nagent: steered by on\nidle"), "{story}");
    })
    .await;
}

#[tokio::test]
async fn several_are_delivered_together_in_order() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, WAITS).await;
        client.inject("steer", "a").await;
        client.inject("steer", "b").await;
        fs::write(place.work.path().join("go"), "").unwrap();
        client.turn_end(1).await;
        let story = client.story().join("\n");
        assert!(story.contains("user: a\nuser: b\nagent: steered by"), "{story}");
    })
    .await;
}

#[tokio::test]
async fn a_steer_goes_before_a_message_that_was_queued_earlier() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, WAITS).await;
        client.inject("queue", "later").await;
        client.inject("steer", "now").await;
        fs::write(place.work.path().join("go"), "").unwrap();
        client.turn_end(2).await;
        let users = client.user_lines();
        assert_eq!(users[users.len() - 2..], ["user: now", "user: later"], "{users:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn on_an_idle_session_there_is_nothing_to_steer() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let params = json!({"sessionId": client.session, "mode": "steer", "content": content("x")});
        assert_eq!(client.refusal("session/inject", &params).await, (-32010, "no_running_turn".into()));
        assert_eq!(client.refusal("_session/inject", &params).await, (-32010, "no_running_turn".into()));
    })
    .await;
}

#[tokio::test]
async fn while_a_permission_is_asked_it_is_held() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("run true");
        let request = client.agent_request().await;
        let id = client.inject("steer", "wait").await;
        let queued = client.inject("queue", "after").await;
        client.permit(&request, "allow_once");
        client.delivered(&id).await;
        client.delivered(&queued).await;
        client.turn_end(2).await;
        let story = client.story().join("\n");
        assert!(
            story.contains("tool completed\nuser: wait\nagent: steered by wait\nidle\nuser: after"),
            "{story}"
        );
    })
    .await;
}

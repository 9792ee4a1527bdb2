//! What the agent reports is shown to everybody who looks, in the version of each.

use nudge_backend::BackendEvent;
use nudge_wire::{Version, message::ParsedFrame};
use serde_json::json;

use super::Scene;
use crate::scripted::Traits;

#[tokio::test(start_paused = true)]
async fn an_update_is_shown_in_the_version_of_each_client() {
    for version in [Version::V1, Version::V2] {
        let mut scene = Scene::of(Traits { version, ..Traits::default() });
        let (mut old, mut agent) = scene.session(1).await;
        let mut new = scene.joined(2, &old.session).await;
        old.prompt("hello");
        agent.expect(&["prompt: hello"]).await;
        agent.update(&json!({ "sessionUpdate": "agent_message_chunk", "messageId": "m1",
            "content": { "type": "text", "text": "hi" } }));
        let mode =
            json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "t", "status": "pending" });
        if version == Version::V1 {
            agent.update(&mode);
            old.tool("pending").await;
            let told = new.tool("pending").await;
            assert_eq!(
                told["params"]["update"]["sessionUpdate"], "tool_call_update",
                "version 2 has but one"
            );
        }
        old.said("hi").await;
        new.said("hi").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_of_version_1_is_shown_to_all_but_its_sender() {
    let mut scene = Scene::new();
    let (mut old, mut agent) = scene.session(1).await;
    let mut other = scene.joined(1, &old.session).await;
    let mut new = scene.joined(2, &old.session).await;
    old.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.says("m1", "hi");
    agent.ends_turn().await;
    for client in [&mut old, &mut other, &mut new] {
        client.turn_end(1).await;
    }
    assert_eq!(old.story(), ["agent: hi", "idle"]);
    assert_eq!(other.story(), ["user: hello", "agent: hi", "idle"]);
    assert_eq!(new.story(), ["user: hello", "agent: hi", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_held_back_for_version_1_is_sent_after_a_moment_and_before_the_end_of_the_turn() {
    let mut scene = Scene::new();
    let (mut old, mut agent) = scene.session(1).await;
    old.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    let tool = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "t", "status": "in_progress" });
    agent.update(&tool);
    let chunk = |text: String| {
        json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": "t",
            "content": { "type": "content", "content": { "type": "text", "text": text } } })
    };
    agent.update(&chunk("x".repeat(64 * 1024)));
    agent.update(&chunk("late".to_owned()));
    old.until("what is held back", |message| {
        message["params"]["update"]["content"].to_string().contains("late")
    })
    .await;
    agent.update(&chunk("last".to_owned()));
    agent.ends_turn().await;
    old.turn_end(1).await;
    let before_end = old.updates().any(|update| update["content"].to_string().contains("last"));
    assert!(before_end, "all of it was sent before the end of the turn");
}

#[tokio::test(start_paused = true)]
async fn a_notification_that_is_no_update_reaches_everybody() {
    let mut scene = Scene::new();
    let (mut old, agent) = scene.session(1).await;
    let mut new = scene.joined(2, &old.session).await;
    let line = json!({ "jsonrpc": "2.0", "method": "_vendor/news",
        "params": { "sessionId": old.session, "x": 1 } });
    let ParsedFrame::Single(Ok(message)) = ParsedFrame::from_frame(line.to_string().into()) else {
        panic!("it is one")
    };
    agent.report(BackendEvent::Notification(message));
    for client in [&mut old, &mut new] {
        let news = client.until("news", |message| message["method"] == "_vendor/news").await;
        assert_eq!(news["params"]["x"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_user_said_is_shown_once_it_is_on_disk() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    scene.place.store.hold();
    let prompt = first.prompt("hello");
    // Something that needs no disk is answered behind it.
    let status = scene.place.daemon().status().await;
    assert_eq!(status.sessions.len(), 1);
    agent.expect_silence();
    assert!(scene.place.store.waiting() > 0);
    scene.place.store.go_on();
    first.result(prompt).await;
    first.delivered_text("hello").await;
    agent.expect(&["prompt: hello"]).await;
}

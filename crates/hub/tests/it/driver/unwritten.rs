//! A store that cannot be written: what is asked is refused, what was shown is kept, and the session goes on.

use nudge_backend::BackendEvent;
use nudge_store::StoreError;
use serde_json::{Value, json};

use super::{Scene, named};
use crate::scripted::prompt_params;

const FULL: &str = "disk_full";

fn reason(response: &Value) -> &Value {
    &response["error"]["data"]["reason"]
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_cannot_be_stored_is_refused_and_the_next_one_taken() {
    for version in [1, 2] {
        let mut scene = Scene::new();
        let (mut first, mut agent) = scene.session(version).await;
        scene.place.store.fill();
        let refused = first.prompt("lost");
        assert_eq!(reason(&first.response(refused).await), FULL);
        let refused = first.prompt("lost too");
        assert_eq!(reason(&first.response(refused).await), FULL);
        scene.place.store.make_room();
        first.prompt("kept");
        agent.expect(&["forget options", "prompt: kept"]).await;
        agent.says("m1", "heard");
        first.said("heard").await;
        assert_eq!(first.user_messages(), if version == 2 { vec!["kept"] } else { vec![] });
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_whose_words_cannot_be_kept_ends_and_what_was_shown_is_written_by_itself() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    let waits = first.inject("queue", "waits").await;
    scene.place.store.fill();
    agent.report(BackendEvent::StreamStarted);
    agent.says("m1", "shown");
    first.said("shown").await;
    agent.expect(&["cancel"]).await;
    agent.is_done("cancelled");
    scene.place.store.make_room();
    // It looks by itself, and what was accepted follows.
    agent.expect(&["forget options", "prompt: waits"]).await;
    assert_eq!(first.delivered(&waits).await, "waits");
    agent.ends_turn().await;
    let again = scene.joined(2, &first.session).await;
    assert_eq!(again.user_messages(), ["hello", "waits"]);
    assert!(again.story().contains(&"agent: shown".to_owned()), "{:?}", again.story());
}

#[tokio::test(start_paused = true)]
async fn a_close_that_cannot_be_written_has_not_been() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    let mut second = scene.joined(1, &first.session).await;
    scene.place.store.fill();
    let params = named(&first);
    let refused = first.send("session/close", &params);
    assert_eq!(reason(&first.response(refused).await), FULL);
    scene.place.store.make_room();
    second.prompt("goes on");
    agent.expect(&["forget options", "prompt: goes on"]).await;
    first.delivered_text("goes on").await;
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_cannot_be_written_leaves_the_session_to_be_loaded_again() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    scene.place.store.fill();
    let params = named(&first);
    let refused = first.send("session/delete", &params);
    assert_eq!(reason(&first.response(refused).await), FULL);
    agent.expect(&["forget options", "end: Leave"]).await;
    scene.place.store.make_room();
    first.ask("session/resume", &params).await;
    let mut agent = scene.agents.next().await;
    first.prompt("goes on");
    agent.expect(&["prompt: goes on"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_does_not_pass_leaves_the_session_as_it_is_on_disk() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    scene.place.store.fail(StoreError::Damaged);
    let refused = first.prompt("more");
    assert!(first.response(refused).await.get("error").is_some());
    loop {
        let told = agent.told().await;
        if told.starts_with("end") {
            break;
        }
        if told == "cancel" {
            agent.is_done("cancelled");
        }
    }
    scene.place.store.make_room();
    let again = scene.joined(2, &first.session).await;
    assert_eq!(again.user_messages(), ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_another_process_has_taken_is_left() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    scene.place.store.fail(StoreError::Fenced);
    let refused = first.prompt("hello");
    assert!(first.response(refused).await.get("error").is_some());
    agent.expect(&["end: Leave"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_cannot_be_begun_without_room_and_is_nobodys() {
    let mut scene = Scene::new();
    let mut client = scene.client(2).await;
    scene.place.store.fill();
    let params = json!({ "cwd": scene.place.cwd(), "mcpServers": [] });
    let refused = client.send("session/new", &params);
    assert_eq!(reason(&client.response(refused).await), FULL);
    let mut agent = scene.agents.next().await;
    scene.place.store.make_room();
    client.new_session(&scene.place.cwd()).await;
    let session = client.session.clone();
    client.send("session/prompt", &prompt_params(&session, "hello"));
    agent = {
        drop(agent);
        scene.agents.next().await
    };
    agent.expect(&["prompt: hello"]).await;
}

//! What only the agent understands passes to it, and what it does not understand is refused.

use serde_json::json;

use super::Scene;
use crate::scripted::Traits;

#[tokio::test(start_paused = true)]
async fn a_request_about_a_session_passes_to_its_agent() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    let asked = first.send("_vendor/thing", &json!({ "sessionId": first.session, "x": 1 }));
    agent.expect(&["pass _vendor/thing"]).await;
    let nudge_peer::UnhandledMessage::Request(request) = agent.passed().message else {
        panic!("it is a request")
    };
    request.respond(Ok(json!({ "y": 2 }))).await.expect("the client is there");
    assert_eq!(first.result(asked).await, json!({ "y": 2 }));
    first.note("_vendor/note", &json!({ "sessionId": first.session }));
    agent.expect(&["pass _vendor/note"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_understands_nothing_else_has_it_refused() {
    let mut scene = Scene::of(Traits { is_open: false, ..Traits::default() });
    let (mut first, mut agent) = scene.session(2).await;
    let params = json!({ "sessionId": first.session });
    assert_eq!(first.refusal("_vendor/thing", &params).await.0, -32601);
    first.note("_vendor/note", &params);
    first.prompt("goes on");
    agent.expect(&["prompt: goes on"]).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_about_a_session_that_the_client_has_not_joined_does_not_pass() {
    let mut scene = Scene::new();
    let (first, mut agent) = scene.session(2).await;
    let mut stranger = scene.client(2).await;
    let params = json!({ "sessionId": first.session });
    assert_eq!(stranger.refusal("_vendor/thing", &params).await.0, -32601);
    agent.expect_silence();
}

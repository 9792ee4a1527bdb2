//! Cancels of the user.

use nudge_backend::Backend;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    owner::session,
    scripted::{PATIENCE, v1, v2},
};

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_turn() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.session.cancel();
    owner.prompt("one");
    let prompt = agent.expect_prompt("one").await;
    owner.expect(&["stream"]).await;
    owner.session.cancel();
    agent.expect("session/cancel").await;
    agent.says("well").await;
    prompt.stop("cancelled").await;
    owner.expect(&["agent_message_chunk well", "over: cancelled"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_a_turn_of_version_2() {
    let (_launches, mut owner, mut agent) = session(v2(&json!({}))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await.answer(json!({ "messageId": "m1" })).await;
    owner.expect(&["stream"]).await;
    owner.session.cancel();
    owner.session.cancel();
    agent.expect("session/cancel").await;
    agent.is_idle("cancelled").await;
    owner.expect(&["over: cancelled"]).await;
    owner.prompt("two");
    agent.expect_prompt("two").await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_at_a_break_point_ends_the_turn_there() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await.stop("end_turn").await;
    owner.expect(&["stream", "break"]).await;
    owner.session.cancel();
    owner.go_on("two");
    owner.expect(&["over: end_turn"]).await;
    // What came too late is not lost.
    owner.prompt("three");
    agent.expect_prompt("two three").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_stop_is_ended_and_comes_back() {
    let (mut launches, mut owner, mut agent) =
        session(v1(&json!({ "sessionCapabilities": { "resume": {} } }))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await;
    agent.says("well").await;
    owner.expect(&["stream", "agent_message_chunk well"]).await;
    owner.session.cancel();
    agent.expect("session/cancel").await;
    let cancelled = Instant::now();
    let (ended, ()) = tokio::join!(
        agent.ended(),
        owner.expect(&["lost: The agent is gone: the connection was closed", "over: cancelled"])
    );
    assert!(ended - cancelled >= PATIENCE);
    let ((), _agent) = tokio::join!(owner.expect(&["back as s1"]), async {
        let mut agent = launches.greeted().await;
        agent.expect("session/resume").await.answer(json!({})).await;
        agent
    });
}

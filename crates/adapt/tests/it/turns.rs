//! Turns as an agent tells of them.

use serde_json::json;

use crate::{
    owner::session,
    scripted::{chunk, v1, v2},
};

#[tokio::test(start_paused = true)]
async fn a_turn_of_version_1_ends_with_its_answer() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("fix it");
    let prompt = agent.expect_prompt("fix it").await;
    agent.says("done").await;
    prompt.stop("end_turn").await;
    owner.expect(&["stream", "agent_message_chunk done", "break"]).await;
    owner.go_on("");
    owner.expect(&["over: end_turn"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_version_2_ends_with_its_state() {
    let (_launches, mut owner, mut agent) = session(v2(&json!({}))).await;
    owner.prompt("fix it");
    let prompt = agent.expect_prompt("fix it").await;
    // About an earlier turn.
    agent.is_idle("end_turn").await;
    prompt.answer(json!({ "messageId": "m1" })).await;
    agent.is_running().await;
    agent.says("done").await;
    agent.is_idle("end_turn").await;
    owner.expect(&["stream", "agent_message_chunk done", "break"]).await;
    owner.go_on("");
    owner.expect(&["over: end_turn"]).await;
}

#[tokio::test(start_paused = true)]
async fn what_goes_in_at_a_break_point_is_prompted_in_the_same_turn() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await.stop("end_turn").await;
    owner.expect(&["stream", "break"]).await;
    owner.go_on("two\nthree");
    agent.expect_prompt("two three").await.stop("max_tokens").await;
    owner.expect(&["stream", "break"]).await;
    owner.go_on("");
    owner.expect(&["over: max_tokens"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_error_ends_the_turn() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await.refuse("no model").await;
    owner.expect(&["stream", "over: no model"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_version_2_agent_begins_a_turn_by_itself() {
    let (_launches, mut owner, agent) = session(v2(&json!({}))).await;
    agent.is_running().await;
    agent.says("the build is over").await;
    agent.is_idle("end_turn").await;
    owner.expect(&["turn", "stream", "agent_message_chunk the build is over", "break"]).await;
    owner.go_on("");
    owner.expect(&["over: end_turn"]).await;
}

#[tokio::test(start_paused = true)]
async fn tools_start_and_finish() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    let prompt = agent.expect_prompt("one").await;
    agent.tool("a", "pending").await;
    agent.tool("a", "in_progress").await;
    agent.tool("b", "pending").await;
    agent.tool("a", "completed").await;
    owner.expect(&["stream", "tool a", "tool_call", "tool_call_update"]).await;
    owner.expect(&["tool b", "tool_call", "tool a over", "tool_call_update"]).await;
    prompt.stop("end_turn").await;
    // One that never ended ends with the turn, and is of no concern to the next.
    owner.expect(&["tool b over", "break"]).await;
    owner.go_on("two");
    agent.expect_prompt("two").await;
    agent.tool("b", "in_progress").await;
    owner.expect(&["stream", "tool_call_update"]).await;
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_repeats_of_the_user_is_not_shown() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("fix the bug");
    let prompt = agent.expect_prompt("fix the bug").await;
    agent.update(chunk("user_message_chunk", "fix ")).await;
    agent.update(chunk("user_message_chunk", "the bug")).await;
    agent.update(chunk("user_message_chunk", "[interrupted]")).await;
    prompt.stop("end_turn").await;
    owner.expect(&["stream", "user_message_chunk [interrupted]", "break"]).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_version_2_agent_repeats_under_its_own_id_is_not_shown() {
    let (_launches, mut owner, mut agent) = session(v2(&json!({}))).await;
    owner.prompt("fix the bug");
    agent.expect_prompt("fix the bug").await.answer(json!({ "messageId": "m1" })).await;
    owner.expect(&["stream"]).await;
    agent.is_running().await;
    agent.says("ok").await;
    owner.expect(&["agent_message_chunk ok"]).await;
    let said = |id: &str, words: &str| {
        json!({ "sessionUpdate": "user_message", "messageId": id,
            "content": [{ "type": "text", "text": words }] })
    };
    agent.update(said("m1", "In the agent's own words")).await;
    agent.update(said("m2", "Somebody else's")).await;
    agent.is_idle("end_turn").await;
    owner.expect(&["user_message", "break"]).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_update_is_reported_as_it_came() {
    let (_launches, mut owner, agent) = session(v1(&json!({}))).await;
    let asked = agent.asks("_vendor/thing", json!({ "x": 1 }));
    owner.expect(&["asked _vendor/thing"]).await;
    drop(asked);
    owner.expect(&["withdrawn 1"]).await;
    agent.tells("_vendor/news").await;
    owner.expect(&["_vendor/news"]).await;
}

//! Steers, by each of the ways there are, best first.

use std::time::Duration;

use nudge_backend::{Backend, SteerMethod};
use serde_json::{Value, json};

use crate::{
    owner::{Owner, session},
    scripted::{Launches, ScriptedAgent, v1, v2},
};

fn inject() -> Value {
    v1(&json!({ "session": { "inject": { "modes": ["queue", "steer"], "steer_in_stream": ["finish"] } } }))
}

fn steering() -> Value {
    json!({ "protocolVersion": 1, "agentCapabilities": {}, "_meta": { "steering": { "supported": true } } })
}

/// A version 1 agent that streams.
async fn streaming(init: Value) -> (Launches, Owner, ScriptedAgent, crate::scripted::Heard) {
    let (launches, mut owner, mut agent) = session(init).await;
    owner.prompt("one");
    let prompt = agent.expect_prompt("one").await;
    agent.says("well").await;
    owner.expect(&["stream", "agent_message_chunk well"]).await;
    (launches, owner, agent, prompt)
}

#[tokio::test(start_paused = true)]
async fn tier_1_is_an_inject() {
    let (_launches, mut owner, mut agent, prompt) = streaming(inject()).await;
    assert_eq!(owner.session.steer_method(), SteerMethod::Take);
    owner.steer("two");
    let steer = agent.expect("session/inject").await;
    assert_eq!((steer.words().as_str(), &steer.params["mode"]), ("two", &json!("steer")));
    steer.answer(json!({ "messageId": "m" })).await;
    owner.expect(&["stream"]).await;
    prompt.stop("end_turn").await;
    owner.expect(&["break"]).await;
}

#[tokio::test(start_paused = true)]
async fn tier_2_is_a_request_of_its_own() {
    let (_launches, mut owner, mut agent, prompt) = streaming(steering()).await;
    owner.steer("two\nthree");
    for words in ["two", "three"] {
        let steer = agent.expect("_session/steering").await;
        assert_eq!(steer.words(), words);
        assert_eq!(steer.params["_meta"]["steering"]["idleBehavior"], "promptRequired");
        steer.answer(json!({ "outcome": "injected" })).await;
    }
    owner.expect(&["stream", "stream"]).await;
    prompt.stop("end_turn").await;
    owner.expect(&["break"]).await;
}

fn goose() -> Value {
    json!({ "protocolVersion": 1, "agentCapabilities": {}, "agentInfo": { "name": "goose", "version": "1.52.0" } })
}

/// Goose tells which run it is at.
async fn runs(agent: &ScriptedAgent, run: Option<&str>) {
    agent
        .update(
            json!({ "sessionUpdate": "session_info_update", "_meta": { "goose": { "activeRunId": run } } }),
        )
        .await;
}

/// Goose tells that a steer went in.
async fn goes_in(agent: &ScriptedAgent, id: &str, words: &str) {
    let mut update = crate::scripted::chunk("user_message_chunk", words);
    update["messageId"] = json!(id);
    agent.update(update).await;
}

#[tokio::test(start_paused = true)]
async fn goose_is_steered_by_its_own_method_and_says_when_a_steer_went_in() {
    let (_launches, mut owner, mut agent, prompt) = streaming(goose()).await;
    runs(&agent, Some("r1")).await;
    owner.expect(&["session_info_update"]).await;
    assert_eq!(owner.session.steer_method(), SteerMethod::Take);
    owner.steer("two\nthree");
    for (words, id) in [("two", "m2"), ("three", "m3")] {
        let steer = agent.expect("_goose/unstable/session/steer").await;
        assert_eq!((steer.words().as_str(), &steer.params["expectedRunId"]), (words, &json!("r1")));
        if id == "m3" {
            // It may go in before its answer is here.
            goes_in(&agent, id, words).await;
        }
        steer.answer(json!({ "runId": "r1", "messageId": id })).await;
    }
    owner.expect(&["stream"]).await;
    owner.expect_silence(Duration::from_secs(5)).await;
    goes_in(&agent, "m2", "two").await;
    owner.expect(&["stream"]).await;
    runs(&agent, None).await;
    prompt.stop("end_turn").await;
    owner.expect(&["session_info_update", "break"]).await;
    owner.go_on("");
    owner.expect(&["over: end_turn"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_steer_that_goose_did_not_take_in_is_prompted() {
    for (is_answered_before, outcome) in [(true, Ok(())), (false, Ok(())), (false, Err(()))] {
        let (_launches, mut owner, mut agent, prompt) = streaming(goose()).await;
        runs(&agent, Some("r1")).await;
        owner.expect(&["session_info_update"]).await;
        owner.steer("two");
        let steer = agent.expect("_goose/unstable/session/steer").await;
        let mut steer = Some(steer);
        if is_answered_before {
            steer.take().unwrap().answer(json!({ "runId": "r1", "messageId": "m2" })).await;
            owner.expect_silence(Duration::from_secs(1)).await;
        }
        runs(&agent, None).await;
        prompt.stop("end_turn").await;
        owner.expect(&["session_info_update"]).await;
        match (steer, outcome) {
            (Some(steer), Ok(())) => steer.answer(json!({ "runId": "r1", "messageId": "m2" })).await,
            (Some(steer), Err(())) => steer.refuse("no active run to steer").await,
            (None, _) => {}
        }
        owner.expect(&["stream"]).await;
        agent.expect_prompt("two").await.stop("end_turn").await;
        owner.expect(&["break"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_goose_that_says_nothing_of_a_run_is_cut_off() {
    let (_launches, mut owner, mut agent, prompt) = streaming(goose()).await;
    owner.steer("two");
    agent_is_cut_off(&mut owner, &mut agent, prompt).await;
    let (_launches, mut owner, mut agent, prompt) = streaming(goose()).await;
    runs(&agent, Some("r1")).await;
    owner.expect(&["session_info_update"]).await;
    owner.steer("two");
    agent.expect("_goose/unstable/session/steer").await.refuse("not now").await;
    agent_is_cut_off(&mut owner, &mut agent, prompt).await;
}

async fn agent_is_cut_off(owner: &mut Owner, agent: &mut ScriptedAgent, prompt: crate::scripted::Heard) {
    owner.expect_silence(Duration::from_millis(1)).await;
    agent.expect("session/cancel").await;
    prompt.stop("cancelled").await;
    owner.expect(&["stream"]).await;
    agent.expect_prompt("two").await;
}

#[tokio::test(start_paused = true)]
async fn tier_3_is_a_prompt_into_the_turn() {
    let (_launches, mut owner, mut agent) = session(v2(&json!({ "steering": {} }))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await.answer(json!({ "messageId": "m1" })).await;
    agent.is_running().await;
    agent.says("well").await;
    owner.expect(&["stream", "agent_message_chunk well"]).await;
    assert_eq!(owner.session.steer_method(), SteerMethod::Take);
    owner.steer("two");
    agent.expect_prompt("two").await.answer(json!({ "messageId": "m2" })).await;
    owner.expect(&["stream"]).await;
    agent.is_idle("end_turn").await;
    owner.expect(&["break"]).await;
}

#[tokio::test(start_paused = true)]
async fn tier_4_cuts_the_stream_off_and_prompts() {
    let (_launches, mut owner, mut agent, prompt) = streaming(v1(&json!({}))).await;
    assert_eq!(owner.session.steer_method(), SteerMethod::Interrupt);
    owner.session.interrupt();
    owner.session.interrupt();
    agent.expect("session/cancel").await;
    prompt.stop("cancelled").await;
    owner.expect(&["break"]).await;
    owner.go_on("two");
    agent.expect_prompt("two").await.stop("end_turn").await;
    owner.expect(&["stream", "break"]).await;
    owner.go_on("");
    owner.expect(&["over: end_turn"]).await;
}

#[tokio::test(start_paused = true)]
async fn tier_4_waits_for_the_first_word() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    let prompt = agent.expect_prompt("one").await;
    owner.expect(&["stream"]).await;
    owner.session.interrupt();
    owner.expect_silence(Duration::from_millis(1400)).await;
    agent.expect_silence(Duration::ZERO).await;
    agent.says("").await;
    owner.expect(&["agent_message_chunk"]).await;
    agent.expect_silence(Duration::ZERO).await;
    agent.says("well").await;
    owner.expect(&["agent_message_chunk well"]).await;
    agent.expect("session/cancel").await;
    prompt.stop("cancelled").await;
    owner.expect(&["break"]).await;
}

#[tokio::test(start_paused = true)]
async fn tier_4_does_not_wait_for_the_first_word_for_ever() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await;
    owner.expect(&["stream"]).await;
    owner.session.interrupt();
    owner.expect_silence(Duration::from_millis(1600)).await;
    agent.expect("session/cancel").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_was_cut_off_for_nothing_is_told_to_go_on() {
    let (_launches, mut owner, mut agent, prompt) = streaming(v1(&json!({}))).await;
    owner.session.interrupt();
    agent.expect("session/cancel").await;
    prompt.stop("cancelled").await;
    owner.expect(&["break"]).await;
    owner.go_on("");
    agent.expect_prompt("Go on where you stopped.").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_forgets_what_was_cut_off_is_told_of_it() {
    let info = json!({ "name": "gemini-cli", "version": "1" });
    let init = json!({ "protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info });
    let (_launches, mut owner, mut agent, prompt) = streaming(init).await;
    owner.session.interrupt();
    agent.expect("session/cancel").await;
    prompt.stop("cancelled").await;
    owner.expect(&["break"]).await;
    owner.go_on("two");
    let words = agent.expect("session/prompt").await.words();
    assert!(words.contains("<turn>\nUser: one\nYou: well\n</turn>") && words.ends_with("two"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_steer_that_is_refused_is_prompted() {
    let (_launches, mut owner, mut agent, prompt) = streaming(steering()).await;
    owner.steer("two");
    agent.expect("_session/steering").await.refuse("not now").await;
    owner.expect_silence(Duration::from_millis(1)).await;
    agent.expect("session/cancel").await;
    prompt.stop("cancelled").await;
    owner.expect(&["stream"]).await;
    agent.expect_prompt("two").await.stop("end_turn").await;
    owner.expect(&["break"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_steer_that_comes_too_late_is_prompted() {
    let (_launches, mut owner, mut agent, prompt) = streaming(steering()).await;
    owner.steer("two");
    let steer = agent.expect("_session/steering").await;
    prompt.stop("end_turn").await;
    // No break-point before it is known what became of the steer.
    owner.expect_silence(Duration::from_secs(5)).await;
    steer.answer(json!({ "outcome": "promptRequired", "reason": "noRunningTurn" })).await;
    owner.expect(&["stream"]).await;
    agent.expect_prompt("two").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_a_turn_is_not_cut_off_for_a_steer() {
    let (_launches, mut owner, mut agent, prompt) = streaming(inject()).await;
    owner.steer("two");
    let steer = agent.expect("session/inject").await;
    // The answer to the steer overtakes the end of the prompt.
    steer.refuse_for("no_running_turn").await;
    owner.expect_silence(Duration::from_secs(1)).await;
    prompt.stop("end_turn").await;
    owner.expect(&["stream"]).await;
    agent.expect_prompt("two").await.stop("end_turn").await;
    owner.expect(&["break"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_version_2_agent_goes_on_with_a_steer_that_came_late() {
    let (_launches, mut owner, mut agent) = session(v2(&json!({ "steering": {} }))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await.answer(json!({ "messageId": "m1" })).await;
    agent.is_running().await;
    agent.is_idle("end_turn").await;
    owner.expect(&["stream", "break"]).await;
    agent.is_running().await;
    owner.expect(&["stream"]).await;
    owner.go_on("two");
    agent.expect_prompt("two").await.answer(json!({ "messageId": "m2" })).await;
    owner.expect(&["stream"]).await;
    agent.is_idle("end_turn").await;
    owner.expect(&["break"]).await;
}

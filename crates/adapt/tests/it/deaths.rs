//! An agent dies, and its session is taken up again.

use std::time::Duration;

use nudge_backend::Backend;
use serde_json::{Value, json};

use crate::{
    owner::{Owner, session},
    scripted::{Launches, ScriptedAgent, chunk, v1, v2},
};

const GONE: &str = "The agent is gone: the connection was closed by the other side";

fn lost() -> String {
    format!("lost: {GONE}")
}

fn failed() -> String {
    format!("over: {GONE}")
}

/// An agent that dies in the middle of a turn, and what is reported of that.
async fn dead_in_a_turn(init: Value) -> (Launches, Owner) {
    let (launches, mut owner, mut agent) = session(init).await;
    owner.prompt("one");
    agent.expect_prompt("one").await;
    agent.tool("t", "pending").await;
    owner.expect(&["stream", "tool t", "tool_call"]).await;
    agent.dies().await;
    owner.expect(&[&lost(), "tool t over", &failed()]).await;
    (launches, owner)
}

/// The agent is back and has answered this to the method by which its session is taken up.
async fn back(launches: &mut Launches, owner: &mut Owner, method: &str, as_what: &str) -> ScriptedAgent {
    let revive = async {
        let mut agent = launches.greeted().await;
        let asked = agent.expect(method).await;
        if method == "session/new" {
            "s2".clone_into(&mut agent.session);
            asked.answer(json!({ "sessionId": "s2" })).await;
        } else {
            assert_eq!(asked.params["sessionId"], "s1");
            asked.answer(json!({})).await;
        }
        agent
    };
    let reports = [as_what];
    let (agent, ()) = tokio::join!(revive, owner.expect(&reports));
    agent
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_resumes_knows_the_session() {
    for init in [v1(&json!({ "sessionCapabilities": { "resume": {} } })), v2(&json!({}))] {
        let (mut launches, mut owner) = dead_in_a_turn(init).await;
        let mut agent = back(&mut launches, &mut owner, "session/resume", "back as s1").await;
        owner.prompt("two");
        agent.expect_prompt("two").await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_replay_of_an_agent_that_loads_is_dropped() {
    let (mut launches, mut owner) = dead_in_a_turn(v1(&json!({ "loadSession": true }))).await;
    let revive = async {
        let mut agent = launches.greeted().await;
        let load = agent.expect("session/load").await;
        agent.update(chunk("user_message_chunk", "one")).await;
        agent.says("an old word").await;
        agent.update(json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] })).await;
        load.answer(json!({})).await;
        agent
    };
    let (mut agent, ()) = tokio::join!(revive, owner.expect(&["back as s1", "available_commands_update"]));
    owner.prompt("two");
    owner.expect(&["stream"]).await;
    agent.expect_prompt("two").await.stop("end_turn").await;
    owner.expect(&["break"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_comes_late_is_dropped_and_holds_the_prompt() {
    let (mut launches, mut owner) = dead_in_a_turn(v1(&json!({ "loadSession": true }))).await;
    let mut agent = back(&mut launches, &mut owner, "session/load", "back as s1").await;
    owner.prompt("two");
    owner.steer("three");
    for words in ["an old word", "another"] {
        agent.says(words).await;
        owner.expect_silence(Duration::from_millis(300)).await;
        agent.expect_silence(Duration::ZERO).await;
    }
    owner.expect(&["stream"]).await;
    let prompt = agent.expect_prompt("two three").await;
    agent.says("new").await;
    // What the user is said to have said before the turn has ended is taken for the past.
    agent.update(chunk("user_message_chunk", "long ago")).await;
    prompt.stop("end_turn").await;
    owner.expect(&["agent_message_chunk new", "break"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_remembers_nothing_is_told() {
    let (mut launches, mut owner) = dead_in_a_turn(v1(&json!({}))).await;
    let mut agent = back(&mut launches, &mut owner, "session/new", "back as s2, recap").await;
    assert_eq!(&**owner.session.id(), "s2");
    owner.prompt("two");
    let prompt = agent.expect("session/prompt").await;
    let words = prompt.words();
    let told = "<conversation>\nUser: hello\nYou: hi\n</conversation>";
    assert!(words.contains(told) && words.ends_with("two"), "{words}");
    prompt.stop("end_turn").await;
    owner.expect(&["stream", "break"]).await;
    owner.go_on("three");
    agent.expect_prompt("three").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_resume_after_all_is_told() {
    let (mut launches, mut owner) =
        dead_in_a_turn(v1(&json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } }))).await;
    let revive = async {
        let mut agent = launches.greeted().await;
        agent.expect("session/resume").await.refuse("unknown session").await;
        agent.expect("session/load").await.refuse("unknown session").await;
        agent.expect("session/new").await.answer(json!({ "sessionId": "s2" })).await;
        agent
    };
    let (_agent, ()) = tokio::join!(revive, owner.expect(&["back as s2, recap"]));
}

#[tokio::test(start_paused = true)]
async fn a_prompt_to_an_agent_that_was_dying_is_sent_again_once() {
    let (mut launches, mut owner, mut agent) =
        session(v1(&json!({ "sessionCapabilities": { "resume": {} } }))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await;
    owner.expect(&["stream"]).await;
    agent.dies().await;
    owner.expect(&[&lost()]).await;
    // What the user says meanwhile comes behind it.
    owner.steer("two");
    let mut agent = back(&mut launches, &mut owner, "session/resume", "back as s1").await;
    agent.expect_prompt("one two").await;
    owner.expect(&["stream"]).await;
    agent.dies().await;
    owner.expect(&[&lost(), &failed()]).await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_an_agent_has_had_for_a_while_is_not_sent_again() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await;
    owner.expect(&["stream"]).await;
    owner.expect_silence(Duration::from_secs(1)).await;
    agent.dies().await;
    owner.expect(&[&lost(), &failed()]).await;
}

#[tokio::test(start_paused = true)]
async fn a_steer_that_a_dead_agent_did_not_answer_goes_with_the_next_prompt() {
    let init = json!({ "protocolVersion": 1, "_meta": { "steering": { "supported": true } },
        "agentCapabilities": { "sessionCapabilities": { "resume": {} } } });
    let (mut launches, mut owner, mut agent) = session(init).await;
    owner.prompt("one");
    agent.expect_prompt("one").await;
    agent.says("well").await;
    owner.expect(&["stream", "agent_message_chunk well"]).await;
    owner.steer("two");
    agent.expect("_session/steering").await;
    agent.dies().await;
    owner.expect(&[&lost(), &failed()]).await;
    let mut agent = back(&mut launches, &mut owner, "session/resume", "back as s1").await;
    owner.prompt("three");
    agent.expect_prompt("two three").await;
}

#[tokio::test(start_paused = true)]
async fn what_goes_in_at_the_break_point_of_a_dead_agent_goes_with_the_next_prompt() {
    let (mut launches, mut owner, mut agent) =
        session(v1(&json!({ "sessionCapabilities": { "resume": {} } }))).await;
    owner.prompt("one");
    agent.expect_prompt("one").await.stop("end_turn").await;
    owner.expect(&["stream", "break"]).await;
    agent.dies().await;
    owner.expect(&[&lost(), &failed()]).await;
    owner.go_on("two");
    let mut agent = back(&mut launches, &mut owner, "session/resume", "back as s1").await;
    owner.prompt("three");
    agent.expect_prompt("two three").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_come_back_fails_the_prompt_and_not_the_session() {
    let (mut launches, mut owner, agent) = session(v1(&json!({}))).await;
    agent.dies().await;
    launches.end();
    owner.expect(&[&lost()]).await;
    for words in ["one", "two"] {
        owner.prompt(words);
        owner.expect(&["over: the test wants no more agents"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_waits_for_the_agent_can_be_cancelled() {
    let (mut launches, mut owner, agent) =
        session(v1(&json!({ "sessionCapabilities": { "resume": {} } }))).await;
    agent.dies().await;
    owner.expect(&[&lost()]).await;
    owner.prompt("one");
    owner.session.cancel();
    owner.expect(&["over: cancelled"]).await;
    let mut agent = back(&mut launches, &mut owner, "session/resume", "back as s1").await;
    owner.prompt("two");
    agent.expect_prompt("one two").await;
}

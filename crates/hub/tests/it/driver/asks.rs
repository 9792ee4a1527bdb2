//! What the agent asks, on its way to clients and back.

use nudge_backend::BackendEvent;
use serde_json::json;

use super::{Scene, named};
use crate::scripted::Traits;

const YES: &str = r#"answer 1: {"outcome":{"outcome":"selected","optionId":"yes"}}"#;

#[tokio::test(start_paused = true)]
async fn permission_is_asked_of_everybody_and_the_first_answer_counts() {
    let mut scene = Scene::new();
    let (mut old, mut agent) = scene.session(1).await;
    let mut new = scene.joined(2, &old.session).await;
    old.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.asks_permission("t");
    let asked = [old.agent_request().await, new.agent_request().await];
    for request in &asked {
        assert_eq!(request["method"], "session/request_permission");
        assert_eq!(request["params"]["sessionId"], old.session.as_str());
    }
    new.permit(&asked[1], "allow_once");
    agent.expect(&[YES]).await;
    // The other is told that it need not answer, and its answer changes nothing.
    let id = &asked[0]["id"];
    old.until("a withdrawal", |message| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == *id
    })
    .await;
    old.permit(&asked[0], "reject_once");
    agent.ends_turn().await;
    old.turn_end(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_the_agent_withdraws_is_withdrawn_from_every_client() {
    let mut scene = Scene::new();
    let (mut old, mut agent) = scene.session(1).await;
    let mut new = scene.joined(2, &old.session).await;
    old.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    let question = agent.asks_permission("t");
    let asked = [old.agent_request().await, new.agent_request().await];
    agent.report(BackendEvent::QuestionWithdrawn(question));
    for (client, request) in [&mut old, &mut new].into_iter().zip(&asked) {
        client
            .until("a withdrawal", |message| {
                message["method"] == "$/cancel_request" && message["params"]["requestId"] == request["id"]
            })
            .await;
    }
    agent.ends_turn().await;
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_permission_reaches_the_agent_once_it_is_on_disk() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.asks_permission("t");
    let asked = first.agent_request().await;
    first.until("the state", |message| message["params"]["update"]["state"] == "requires_action").await;
    scene.place.store.hold();
    first.permit(&asked, "allow_once");
    first.until("the state", |_| true).await;
    scene.place.daemon().status().await;
    agent.expect_silence();
    scene.place.store.go_on();
    agent.expect(&[YES]).await;
}

#[tokio::test(start_paused = true)]
async fn who_joins_is_asked_what_is_open_and_may_answer() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.asks_permission("t");
    first.agent_request().await;
    let session = first.session.clone();
    drop(first);
    let mut second = scene.joined(1, &session).await;
    let asked = second.agent_request().await;
    second.permit(&asked, "allow_once");
    agent.expect(&[YES]).await;
}

#[tokio::test(start_paused = true)]
async fn somebody_who_is_not_attached_lists_and_answers_what_is_open() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(1).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.asks_permission("t");
    first.agent_request().await;
    let hub = scene.place.daemon();
    let open = hub.questions().await;
    let [question] = &open[..] else { panic!("{open:?}") };
    assert_eq!((&*question.session_id, question.method), (&*first.session, "session/request_permission"));
    let answer = |option: &str| {
        crate::scripted::raw(&json!({ "sessionId": first.session, "questionId": question.question_id,
            "result": { "outcome": { "outcome": "selected", "optionId": option } } }))
    };
    assert!(hub.answer(Some(&answer("perhaps"))).await.is_err(), "it is no option");
    assert!(hub.answer(Some(&answer("yes"))).await.expect("it is an option"));
    agent.told().await;
    assert!(!hub.answer(Some(&answer("yes"))).await.expect("it is an option"), "it is not open any more");
    assert!(hub.questions().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_file_is_asked_of_the_client_that_prompted_or_served_by_the_agent_itself() {
    let mut scene = Scene::new();
    let offers = json!({ "fs": { "readTextFile": true } });
    let client = scene.client_with(1, &offers, None).await;
    let (mut offering, mut agent) = scene.session_of(client).await;
    let mut plain = scene.joined(1, &offering.session).await;
    offering.prompt("one");
    agent.expect(&["prompt: one"]).await;
    agent.traits().version = nudge_wire::Version::V1;
    agent.asks("fs/read_text_file", &json!({ "path": "/a" }));
    let asked = offering.agent_request().await;
    assert_eq!(asked["params"], json!({ "sessionId": offering.session, "path": "/a" }));
    offering.answer(&asked, &json!({ "content": "hi" }));
    agent.expect(&[r#"answer 1: {"content":"hi"}"#]).await;
    agent.ends_turn().await;
    plain.turn_end(1).await;
    plain.prompt("two");
    agent.expect(&["prompt: two"]).await;
    agent.asks("fs/read_text_file", &json!({ "path": "/a" }));
    agent.expect(&["serve 2: fs/read_text_file"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_with_tools_of_its_own_is_told_that_nobody_answers() {
    let mut scene = Scene::of(Traits { has_own_tools: true, ..Traits::default() });
    let (mut first, mut agent) = scene.session(1).await;
    first.prompt("one");
    agent.expect(&["prompt: one"]).await;
    agent.asks("fs/read_text_file", &json!({ "path": "/a" }));
    let told = agent.told().await;
    assert!(told.starts_with("answer 1: error: Nobody is attached"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_terminal_is_shown_to_the_client_that_runs_it() {
    let mut scene = Scene::new();
    let client = scene.client_with(1, &json!({ "terminal": true }), None).await;
    let (mut runs, mut agent) = scene.session_of(client).await;
    let mut other = scene.joined(1, &runs.session).await;
    runs.prompt("one");
    agent.expect(&["prompt: one"]).await;
    agent.asks("terminal/create", &json!({ "command": "ls" }));
    let asked = runs.agent_request().await;
    runs.answer(&asked, &json!({ "terminalId": "own" }));
    agent.expect(&[r#"answer 1: {"terminalId":"own"}"#]).await;
    agent.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "t", "status": "in_progress",
        "content": [{ "type": "terminal", "terminalId": "own" }] }));
    let has_terminal =
        |message: &serde_json::Value| message["params"]["update"]["content"][0]["terminalId"] == "own";
    runs.until("its terminal", has_terminal).await;
    other.tool("in_progress").await;
    assert!(!other.messages().any(has_terminal), "it is not the other's");
}

#[tokio::test(start_paused = true)]
async fn what_ends_a_terminal_is_asked_though_the_turn_is_cancelled() {
    let traits = Traits { version: nudge_wire::Version::V1, ..Traits::default() };
    let mut scene = Scene::of(traits);
    let client = scene.client_with(1, &json!({ "terminal": true }), None).await;
    let (mut first, mut agent) = scene.session_of(client).await;
    first.prompt("one");
    agent.expect(&["prompt: one"]).await;
    agent.asks("terminal/wait_for_exit", &json!({ "terminalId": "own" }));
    let wait = first.agent_request().await;
    first.cancel();
    agent.expect(&["cancel"]).await;
    agent.asks("terminal/release", &json!({ "terminalId": "own" }));
    agent.is_done("cancelled");
    let release = first.agent_request().await;
    assert_eq!(release["method"], "terminal/release");
    first.turn_end(1).await;
    let withdrawn: Vec<_> =
        first.messages().filter(|message| message["method"] == "$/cancel_request").collect();
    assert!(withdrawn.iter().all(|note| note["params"]["requestId"] != release["id"]), "{withdrawn:?}");
    let params = named(&first);
    first.answer(&wait, &json!({}));
    first.ask("session/close", &params).await;
}

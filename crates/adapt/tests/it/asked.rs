//! What an agent asks.

use std::time::Duration;

use nudge_backend::{Backend, QuestionId, cancelled_form, cancelled_permission};
use nudge_wire::{Error, Version};
use serde_json::{Value, json};

use crate::{
    owner::session,
    scripted::{v1, v2},
};

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_and_answered() {
    let (_launches, mut owner, mut agent) = session(v1(&json!({}))).await;
    owner.prompt("one");
    let prompt = agent.expect_prompt("one").await;
    let asked = agent.asks("session/request_permission", json!({ "toolCall": { "toolCallId": "t" } }));
    owner.expect(&["stream", "tool t", "asked session/request_permission"]).await;
    let question = owner.questions.remove(0);
    assert!(question.is_permission());
    assert_eq!(question.params.get(&["toolCall", "toolCallId"]).unwrap().as_str(), "\"t\"");
    owner.session.answer(question.id, Ok(cancelled_permission()));
    let answer: Value = asked.await.unwrap().to().unwrap();
    assert_eq!(answer["outcome"]["outcome"], "cancelled");
    prompt.stop("end_turn").await;
    owner.expect(&["tool t over", "break"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_may_have_an_error_for_an_answer() {
    let (_launches, mut owner, agent) = session(v2(&json!({}))).await;
    let asked = agent.asks("fs/read_text_file", json!({ "path": "/x" }));
    owner.expect(&["asked fs/read_text_file"]).await;
    owner.session.answer(QuestionId(1), Err(Error::internal("no such file")));
    assert_eq!(asked.await.unwrap_err().to_string(), "no such file (-32603)");
    // Nobody waits for another.
    owner.session.answer(QuestionId(1), Ok(cancelled_permission()));
    owner.session.answer(QuestionId(7), Ok(cancelled_permission()));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_taken_back_is_withdrawn() {
    let (_launches, mut owner, agent) = session(v1(&json!({}))).await;
    let first = agent.asks("session/request_permission", json!({}));
    let second = agent.asks("session/request_permission", json!({}));
    owner.expect(&["asked session/request_permission", "asked session/request_permission"]).await;
    drop(first);
    owner.expect(&["withdrawn 1"]).await;
    owner.session.answer(QuestionId(2), Ok(cancelled_permission()));
    assert!(second.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_an_agent_that_died_are_gone_with_it() {
    let (_launches, mut owner, agent) = session(v1(&json!({}))).await;
    let asked = agent.asks("session/request_permission", json!({}));
    owner.expect(&["asked session/request_permission"]).await;
    agent.dies().await;
    drop(asked);
    owner.expect(&["lost: The agent is gone: the connection was closed by the other side"]).await;
    owner.session.answer(QuestionId(1), Ok(cancelled_permission()));
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_about_a_prompt_is_a_question_of_its_session() {
    for init in [v1(&json!({})), v2(&json!({}))] {
        let (_launches, mut owner, mut agent) = session(init).await;
        owner.prompt("one");
        let prompt = agent.expect_prompt("one").await;
        let id = prompt.id();
        let asked = agent.asks_about(&id);
        owner.expect(&["stream", "asked elicitation/create"]).await;
        let question = owner.questions.remove(0);
        assert!(question.is_form());
        owner.session.answer(question.id, Ok(cancelled_form()));
        let answer: Value = asked.await.unwrap().to().unwrap();
        assert_eq!(answer["action"], "cancel");
        // Once it is answered nothing can be asked about it, also while the turn goes on.
        if owner.session.version() == Version::V1 {
            prompt.stop("end_turn").await;
            owner.expect(&["break"]).await;
        } else {
            prompt.answer(json!({ "messageId": "m" })).await;
            owner.expect_silence(Duration::from_millis(1)).await;
        }
        let refused = agent.asks_about(&id).await.unwrap_err().to_string();
        assert!(refused.ends_with("(-32602)"), "{refused}");
    }
}

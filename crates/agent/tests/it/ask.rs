//! Questions that the model has for the user.

use std::sync::Arc;

use nudge_backend::{Backend, BackendEvent as Event};
use nudge_wire::{Error, RawJson};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::driver::{Driver, is_client_request, question};

/// A model that asks what it is told to.
fn rehearsal(input: &str) -> String {
    format!(
        "[[turn]]\n[[turn.step]]\nplay = [{{ call = \"ask\", input = {{ {input} }} }}]\n[[turn.step]]\nplay = [{{ text = \"thanks\" }}]\n"
    )
}

/// What comes of a question that is answered so: how the call ends, and what the model is told.
async fn asked(input: &str, reply: Result<Value, Error>) -> (String, String, Vec<Value>) {
    let mut driver = Driver::new(&rehearsal(input));
    let seen = Arc::new(Mutex::new(Vec::new()));
    driver.client = Box::new({
        let seen = Arc::clone(&seen);
        move |method, params| {
            assert_eq!(method, "elicitation/create");
            seen.lock().push(params.clone());
            Some(reply.clone().map(|reply| RawJson::of(&reply).unwrap()))
        }
    });
    driver.turn("go").await;
    let (status, told) = driver.outcome();
    let seen = seen.lock().clone();
    (status, told, seen)
}

#[tokio::test(start_paused = true)]
async fn a_question_is_a_form_about_its_call() {
    let choices = r#"question = "Which?", choices = ["tabs", "spaces"]"#;
    let accepted = |answer: Value| Ok(json!({ "action": "accept", "content": { "answer": answer } }));
    let (status, told, seen) = asked(choices, accepted(json!("tabs"))).await;
    assert_eq!((&*status, &*told), ("completed", "The user has answered: tabs"));
    assert_eq!(seen.len(), 1);
    let form = &seen[0];
    assert!(form["toolCallId"].is_string() && form.get("requestId").is_none(), "{form}");
    assert_eq!(form["mode"], "form");
    assert_eq!(form["message"], "Which?");
    assert_eq!(form["requestedSchema"]["properties"]["answer"]["enum"], json!(["tabs", "spaces"]));
    let several = r#"question = "Which?", choices = ["a", "b", "c"], several = true"#;
    let (_, told, _) = asked(several, accepted(json!(["a", "c"]))).await;
    assert_eq!(told, "The user has answered: a; c");
    let (_, told, _) = asked(r#"question = "What name?""#, accepted(json!("Ada"))).await;
    assert_eq!(told, "The user has answered: Ada");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_answer_is_not_taken_for_one() {
    let choices = r#"question = "Which?", choices = ["tabs", "spaces"]"#;
    for (reply, expected) in [
        (Ok(json!({ "action": "decline" })), "The user does not want to answer this."),
        (Ok(json!({ "action": "cancel" })), "The user has closed the question without an answer."),
        (Ok(json!({ "action": "perhaps" })), "The editor has not answered the question properly."),
        (Ok(json!({ "action": "accept" })), "The editor's answer is none to this question."),
        (
            Ok(json!({ "action": "accept", "content": { "answer": "both" } })),
            "The editor's answer is none to this question.",
        ),
        (
            Ok(json!({ "action": "accept", "content": { "answer": ["tabs"] } })),
            "The editor's answer is none to this question.",
        ),
        (Ok(json!([])), "The editor has not answered the question properly."),
        (Err(Error::internal("no")), "The editor has not answered the question properly."),
        (
            Err(Error::method_not_found("elicitation/create")),
            "The user's editor shows no forms. Ask in words, as the last of what you say, and end your turn.",
        ),
    ] {
        let (status, told, _) = asked(choices, reply).await;
        assert_eq!((&*status, &*told), ("failed", expected));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_to_be_asked_is_not_asked() {
    let many: Vec<_> = (0..21).map(|number| format!("\"{number}\"")).collect();
    for (input, expected) in [
        (r#"question = " ""#.to_owned(), "The question is empty."),
        (format!("question = \"{}\"", "x".repeat(5000)), "The question is too long."),
        (r#"question = "a", choices = ["b", "b"]"#.to_owned(), "A choice is empty or there twice."),
        (format!("question = \"a\", choices = [{}]", many.join(",")), "There are too many choices."),
        (r#"question = "What is the API key for the server?""#.to_owned(), "Secrets are not asked for here"),
        (r#"question = "Your password, please""#.to_owned(), "Secrets are not asked for here"),
    ] {
        let (status, told, seen) = asked(&input, Ok(json!({ "action": "accept" }))).await;
        assert_eq!((&*status, seen.len()), ("failed", 0), "{input}");
        assert!(told.starts_with(expected), "{input}: {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_turn() {
    let mut driver = Driver::new(&rehearsal(r#"question = "Which?""#));
    driver.prompt("go");
    let asked = driver.until(is_client_request).await;
    driver.agent.cancel();
    let withdrawn = driver.until(|event| matches!(event, Event::QuestionWithdrawn(_))).await;
    // Nobody needs the answer any more.
    assert!(matches!(withdrawn, Event::QuestionWithdrawn(id) if id == question(&asked)));
    assert_eq!(driver.idle().await, "cancelled");
    assert_eq!(driver.outcome().0, "cancelled");
}

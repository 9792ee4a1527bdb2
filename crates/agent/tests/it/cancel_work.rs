//! One call, or the command in a terminal, is cancelled; the turn goes on.

use nudge_backend::{Backend, BackendEvent as Event, CancellableWork};
use nudge_testkit::{eventually, is_alive};

use crate::driver::{Driver, is_client_request};

const REHEARSAL: &str = r#"
    [[turn]]
    regex = '^run (?<command>.+)$'
    [[turn.step]]
    play = [{ call = "run", input = { command = "{command}" } }, { call = "run", input = { command = "echo next" } }]
    [[turn.step]]
    play = [{ text = "after: {result1}" }]

    [[turn]]
    literal = "ask"
    [[turn.step]]
    play = [{ call = "ask", input = { question = "Which?" } }]
    [[turn.step]]
    play = [{ text = "after: {result}" }]
"#;

/// What the model is told of a call that was cancelled.
const TOLD: &str = "The user has cancelled this call. It may have been done in part.";

/// A driver whose first command runs and has said which process it is, with the ids of its call and its terminal.
async fn running(command: &str) -> (Driver, u32, CancellableWork, CancellableWork) {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt(&format!("run {command}"));
    let said = |event: &Event| matches!(event, Event::Update(update) if update.raw.as_str().contains("terminal_output_chunk"));
    let event = driver.until(said).await;
    driver.take(event);
    let output = driver.log.last().unwrap().strip_prefix("output: ").unwrap();
    // More may have come with it.
    let pid = output.lines().next().unwrap().parse().unwrap();
    let is_begun = |update: &&serde_json::Value| update["capabilities"]["cancel"].is_object();
    let begun: Vec<_> = driver.updates.iter().filter(is_begun).collect();
    let call = CancellableWork::ToolCall(begun[0]["toolCallId"].as_str().unwrap().to_owned());
    let terminal = CancellableWork::Terminal(begun[1]["terminalId"].as_str().unwrap().to_owned());
    (driver, pid, call, terminal)
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_and_the_next_one_runs() {
    let (mut driver, pid, call, terminal) = running("echo $$; exec sleep 1000").await;
    let unknown = CancellableWork::ToolCall("call_of_nobody".to_owned());
    assert!(driver.agent.cancel_work(&unknown).is_err());
    driver.agent.cancel_work(&call).unwrap();
    assert_eq!(driver.idle().await, "end_turn");
    let cancelled = ("cancelled".to_owned(), TOLD.to_owned());
    assert_eq!(driver.outcomes(), [cancelled, ("completed".to_owned(), "next\nExit code 0.".to_owned())]);
    assert!(driver.log.contains(&format!("text: after: {TOLD}")), "{:#?}", driver.log);
    eventually("nothing of it runs", || !is_alive(pid));
    for work in [call, terminal] {
        assert!(driver.agent.cancel_work(&work).is_err(), "it is over");
    }
    let last = driver.updates.iter().rfind(|update| update.get("exitStatus").is_some()).unwrap();
    assert_eq!(last.get("capabilities"), Some(&serde_json::Value::Null));
}

#[tokio::test]
async fn a_command_that_is_stopped_in_its_terminal_is_told_to_the_model() {
    let (mut driver, pid, call, terminal) = running("echo $$; exec sleep 1000").await;
    driver.agent.cancel_work(&terminal).unwrap();
    assert_eq!(driver.idle().await, "end_turn");
    let (status, told) = driver.outcomes().remove(0);
    assert_eq!((status.as_str(), told), ("failed", format!("{pid}\nEnded by SIGTERM.")));
    eventually("nothing of it runs", || !is_alive(pid));
    assert!(driver.agent.cancel_work(&call).is_err(), "it is over");
}

#[tokio::test]
async fn a_command_that_prints_without_end_is_stopped_in_its_terminal() {
    let (mut driver, pid, _, terminal) = running("echo $$; exec yes").await;
    driver.agent.cancel_work(&terminal).unwrap();
    assert_eq!(driver.idle().await, "end_turn");
    let (status, told) = driver.outcomes().remove(0);
    assert_eq!(status, "failed");
    assert!(told.ends_with("Ended by SIGTERM."), "{}", told.len());
    eventually("nothing of it runs", || !is_alive(pid));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_cancelled_is_withdrawn() {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt("ask");
    driver.until(is_client_request).await;
    let begun = driver.updates.iter().find(|update| update["capabilities"]["cancel"].is_object()).unwrap();
    let call = CancellableWork::ToolCall(begun["toolCallId"].as_str().unwrap().to_owned());
    driver.agent.cancel_work(&call).unwrap();
    driver.until(|event| matches!(event, Event::QuestionWithdrawn(_))).await;
    assert_eq!(driver.idle().await, "end_turn");
    assert_eq!(driver.outcome().0, "cancelled");
}

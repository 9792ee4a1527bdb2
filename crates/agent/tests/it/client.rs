//! Files and terminals of the editor.

use nudge_backend::{AgentQuestion, Backend, BackendEvent as Event, QuestionAnswer, nobody_answers};
use nudge_wire::{Error, RawJson, acp::v1};
use serde_json::{Value, json};

use crate::driver::{Driver, is_client_request, question};

const REHEARSAL: &str = r#"
    [[turn]]
    literal = "read"
    [[turn.step]]
    play = [{ call = "read", input = { path = "a.txt", line = 2, limit = 5 } }]
    [[turn.step]]
    play = []

    [[turn]]
    literal = "edit"
    [[turn.step]]
    play = [{ call = "edit", input = { path = "a.txt", old = "unsaved", new = "saved" } }]
    [[turn.step]]
    play = []

    [[turn]]
    literal = "run"
    [[turn.step]]
    play = [{ call = "run", input = { command = "make" } }]
    [[turn.step]]
    play = []
"#;

#[allow(clippy::unnecessary_wraps, reason = "it is what a client answers")]
fn ok(value: &Value) -> Option<QuestionAnswer> {
    Some(Ok(RawJson::of(value).unwrap()))
}

fn is_wait_for_exit(event: &Event) -> bool {
    matches!(event, Event::Question(question) if &*question.method == "terminal/wait_for_exit")
}

#[tokio::test]
async fn a_file_is_read_as_the_editor_has_it() {
    let mut driver = Driver::new(REHEARSAL);
    driver.write("a.txt", "on disk");
    let path = driver.path("a.txt").to_string_lossy().into_owned();
    driver.client = Box::new(move |method, params| {
        assert_eq!(method, "fs/read_text_file");
        serde_json::from_value::<v1::ReadTextFileRequest>(params.clone()).unwrap();
        assert_eq!(*params, json!({ "path": path, "line": 2, "limit": 5, "sessionId": "s1" }));
        ok(&json!({ "content": "unsaved" }))
    });
    driver.turn("read").await;
    assert_eq!(driver.outcome(), ("completed".to_owned(), "unsaved".to_owned()));
}

#[tokio::test]
async fn an_editor_that_cannot_read_leaves_it_to_the_disk() {
    let mut driver = Driver::new(REHEARSAL);
    driver.write("a.txt", "one\ntwo");
    driver.client = Box::new(|_, _| Some(Err(Error::internal("no"))));
    driver.turn("read").await;
    assert_eq!(driver.outcome(), ("completed".to_owned(), "two".to_owned()));
}

#[tokio::test]
async fn a_file_is_written_by_the_editor() {
    let mut driver = Driver::new(REHEARSAL);
    driver.write("a.txt", "on disk");
    driver.client = Box::new(|method, params| {
        if method == "fs/read_text_file" {
            return ok(&json!({ "content": "an unsaved text" }));
        }
        assert_eq!(method, "fs/write_text_file");
        serde_json::from_value::<v1::WriteTextFileRequest>(params.clone()).unwrap();
        assert_eq!(params["content"], "an saved text");
        ok(&Value::Null)
    });
    driver.turn("edit").await;
    assert_eq!(driver.outcome().0, "completed");
    assert_eq!(driver.text("a.txt"), "on disk", "that is the editor's business");
    driver.client = Box::new(|method, _| match method {
        "fs/read_text_file" => ok(&json!({ "content": "unsaved" })),
        _ => Some(Err(Error::internal("sk-secret"))),
    });
    driver.turn("edit").await;
    assert_eq!(driver.outcome(), ("failed".to_owned(), "The editor could not write the file.".to_owned()));
}

/// A terminal of the editor that ends with code 2.
fn terminal(method: &str, params: &Value) -> Option<QuestionAnswer> {
    match method {
        "terminal/create" => {
            serde_json::from_value::<v1::CreateTerminalRequest>(params.clone()).unwrap();
            assert_eq!(params["args"], json!(["-c", "make"]));
            ok(&json!({ "terminalId": "t7" }))
        }
        "terminal/wait_for_exit" => ok(&json!({ "exitCode": 2, "signal": null })),
        "terminal/output" => ok(&json!({ "output": "made", "truncated": false })),
        _ => ok(&json!({})),
    }
}

#[tokio::test]
async fn a_command_runs_in_the_editors_terminal() {
    let mut driver = Driver::new(REHEARSAL);
    driver.client = Box::new(|method, params| {
        assert!(method == "terminal/create" || params["terminalId"] == "t7");
        terminal(method, params)
    });
    let log = driver.turn("run").await;
    let expected = [
        "tool started",
        "call in_progress",
        "client terminal/create",
        "call terminal",
        "client terminal/wait_for_exit",
        "client terminal/output",
        "client terminal/release",
        "call failed terminal",
        "tool finished",
    ];
    assert_eq!(log[4..13], expected);
    assert_eq!(driver.outcome().1, "made\nExit code 2.");
    let ended = driver.updates.last().unwrap();
    assert_eq!(ended["content"], json!([{ "type": "terminal", "terminalId": "t7" }]));
}

#[tokio::test(start_paused = true)]
async fn a_command_in_the_editor_that_takes_too_long_is_killed() {
    let mut driver = Driver::new(REHEARSAL);
    driver.client = Box::new(terminal);
    driver.prompt("run");
    loop {
        let event = driver.next().await.unwrap();
        match event {
            // Not answered.
            event if is_wait_for_exit(&event) => {}
            Event::TurnEnded(_) => break,
            other => driver.take(other),
        }
    }
    assert!(driver.log.contains(&"client terminal/kill".to_owned()), "{:?}", driver.log);
    assert_eq!(driver.outcome(), ("failed".to_owned(), "made\nIt took too long and was stopped.".to_owned()));
}

#[tokio::test]
async fn a_cancel_kills_and_releases_the_editors_terminal() {
    let mut driver = Driver::new(REHEARSAL);
    driver.client = Box::new(terminal);
    driver.prompt("run");
    let open = driver.until(is_wait_for_exit).await;
    driver.agent.cancel();
    assert_eq!(driver.idle().await, "cancelled");
    drop(open);
    let expected = [
        "client terminal/kill",
        "client terminal/release",
        "call cancelled",
        "tool finished",
        "idle cancelled",
    ];
    assert_eq!(driver.log[driver.log.len() - 5..], expected);
}

#[tokio::test]
async fn a_terminal_that_opens_after_the_cancel_is_released_too() {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt("run");
    let event = driver.until(is_client_request).await;
    driver.agent.cancel();
    assert_eq!(driver.idle().await, "cancelled");
    driver.agent.answer(question(&event), ok(&json!({ "terminalId": "t7" })).unwrap());
    for expected in ["terminal/kill", "terminal/release"] {
        let Some(Event::Question(AgentQuestion { method, params, .. })) = driver.next().await else {
            panic!("the editor is asked")
        };
        assert_eq!((&*method, params.as_str()), (expected, r#"{"sessionId":"s1","terminalId":"t7"}"#));
    }
}

#[tokio::test]
async fn an_editor_without_terminals_leaves_it_to_us() {
    for answer in [nobody_answers("terminal/create"), Error::method_not_found("terminal/create")] {
        let mut driver = Driver::new(REHEARSAL);
        driver.client = Box::new(move |_, _| Some(Err(answer.clone())));
        driver.turn("run").await;
        assert!(driver.outcome().1.contains("Exit code"), "{:?}", driver.outcome());
    }
    let mut driver = Driver::new(REHEARSAL);
    driver.client = Box::new(|_, _| Some(Err(Error::internal("no"))));
    driver.turn("run").await;
    assert_eq!(driver.outcome().1, "The editor could not open a terminal.");
}

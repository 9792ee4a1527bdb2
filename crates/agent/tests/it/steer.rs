//! Messages that come in the middle of a turn.

use nudge_backend::{Backend, BackendEvent as Event};
use nudge_model::ChatMessage;

use crate::driver::Driver;

const REHEARSAL: &str = r#"
    [[turn]]
    literal = "list"
    [[turn.step]]
    play = [{ call = "list" }]
    [[turn.step]]
    play = [{ text = "Listed." }]

    [[turn]]
    regex = '^stream (?<n>\d+)'
    token_ms = 100
    [[turn.step]]
    play = [{ text = "w{i} ", repeat = "{n}" }]

    [[turn]]
    literal = "stream and list"
    token_ms = 100
    [[turn.step]]
    play = [{ call = "list" }, { text = "w{i} ", repeat = 50 }]

    [[turn]]
    literal = "pause"
    [[turn.step]]
    play = [{ text = "a " }, { pause_ms = 60000 }, { wait_ms = 1000 }, { text = "b " }]

    [[turn]]
    [[turn.step]]
    play = [{ text = "Hello." }]

    [[steer]]
    play = [{ text = "Now {steer}. " }]
"#;

fn is_text(text: &'static str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Update(update) if update.raw.as_str().contains(&format!("\"text\":\"{text}\"")))
}

#[tokio::test(start_paused = true)]
async fn steers_are_taken_in_before_the_next_question() {
    let mut driver = Driver::new(REHEARSAL);
    driver.steers = [vec!["this", "that"]].into();
    let log = driver.turn("list").await;
    let expected = [
        "tool finished",
        "break-point [\"this\", \"that\"]",
        "StreamStarted",
        "text: Now this\nthat. Listed.",
        "StreamFinished",
        "break-point []",
        "idle end_turn",
    ];
    assert_eq!(log[log.len() - 7..], expected);
    let steers =
        driver.asked().into_iter().filter(|message| matches!(message, ChatMessage::User { steer: true, .. }));
    assert_eq!(steers.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_steer_at_the_end_of_a_turn_makes_it_go_on() {
    let mut driver = Driver::new(REHEARSAL);
    driver.steers = [vec!["this"], vec!["that"]].into();
    let log = driver.turn("x").await;
    let texts: Vec<&String> = log.iter().filter(|line| line.starts_with("text")).collect();
    assert_eq!(texts, ["text: Hello.", "text: Now this. ", "text: Now that. "]);
    assert_eq!(log.iter().filter(|line| line.starts_with("idle")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_cuts_the_stream_off() {
    let mut driver = Driver::new(REHEARSAL);
    driver.steers = [vec!["stop"]].into();
    driver.prompt("stream 1000");
    let event = driver.until(is_text("w3 ")).await;
    driver.take(event);
    driver.agent.interrupt();
    assert_eq!(driver.idle().await, "end_turn");
    let expected = [
        "StreamStarted",
        "text: w1 w2 w3 ",
        "StreamFinished",
        "break-point [\"stop\"]",
        "StreamStarted",
        "text: Now stop. ",
        "StreamFinished",
        "break-point []",
        "idle end_turn",
    ];
    assert_eq!(driver.log, expected);
    assert_eq!(driver.asked()[1].text(), "w1 w2 w3 ");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_lets_the_tools_run_that_were_called() {
    let mut driver = Driver::new(REHEARSAL);
    driver.steers = [vec!["stop"]].into();
    driver.prompt("stream and list");
    let event = driver.until(is_text("w2 ")).await;
    driver.take(event);
    driver.agent.interrupt();
    driver.idle().await;
    let expected = [
        "StreamStarted",
        "call List . pending",
        "text: w1 w2 ",
        "StreamFinished",
        "tool started",
        "call in_progress",
        "call completed “The folder is empty.”",
        "tool finished",
        "break-point [\"stop\"]",
    ];
    assert_eq!(driver.log[..9], expected);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_waits_while_the_provider_pauses() {
    let mut driver = Driver::new(REHEARSAL);
    driver.steers = [vec!["go"]].into();
    driver.prompt("pause");
    let event = driver.until(|event| matches!(event, Event::Paused)).await;
    driver.take(event);
    driver.agent.interrupt();
    driver.idle().await;
    let expected = [
        "StreamStarted",
        "text: a ",
        "Paused",
        "notice",
        "Resumed",
        "StreamFinished",
        "break-point [\"go\"]",
        "StreamStarted",
        "text: Now go. ",
        "StreamFinished",
        "break-point []",
        "idle end_turn",
    ];
    assert_eq!(driver.log, expected);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_outside_a_stream_does_nothing() {
    let mut driver = Driver::new(REHEARSAL);
    driver.agent.interrupt();
    let whole = ["StreamStarted", "text: w1 w2 w3 ", "StreamFinished", "break-point []", "idle end_turn"];
    assert_eq!(driver.turn("stream 3").await, whole);

    driver.prompt("list");
    let event = driver.until(|event| matches!(event, Event::ToolStarted(_))).await;
    driver.agent.interrupt();
    driver.take(event);
    let event = driver.until(|event| matches!(event, Event::BreakPoint)).await;
    driver.agent.interrupt();
    driver.take(event);
    driver.idle().await;
    assert!(driver.log.contains(&"text: Listed.".to_owned()), "{:?}", driver.log);
}

#[tokio::test(start_paused = true)]
async fn a_cut_stream_without_a_steer_goes_on_with_the_turn() {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt("stream 10");
    driver.until(is_text("w2 ")).await;
    driver.agent.interrupt();
    assert_eq!(driver.idle().await, "end_turn");
    assert_eq!(driver.log.iter().filter(|line| *line == "StreamStarted").count(), 2);
}

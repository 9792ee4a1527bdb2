//! A cancel in every state ends with one idle, and with everything that was begun.

use std::time::{Duration, Instant};

use nudge_backend::{Backend, BackendEvent as Event, BackendParting, cancelled_permission, nobody_answers};
use nudge_model::ChatMessage;
use nudge_testkit::{eventually, is_alive};

use crate::driver::{Driver, is_client_request, is_permission, message, question};

const REHEARSAL: &str = r#"
    [[turn]]
    regex = '^stream (?<n>\d+)'
    token_ms = 100
    [[turn.step]]
    play = [{ text = "w{i} ", repeat = "{n}" }]

    [[turn]]
    literal = "pause"
    [[turn.step]]
    play = [{ pause_ms = 60000 }]

    [[turn]]
    regex = '^run (?<command>.+)'
    [[turn.step]]
    play = [{ call = "run", input = { command = "{command}" } }, { call = "list" }]

    [[turn]]
    [[turn.step]]
    play = [{ text = "Hello." }]
"#;

/// Cancels at the first event that is `at`, which stays unanswered until the turn is over.
async fn cancelled_at(prompt: &str, at: impl Fn(&Event) -> bool) -> Vec<String> {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt(prompt);
    let open = driver.until(at).await;
    driver.agent.cancel();
    assert_eq!(driver.idle().await, "cancelled");
    drop(open);
    let log = std::mem::take(&mut driver.log);
    // Nothing is left over of it.
    driver.agent.cancel();
    assert_eq!(driver.turn("hello").await.last().unwrap(), "idle end_turn");
    log
}

#[tokio::test(start_paused = true)]
async fn in_a_stream() {
    let log = cancelled_at("stream 1000", |event| matches!(event, Event::Update(_))).await;
    assert_eq!(log, ["StreamStarted", "StreamFinished", "idle cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn in_a_pause() {
    let log = cancelled_at("pause", |event| matches!(event, Event::Update(_))).await;
    assert_eq!(log, ["StreamStarted", "Paused", "Resumed", "StreamFinished", "idle cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn at_a_permission() {
    let log = cancelled_at("run true", is_permission).await;
    let expected = [
        "StreamStarted",
        "call Run `true` pending",
        "call List . pending",
        "StreamFinished",
        "call cancelled",
        "call cancelled",
        "idle cancelled",
    ];
    assert_eq!(log, expected);
}

#[tokio::test(start_paused = true)]
async fn at_a_break_point() {
    let log = cancelled_at("hello", |event| matches!(event, Event::BreakPoint)).await;
    assert_eq!(log, ["StreamStarted", "text: Hello.", "StreamFinished", "idle cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn while_the_editor_is_asked() {
    let log = cancelled_at("run true", is_client_request).await;
    let expected = ["call cancelled", "tool finished", "call cancelled", "idle cancelled"];
    assert_eq!(log[log.len() - 4..], expected);
}

#[tokio::test(start_paused = true)]
async fn before_the_turn_has_begun() {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt("hello");
    driver.agent.cancel();
    assert_eq!(driver.idle().await, "cancelled");
    assert_eq!(driver.log, ["idle cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_nobody_answers_or_that_is_answered_with_cancelled_ends_the_turn() {
    for answers in [false, true] {
        let mut driver = Driver::new(REHEARSAL);
        driver.prompt("run true");
        let event = driver.until(is_permission).await;
        let answer = if answers { Ok(cancelled_permission()) } else { Err(nobody_answers("permission")) };
        driver.agent.answer(question(&event), answer);
        assert_eq!(driver.idle().await, "cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn a_steer_that_was_given_at_the_same_time_is_remembered() {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt("hello");
    driver.until(|event| matches!(event, Event::BreakPoint)).await;
    driver.agent.go_on(vec![message("mind the gap")]);
    driver.agent.cancel();
    assert_eq!(driver.idle().await, "cancelled");
    driver.turn("next").await;
    let told = driver.asked();
    let steer =
        |message: &ChatMessage| matches!(message, ChatMessage::User { text, .. } if text == "mind the gap");
    assert_eq!(told.iter().filter(|message| steer(message)).count(), 1, "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_cancelled_has_results_for_the_model() {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt("run true");
    let open = driver.until(is_permission).await;
    driver.agent.cancel();
    driver.idle().await;
    drop(open);
    driver.turn("next").await;
    let failed = driver
        .asked()
        .into_iter()
        .filter(|message| matches!(message, ChatMessage::Tool { failed: true, .. }));
    assert_eq!(failed.count(), 2);
}

/// A shell, a child and one in a session of its own; each says its number.
const TREE: &str = "run echo $$; sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000";

async fn running_tree(driver: &mut Driver) -> Vec<u32> {
    driver.prompt(TREE);
    loop {
        let event = driver.next().await.unwrap();
        driver.take(event);
        let output = driver.log.iter().find_map(|line| line.strip_prefix("output: ")).unwrap_or_default();
        let family: Vec<u32> =
            output.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.parse().ok()).collect();
        if family.len() == 3 {
            assert!(family.iter().all(|pid| is_alive(*pid)));
            return family;
        }
    }
}

#[tokio::test]
async fn in_a_command_kills_all_of_it_soon() {
    let mut driver = Driver::new(REHEARSAL);
    let family = running_tree(&mut driver).await;
    let began = Instant::now();
    driver.agent.cancel();
    assert_eq!(driver.idle().await, "cancelled");
    let took = began.elapsed();
    assert!(!family.iter().any(|pid| is_alive(*pid)), "they are gone before the idle");
    // Meant are 200 ms; machines that run tests are busy.
    assert!(took < Duration::from_secs(2), "{took:?}");
    eprintln!("cancelling a tree of commands took {took:?}");
    let expected = [
        "terminal {\"exitCode\":null,\"signal\":\"SIGTERM\"}",
        "call cancelled",
        "tool finished",
        "call cancelled",
        "idle cancelled",
    ];
    assert_eq!(driver.log[driver.log.len() - 5..], expected);
}

#[tokio::test]
async fn in_a_command_that_does_not_want_to_leave() {
    let mut driver = Driver::new(REHEARSAL);
    driver.prompt("run trap '' TERM; echo $$; while :; do sleep 1; done");
    let pid = loop {
        let event = driver.next().await.unwrap();
        driver.take(event);
        if let Some(line) = driver.log.iter().find_map(|line| line.strip_prefix("output: ")) {
            break line.trim().parse().unwrap();
        }
    };
    let began = Instant::now();
    driver.agent.cancel();
    assert_eq!(driver.idle().await, "cancelled");
    eprintln!("cancelling a command that ignores it took {:?}", began.elapsed());
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn ending_or_dropping_the_agent_ends_commands() {
    for is_ended in [true, false] {
        let mut driver = Driver::new(REHEARSAL);
        let family = running_tree(&mut driver).await;
        let mut agent = Some(driver.agent);
        match &mut agent {
            Some(agent) if is_ended => agent.end(BackendParting::Leave).await,
            _ => agent = None,
        }
        tokio::task::spawn_blocking(move || {
            eventually("the death of the family", || !family.iter().any(|pid| is_alive(*pid)));
        })
        .await
        .unwrap();
        drop(agent);
    }
}

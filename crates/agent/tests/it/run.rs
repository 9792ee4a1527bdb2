//! Commands that run here.

use std::time::Instant;

use nudge_testkit::{eventually, is_alive};

use crate::driver::Driver;

fn driver() -> Driver {
    Driver::new(
        r#"
        [[turn]]
        regex = '(?s)^(?<seconds>\d+) (?<command>.+)$'
        [[turn.step]]
        play = [{ call = "run", input = { command = "{command}", timeout_seconds = "{seconds}" } }]
        [[turn.step]]
        play = []
    "#,
    )
}

#[tokio::test]
async fn output_is_shown_in_order_and_the_status_told() {
    let mut d = driver();
    let log = d.turn("60 pwd; echo err >&2; echo out; exit 3").await;
    let expected = [
        "tool started",
        "call in_progress",
        "terminal \"pwd; echo err >&2; echo out; exit 3\"",
        "call terminal",
        "output: DIR\nerr\nout\n",
        "terminal {\"exitCode\":3,\"signal\":null}",
        "call failed terminal",
        "tool finished",
    ];
    assert_eq!(log[4..12], expected);
    assert_eq!(d.outcome().1, format!("{}\nerr\nout\nExit code 3.", d.dir.path().display()));
    d.turn("60 printf x").await;
    assert_eq!(d.outcome(), ("completed".to_owned(), "x\nExit code 0.".to_owned()));
    d.turn("60 kill -SEGV $$").await;
    assert_eq!(d.outcome().1, "Ended by SIGSEGV.");
    let terminals: Vec<_> = d.updates.iter().filter(|update| update.get("command").is_some()).collect();
    assert_ne!(terminals[0]["terminalId"], terminals[1]["terminalId"]);
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_its_end() {
    let mut d = driver();
    d.turn("60 echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end").await;
    let (status, text) = d.outcome();
    assert_eq!(status, "completed");
    assert!(text.starts_with("begin\nxxx") && text.ends_with("xxx\nend\nExit code 0."), "{}", text.len());
    assert!(text.contains(" bytes left out]") && text.len() < 40 * 1024, "{}", text.len());
    let shown: usize = d.updates.iter().filter_map(|update| update["data"].as_str()).map(str::len).sum();
    assert!(shown < 1_500_000, "{shown}");
    let last = d.updates.iter().rfind(|update| update.get("exitStatus").is_some()).unwrap();
    assert!(last["output"]["data"].as_str().unwrap().len() < 60 * 1024);
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped() {
    let mut d = driver();
    let began = Instant::now();
    d.turn("1 echo $$; exec sleep 1000").await;
    assert!(began.elapsed().as_secs() < 30);
    let (status, text) = d.outcome();
    assert_eq!(status, "failed");
    let (pid, how) = text.split_once('\n').unwrap();
    assert_eq!(how, "It took too long and was stopped.");
    assert!(!is_alive(pid.parse().unwrap()));
}

#[tokio::test]
async fn a_command_that_prints_without_end_is_stopped_too() {
    let mut d = driver();
    let began = Instant::now();
    d.turn("1 yes").await;
    assert!(began.elapsed().as_secs() < 30);
    let (status, text) = d.outcome();
    assert_eq!(status, "failed");
    assert!(
        text.starts_with("y\ny\n") && text.ends_with("It took too long and was stopped."),
        "{}",
        text.len()
    );
}

#[tokio::test]
async fn what_a_command_leaves_running_is_stopped() {
    let mut d = driver();
    let began = Instant::now();
    d.turn("60 setsid sleep 1000 & echo $!").await;
    assert!(began.elapsed().as_secs() < 30, "nobody waits for it");
    let (status, text) = d.outcome();
    assert_eq!(status, "completed");
    let pid = text.lines().next().unwrap().parse().unwrap();
    eventually("its death", || !is_alive(pid));
}

#[tokio::test]
async fn a_command_has_no_input() {
    let mut d = driver();
    d.turn("60 cat; echo done").await;
    assert_eq!(d.outcome().1, "done\nExit code 0.");
}

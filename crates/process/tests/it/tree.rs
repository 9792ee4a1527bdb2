//! A child with everything it has started, while its owner lives.

use std::{process::Stdio, time::Duration};

use nudge_process::{ProcessCommand, RunningChild};
use nudge_testkit::{eventually, is_alive};
use tokio::io::{AsyncBufReadExt, BufReader};

fn start(line: &str) -> RunningChild {
    ProcessCommand::new("sh").args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

async fn numbers(child: &mut RunningChild, count: usize) -> Vec<u32> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut numbers = Vec::new();
    while numbers.len() < count {
        numbers.push(lines.next_line().await.unwrap().unwrap().parse().unwrap());
    }
    numbers
}

fn all_die(family: &[u32]) {
    eventually("the death of the family", || !family.iter().any(|pid| is_alive(*pid)));
}

#[tokio::test]
async fn dropping_a_child_kills_its_family() {
    let mut child =
        start("echo $$; sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000");
    let family = numbers(&mut child, 3).await;
    assert!(family.iter().all(|pid| is_alive(*pid)), "{family:?}");
    drop(child);
    all_die(&family);
}

#[tokio::test]
async fn a_family_that_leaves_when_asked_is_not_killed() {
    let mut child = start("trap 'exit 7' TERM; echo $$; sleep 1000 & echo $!; wait");
    let family = numbers(&mut child, 2).await;
    let status = child.kill_tree(Duration::from_secs(30)).await.unwrap();
    assert_eq!(status.code(), Some(7));
    all_die(&family);
}

#[tokio::test]
async fn a_family_that_does_not_leave_is_killed() {
    let mut child = start("trap '' TERM; echo $$; while :; do sleep 1000; done");
    let family = numbers(&mut child, 1).await;
    let status = child.kill_tree(Duration::from_millis(50)).await.unwrap();
    assert_eq!(status.code(), None);
    all_die(&family);
}

#[tokio::test]
async fn a_wait_gives_the_status_and_leaves_the_others() {
    let mut child = start("sleep 1000 & echo $!; exit 3");
    let family = numbers(&mut child, 1).await;
    assert_eq!(child.wait().await.unwrap().code(), Some(3));
    assert!(is_alive(family[0]));
    drop(child);
    all_die(&family);
}

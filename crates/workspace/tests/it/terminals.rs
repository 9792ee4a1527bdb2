//! `terminal/*`.

use std::{sync::Arc, time::Duration};

use nudge_testkit::{eventually, is_alive};
use serde_json::{Value, json};

use crate::desk::{Desk, refused};

/// Says its own number, and those of a child, of one in a session of its own, and of one without a parent.
const FAMILY: &str = "echo $$; sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & \
    (setsid sh -c 'echo $$; exec sleep 1000' &); sleep 1000";

fn all_die(family: &[u32]) {
    eventually("the death of the family", || !family.iter().any(|pid| is_alive(*pid)));
}

#[tokio::test]
async fn a_command_is_run() {
    let desk = Desk::new();
    desk.put("sub/a file", "#!/bin/sh\necho script");
    let script = desk.path("sub/a file");
    std::process::Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let sub = desk.path("sub");
    let ok = json!({ "exitCode": 0 });
    for (params, output, status) in [
        (json!({ "command": "printf", "args": ["%s|", "a b", "$HOME", ""] }), "a b|$HOME||", ok.clone()),
        (json!({ "command": "echo a; echo b >&2; echo c && exit 3" }), "a\nb\nc\n", json!({ "exitCode": 3 })),
        (
            json!({ "command": "pwd", "args": null, "env": null }),
            &format!("{}\n", desk.dir.path().display()),
            ok.clone(),
        ),
        (json!({ "command": "pwd", "cwd": sub }), &format!("{}\n", sub.display()), ok.clone()),
        (json!({ "command": script }), "script\n", ok.clone()),
        (json!({ "command": "./a file", "cwd": sub }), "script\n", ok.clone()),
        (json!({ "command": "cat; echo end" }), "end\n", ok.clone()),
        (json!({ "command": "kill -SEGV $$" }), "", json!({ "signal": "SIGSEGV" })),
        (json!({ "command": "printf '\\303'" }), "\u{fffd}", ok),
    ] {
        assert_eq!(desk.outcome(params.clone()).await, (output.to_owned(), status), "{params}");
    }
    let (output, status) = desk.outcome(json!({ "command": "no-such-program" })).await;
    assert_eq!((output.contains("not found"), status), (true, json!({ "exitCode": 127 })));
}

#[tokio::test]
async fn a_command_sees_its_environment_and_no_other() {
    let path = std::env::var("PATH").unwrap();
    let desk = Desk::with(Vec::new(), Some(&[("PATH", &path), ("A", "1"), ("B", "2")]));
    let env = json!([{ "name": "B", "value": "=3" }, { "name": "C", "value": "" }]);
    let (output, _) = desk.outcome(json!({ "command": "env", "args": ["--"], "env": env })).await;
    let mut lines: Vec<&str> = output.lines().filter(|line| !line.starts_with("NUDGE_CHILD_")).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=1", "B==3", "C=", &format!("PATH={path}")]);
}

#[tokio::test]
async fn what_cannot_be_started_is_refused() {
    let desk = Desk::new();
    desk.put("plain", "");
    let invalid = [
        json!({ "command": "secret\0" }),
        json!({ "command": "x", "env": [{ "name": "", "value": "secret" }] }),
        json!({ "command": "x", "env": [{ "name": "secret=", "value": "" }] }),
        json!({ "command": "x", "env": [{ "name": "A", "value": "secret\0" }] }),
        json!({ "command": "./plain", "args": ["secret"] }),
        json!({ "args": ["secret"] }),
        json!({ "command": "x", "outputByteLimit": -1 }),
    ];
    for params in invalid {
        refused(desk.ask("terminal/create", params).await, -32602, "");
    }
    let params = json!({ "command": "secret-program", "args": ["x"] });
    refused(desk.ask("terminal/create", params).await, -32002, "there is no such program");
}

#[tokio::test]
async fn output_can_be_had_while_the_command_runs() {
    let desk = Desk::new();
    let id = desk.line("echo $$; exec sleep 1000").await;
    let family = desk.numbers(&id, 1).await;
    let output = desk.of(&id, "output").await.unwrap();
    assert_eq!(output, json!({ "output": format!("{}\n", family[0]), "truncated": false }));
    assert_eq!(desk.of(&id, "kill").await, Ok(json!({})));
    let killed = json!({ "signal": "SIGTERM" });
    let output = desk.of(&id, "output").await.unwrap();
    assert_eq!((&output["exitStatus"], output["output"].as_str().unwrap().len() > 1), (&killed, true));
    assert_eq!(desk.of(&id, "wait_for_exit").await, Ok(killed));
    assert_eq!(desk.of(&id, "kill").await, Ok(json!({})), "once more");
    assert_eq!(desk.of(&id, "release").await, Ok(json!({})));
    for what in ["output", "wait_for_exit", "kill", "release"] {
        refused(desk.of(&id, what).await, -32002, "Resource not found: there is no such terminal.");
        refused(desk.of("secret", what).await, -32002, "Resource not found: there is no such terminal.");
    }
}

#[tokio::test]
async fn everybody_who_waits_is_told() {
    let desk = Desk::new();
    let id = desk.line("echo $$; exec sleep 1000").await;
    let pid = desk.numbers(&id, 1).await[0];
    let end = async {
        // By then the others wait.
        tokio::task::yield_now().await;
        std::process::Command::new("kill").arg(pid.to_string()).status().unwrap();
    };
    let (one, two, ()) = tokio::join!(desk.of(&id, "wait_for_exit"), desk.of(&id, "wait_for_exit"), end);
    let three = desk.of(&id, "wait_for_exit").await;
    let expected = Ok(json!({ "signal": "SIGTERM" }));
    assert_eq!((&one, &two, &three), (&expected, &expected, &expected));
}

#[tokio::test]
async fn a_release_answers_those_who_wait() {
    let desk = Desk::new();
    let id = desk.line(FAMILY).await;
    let family = desk.numbers(&id, 4).await;
    let release = async {
        tokio::task::yield_now().await;
        desk.of(&id, "release").await
    };
    let (waited, killed, released) =
        tokio::join!(desk.of(&id, "wait_for_exit"), desk.of(&id, "kill"), release);
    assert_eq!(waited, Ok(json!({ "signal": "SIGTERM" })));
    assert_eq!((killed, released), (Ok(json!({})), Ok(json!({}))));
    all_die(&family);
}

#[tokio::test]
async fn a_kill_ends_the_whole_family() {
    let desk = Desk::new();
    let id = desk.line(FAMILY).await;
    let family = desk.numbers(&id, 4).await;
    assert!(family.iter().all(|pid| is_alive(*pid)), "{family:?}");
    assert_eq!(desk.of(&id, "kill").await, Ok(json!({})));
    assert!(!family.iter().any(|pid| is_alive(*pid)), "they are gone when it is answered");
}

#[tokio::test]
async fn a_command_that_does_not_want_to_leave_is_killed() {
    let desk = Desk::new();
    let line = "trap '' TERM; echo $$; while :; do sleep 1000; done";
    let id = desk.line(line).await;
    let family = desk.numbers(&id, 1).await;
    assert_eq!(desk.of(&id, "kill").await, Ok(json!({})));
    assert_eq!(desk.of(&id, "wait_for_exit").await, Ok(json!({ "signal": "SIGKILL" })));
    all_die(&family);
    // Also if the one who asked for it does not wait.
    let id = desk.line(line).await;
    let family = desk.numbers(&id, 1).await;
    assert!(tokio::time::timeout(Duration::ZERO, desk.of(&id, "kill")).await.is_err());
    assert_eq!(desk.of(&id, "wait_for_exit").await, Ok(json!({ "signal": "SIGKILL" })));
    all_die(&family);
}

#[tokio::test]
async fn what_a_command_leaves_running_ends_with_it() {
    let desk = Desk::new();
    let id = desk.line("setsid sleep 1000 & echo $!").await;
    assert_eq!(desk.of(&id, "wait_for_exit").await, Ok(json!({ "exitCode": 0 })));
    let family = desk.of(&id, "output").await.unwrap();
    all_die(&[family["output"].as_str().unwrap().trim().parse().unwrap()]);
}

#[tokio::test]
async fn all_terminals_end_with_the_workspace() {
    let desk = Desk::new();
    let mut families = Vec::new();
    for _ in 0..3 {
        let id = desk.line(FAMILY).await;
        families.extend(desk.numbers(&id, 4).await);
    }
    assert!(families.iter().all(|pid| is_alive(*pid)), "{families:?}");
    let Desk { workspace, .. } = desk;
    drop(Arc::into_inner(workspace).expect("nobody else has it"));
    all_die(&families);
}

#[tokio::test]
async fn requests_do_not_wait_for_each_other() {
    let desk = Desk::new();
    let slow = desk.line("echo $$; exec sleep 1000").await;
    let mut waits = std::pin::pin!(desk.of(&slow, "wait_for_exit"));
    assert!(tokio::time::timeout(Duration::ZERO, &mut waits).await.is_err());
    let (output, _): (String, Value) = desk.outcome(json!({ "command": "echo quick" })).await;
    assert_eq!(output, "quick\n");
    desk.of(&slow, "kill").await.unwrap();
    assert_eq!(waits.await, Ok(json!({ "signal": "SIGTERM" })));
}

//! What is kept, and how many there may be.

use serde_json::{Value, json};

use crate::desk::{Desk, refused};

const MIB: usize = 1024 * 1024;

async fn output(desk: &Desk, line: &str, limit: Value) -> (String, bool) {
    let id = desk.create(json!({ "command": line, "outputByteLimit": limit })).await;
    desk.of(&id, "wait_for_exit").await.unwrap();
    let output = desk.of(&id, "output").await.unwrap();
    desk.of(&id, "release").await.unwrap();
    (output["output"].as_str().unwrap().to_owned(), output["truncated"].as_bool().unwrap())
}

#[tokio::test]
async fn of_a_long_output_the_end_is_kept() {
    let desk = Desk::new();
    for (limit, expected, truncated) in [
        (json!(6), "äöü", false),
        (json!(5), "öü", true),
        (json!(4), "öü", true),
        (json!(3), "ü", true),
        (json!(1), "", true),
        (json!(0), "", true),
        (Value::Null, "äöü", false),
    ] {
        assert_eq!(
            output(&desk, "printf äöü", limit.clone()).await,
            (expected.to_owned(), truncated),
            "{limit}"
        );
    }
}

#[tokio::test]
async fn there_is_a_limit_whatever_is_asked() {
    let desk = Desk::new();
    let line = "head -c 9000000 /dev/zero | tr '\\0' x; echo end";
    for (limit, kept) in [(Value::Null, MIB), (json!(u64::MAX), 8 * MIB), (json!(2 * MIB), 2 * MIB)] {
        let (text, truncated) = output(&desk, line, limit.clone()).await;
        assert_eq!((text.len(), truncated, text.ends_with("xend\n")), (kept, true, true), "{limit}");
    }
}

#[tokio::test]
async fn half_a_character_is_not_shown_before_its_other_half() {
    let desk = Desk::new();
    assert!(std::process::Command::new("mkfifo").arg(desk.path("go")).status().unwrap().success());
    let id = desk.line("printf 'a\\303'; read x < go; printf '\\244'").await;
    let text = |output: Value| output["output"].as_str().unwrap().to_owned();
    loop {
        let text = text(desk.of(&id, "output").await.unwrap());
        assert!(["", "a"].contains(&&*text), "{text}");
        if text == "a" {
            break;
        }
        tokio::task::yield_now().await;
    }
    let go = desk.path("go");
    tokio::task::spawn_blocking(move || std::fs::write(go, "\n")).await.unwrap().unwrap();
    desk.of(&id, "wait_for_exit").await.unwrap();
    assert_eq!(text(desk.of(&id, "output").await.unwrap()), "aä");
}

#[tokio::test]
async fn there_are_only_so_many_terminals() {
    let desk = Desk::new();
    let mut ids = Vec::new();
    for _ in 0..64 {
        ids.push(desk.line("exec sleep 1000").await);
    }
    let more = json!({ "command": "true" });
    refused(desk.ask("terminal/create", more.clone()).await, -32602, "There are 64 terminals open");
    desk.of(&ids[7], "kill").await.unwrap();
    refused(desk.ask("terminal/create", more.clone()).await, -32602, "Release one first");
    desk.of(&ids[7], "release").await.unwrap();
    let new = desk.create(more.clone()).await;
    assert!(!ids.contains(&new), "an id is not given twice");
    refused(desk.ask("terminal/create", more).await, -32602, "There are 64 terminals open");
    // A command that cannot be started takes no place.
    desk.of(&new, "release").await.unwrap();
    for _ in 0..3 {
        let params = json!({ "command": "no-such-program", "args": ["x"] });
        refused(desk.ask("terminal/create", params).await, -32002, "no such program");
    }
    desk.line("true").await;
}

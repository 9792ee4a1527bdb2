//! What a version 2 client is shown.

use std::{sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use nudge_wire::{RawJson, acp::v2};
use nudge_workspace::TerminalUpdates;
use serde_json::{Value, json};

use crate::desk::Desk;

const MIB: usize = 1024 * 1024;

/// An update of which the shape is what the protocol says.
fn read(update: &RawJson) -> Value {
    let typed: v2::SessionUpdate = update.to().unwrap();
    assert!(
        matches!(typed, v2::SessionUpdate::TerminalUpdate(_) | v2::SessionUpdate::TerminalOutputChunk(_)),
        "{update:?}"
    );
    let value: Value = update.to().unwrap();
    assert_eq!(serde_json::to_value(&typed).unwrap()["terminalId"], value["terminalId"]);
    value
}

fn decoded(data: &Value) -> String {
    String::from_utf8(BASE64_STANDARD.decode(data.as_str().unwrap()).unwrap()).unwrap()
}

/// All updates up to the end of a terminal: the first, the output, the last.
async fn story(updates: &mut TerminalUpdates) -> (Value, String, Value) {
    let first = read(&updates.next().await.unwrap());
    let mut output = Vec::new();
    loop {
        let update = read(&updates.next().await.unwrap());
        assert_eq!(update["terminalId"], first["terminalId"]);
        if update["sessionUpdate"] == "terminal_update" {
            return (first, String::from_utf8(output).unwrap(), update);
        }
        output.extend(BASE64_STANDARD.decode(update["data"].as_str().unwrap()).unwrap());
    }
}

#[tokio::test]
async fn a_terminal_is_shown_from_its_beginning_to_its_end() {
    let desk = Desk::new();
    let mut updates = desk.workspace.updates().unwrap();
    assert!(desk.workspace.updates().is_none(), "there is one listener");
    assert_eq!(updates.try_next(), None);
    let (id, cwd) = (desk.line("echo ä; exit 3").await, desk.dir.path());
    let (first, output, last) = story(&mut updates).await;
    let line = "echo ä; exit 3";
    assert_eq!(
        first,
        json!({ "sessionUpdate": "terminal_update", "terminalId": id, "command": line, "cwd": cwd })
    );
    assert_eq!(output, "ä\n");
    let exit = json!({ "exitCode": 3, "signal": null });
    assert_eq!(last, json!({ "sessionUpdate": "terminal_update", "terminalId": id, "exitStatus": exit }));

    let id = desk.create(json!({ "command": "sh", "args": ["-c", "echo $$; exec sleep 9"] })).await;
    desk.numbers(&id, 1).await;
    desk.of(&id, "release").await.unwrap();
    let (first, _, last) = story(&mut updates).await;
    assert_eq!(first["command"], "sh -c 'echo $$; exec sleep 9'");
    assert_eq!(last["exitStatus"], json!({ "exitCode": null, "signal": "SIGTERM" }));
    assert_eq!(updates.try_next(), None);
}

#[tokio::test]
async fn a_long_output_is_replaced_by_its_beginning_and_its_end() {
    let desk = Desk::new();
    let mut updates = desk.workspace.updates().unwrap();
    let id = desk.line("echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end").await;
    // Nobody listens yet, and that stops nobody.
    desk.of(&id, "wait_for_exit").await.unwrap();
    let (_, output, last) = story(&mut updates).await;
    assert_eq!((output.len(), output.starts_with("begin\nxxx")), (MIB, true));
    let instead = decoded(&last["output"]["data"]);
    assert!(instead.starts_with("begin\nxxx") && instead.ends_with("xxx\nend\n"), "{}", instead.len());
    assert!(instead.contains(" bytes left out]") && instead.len() < 40 * 1024, "{}", instead.len());
}

#[tokio::test]
async fn terminals_that_speak_at_once_are_shown_in_turns() {
    let desk = Desk::new();
    let mut updates = desk.workspace.updates().unwrap();
    let line = |word: &str| format!("head -c 500000 /dev/zero | tr '\\0' {word}");
    let ids = [desk.line(&line("a")).await, desk.line(&line("b")).await];
    for id in &ids {
        desk.of(id, "wait_for_exit").await.unwrap();
    }
    let mut order = Vec::new();
    while let Some(update) = updates.try_next() {
        let update = read(&update);
        let at = ids.iter().position(|id| update["terminalId"] == **id).unwrap();
        order.push(at);
        if let Some(data) = update.get("data") {
            assert!(decoded(data).chars().all(|c| c == ['a', 'b'][at]));
        }
    }
    let turns = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(order.len() > 16 && turns > order.len() / 2, "{order:?}");
}

#[tokio::test]
async fn the_updates_end_after_the_workspace() {
    let desk = Desk::new();
    let mut updates = desk.workspace.updates().unwrap();
    let id = desk.line("echo $$; exec sleep 1000").await;
    desk.numbers(&id, 1).await;
    drop(Arc::into_inner(desk.workspace).expect("nobody else has it"));
    let (_, _, last) = story(&mut updates).await;
    assert_eq!(last["exitStatus"]["signal"], "SIGKILL");
    assert_eq!(updates.next().await, None);
    assert_eq!(updates.next().await, None);
}

#[tokio::test]
async fn a_listener_that_does_not_listen_stops_new_terminals_only() {
    let desk = Desk::new();
    let mut updates = desk.workspace.updates().unwrap();
    for _ in 0..128 {
        let id = desk.line("true").await;
        desk.of(&id, "release").await.unwrap();
    }
    {
        let mut more = std::pin::pin!(desk.line("true"));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut more).await.is_err());
        let told = std::iter::from_fn(|| updates.try_next()).count();
        assert_eq!(told, 2 * 128, "a beginning and an end of each");
        more.await;
    }
    // One that is gone stops nothing.
    drop(updates);
    for _ in 0..140 {
        let id = desk.line("true").await;
        desk.of(&id, "release").await.unwrap();
    }
}

#[tokio::test]
async fn nothing_is_kept_for_nobody() {
    let desk = Desk::new();
    for _ in 0..140 {
        let id = desk.line("echo x").await;
        desk.of(&id, "release").await.unwrap();
    }
    let mut updates = desk.workspace.updates().unwrap();
    assert_eq!(updates.try_next(), None);
    let id = desk.line("echo y").await;
    let (first, output, _) = story(&mut updates).await;
    assert_eq!((first["terminalId"].as_str(), output.as_str()), (Some(&*id), "y\n"));
}

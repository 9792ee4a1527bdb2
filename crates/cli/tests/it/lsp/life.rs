//! How a server begins and ends.

use serde_json::{Value, json};

use super::Editor;

#[test]
fn it_says_what_it_can_do() {
    let mut editor = Editor::start();
    let answer = editor.initialize(&json!({ "capabilities": {} }));
    assert_eq!(answer["serverInfo"], json!({ "name": "nudge", "version": env!("CARGO_PKG_VERSION") }));
    let capabilities = &answer["capabilities"];
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    assert_eq!(capabilities["textDocumentSync"]["change"], 2);
    assert!(capabilities["inlineCompletionProvider"].is_object());
    assert_eq!(capabilities["codeActionProvider"]["codeActionKinds"], json!(["refactor.nudge"]));
    assert!(editor.leave().success());
}

#[test]
fn the_editors_first_known_encoding_is_taken() {
    let cases = [
        (json!(["utf-8", "utf-16"]), "utf-8"),
        (json!(["utf-7", "utf-32"]), "utf-32"),
        (json!([]), "utf-16"),
        (json!("utf-8"), "utf-16"),
    ];
    for (offered, chosen) in cases {
        let mut editor = Editor::start();
        let params = json!({ "capabilities": { "general": { "positionEncodings": offered } } });
        assert_eq!(editor.initialize(&params)["capabilities"]["positionEncoding"], chosen, "{offered}");
    }
}

#[test]
fn what_comes_at_the_wrong_time_is_refused() {
    let mut editor = Editor::start();
    assert_eq!(editor.ask("nudge/suggest", &json!({}))["error"]["code"], -32002);
    editor.initialize(&json!({ "capabilities": {} }));
    assert_eq!(editor.ask("initialize", &json!({}))["error"]["code"], -32600);
    editor.result("shutdown", &Value::Null);
    assert_eq!(editor.ask("nudge/suggest", &json!({}))["error"]["code"], -32600);
}

#[test]
fn it_ends_with_the_exit_status_of_the_protocol() {
    let editor = Editor::new(&json!({}));
    assert_eq!(editor.leave().code(), Some(0));
    let mut editor = Editor::new(&json!({}));
    editor.note("exit", &Value::Null);
    assert_eq!(editor.child.wait().unwrap().code(), Some(1));
}

#[test]
fn it_ends_when_the_editor_vanishes() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    assert!(!editor.suggest(1, 11)["suggestions"].as_array().unwrap().is_empty());
    editor.input = None;
    assert_eq!(editor.child.wait().unwrap().code(), Some(1));
}

#[test]
fn it_ends_when_the_editor_vanishes_in_mid_message() {
    let mut editor = Editor::new(&json!({}));
    editor.raw(b"Content-Length: 100\r\n\r\n{\"jsonrpc\"");
    editor.input = None;
    assert_eq!(editor.child.wait().unwrap().code(), Some(1));
}

#[test]
fn nothing_is_said_unasked() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    editor.suggest(1, 11);
    editor.result("shutdown", &Value::Null);
    assert_eq!(editor.seen, Vec::<Value>::new());
}

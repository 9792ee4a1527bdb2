//! Documents, their versions, and what goes wrong with them.

use std::fs;

use serde_json::{Value, json};

use super::{Editor, URI, failure, piece, position};

const TEXT: &str = "fn a() {}\nfn b() {}\n";

/// What comes of asking: how many suggestions, or the reason of the failure.
fn asked(editor: &mut Editor, version: i64) -> Result<usize, String> {
    let ask = editor.ask(URI, version, &position(0, 0));
    let response = editor.request("nes/suggest", &ask);
    match response["result"]["suggestions"].as_array() {
        Some(suggestions) => Ok(suggestions.len()),
        None => Err(failure(&response).1.to_owned()),
    }
}

#[test]
fn every_event_is_taken() {
    for version in [1, 2] {
        let mut editor = Editor::new(version);
        editor.open(URI, 1, TEXT);
        editor.change(URI, 2, &piece((0, 3, 0, 4), "c"));
        editor.change(URI, 5, &json!([{"text": "fn full() {}\n"}]));
        let visible = json!({"start": position(0, 0), "end": position(9, 0)});
        let focus = json!({"version": 5, "position": position(0, 0), "visibleRange": visible});
        editor.event("didFocus", URI, &focus);
        editor.event("didSave", URI, &json!({}));
        assert!(asked(&mut editor, 5).is_ok());
        editor.event("didClose", URI, &json!({}));
        assert_eq!(asked(&mut editor, 5).unwrap_err(), "unknown_document");
        assert_eq!(editor.finish(), "", "nothing to complain about");
    }
}

#[test]
fn out_of_sync_until_the_whole_text_comes() {
    let bad: [(&str, i64, Value); 4] = [
        ("the version stands", 1, piece((0, 0, 0, 0), "x")),
        ("the range is outside", 2, piece((77, 0, 77, 0), "x")),
        ("the range is reversed", 2, piece((0, 4, 0, 2), "x")),
        ("one of two is outside", 2, json!([piece((0, 0, 0, 0), "x")[0], piece((9, 0, 9, 1), "x")[0]])),
    ];
    for version in [1, 2] {
        for (what, number, changes) in &bad {
            let mut editor = Editor::new(version);
            editor.open(URI, 1, TEXT);
            editor.change(URI, *number, changes);
            editor.change(URI, 3, &piece((0, 0, 0, 0), "y"));
            assert_eq!(asked(&mut editor, 3).unwrap_err(), "document_out_of_sync", "{what}");
            editor.change(URI, 4, &json!([{"text": TEXT}]));
            assert!(asked(&mut editor, 4).is_ok(), "{what}");
            editor.change(URI, 4, &json!([{"text": TEXT}]));
            assert_eq!(asked(&mut editor, 4).unwrap_err(), "document_out_of_sync", "{what}");
            editor.open(URI, 1, TEXT);
            assert!(asked(&mut editor, 1).is_ok(), "{what}");
            let log = editor.finish();
            assert_eq!(log.matches("a change could not be made").count(), 2, "once each time: {log}");
        }
    }
}

#[test]
fn versions_and_documents_that_are_not_there() {
    for version in [1, 2] {
        let mut editor = Editor::new(version);
        assert_eq!(asked(&mut editor, 1).unwrap_err(), "unknown_document");
        editor.change(URI, 1, &piece((0, 0, 0, 0), "x"));
        assert_eq!(asked(&mut editor, 1).unwrap_err(), "document_out_of_sync");
        editor.open(URI, 7, TEXT);
        assert_eq!(asked(&mut editor, 6), Ok(0));
        assert_eq!(asked(&mut editor, 8).unwrap_err(), "document_out_of_sync");
        assert_eq!(asked(&mut editor, 7), Ok(0));
        editor.finish();
    }
}

#[test]
fn nothing_is_suggested_for_no_reason_and_a_user_who_asks_is_told_why() {
    for version in [1, 2] {
        let mut editor = Editor::new(version);
        editor.open(URI, 1, TEXT);
        let mut ask = editor.ask(URI, 1, &position(0, 0));
        assert_eq!(editor.request("nes/suggest", &ask)["result"], json!({"suggestions": []}));
        ask["triggerKind"] = json!("diagnostic");
        assert_eq!(editor.request("nes/suggest", &ask)["result"], json!({"suggestions": []}));
        ask["triggerKind"] = json!("_unheard_of");
        assert_eq!(editor.request("nes/suggest", &ask)["result"], json!({"suggestions": []}));
        ask["triggerKind"] = json!("manual");
        let told = editor.request("nes/suggest", &ask)["result"].clone();
        let told = &told["_meta"]["nudge"]["reason"];
        assert!(told.as_str().is_some_and(|reason| !reason.is_empty()), "{told}");
        editor.finish();
    }
}

#[test]
fn a_document_comes_with_the_request_or_from_the_workspace() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("w")).unwrap();
    fs::write(place.path().join("w/a.rs"), TEXT).unwrap();
    fs::write(place.path().join("private.rs"), TEXT).unwrap();
    let uri = |name: &str| format!("file://{}/{name}", place.path().display());
    let start = json!({"workspaceFolders": [{"uri": uri("w"), "name": "w"}]});
    for version in [1, 2] {
        let mut editor = Editor::with(version, &json!({}), &start);
        let mut ask = |uri: &str, context: Value| {
            let mut ask = editor.ask(uri, 1, &position(0, 0));
            ask["context"] = context;
            editor.request("nes/suggest", &ask)
        };
        assert!(ask(&uri("w/a.rs"), json!({}))["result"]["suggestions"].is_array());
        let outside = ask(&uri("private.rs"), json!({}));
        assert_eq!(failure(&outside), (-32002, "unknown_document"));
        assert_eq!(failure(&ask(&uri("w/../private.rs"), json!({}))), (-32002, "unknown_document"));
        let attached =
            json!({"recentFiles": [{"uri": uri("private.rs"), "languageId": "rust", "text": TEXT}]});
        assert!(ask(&uri("private.rs"), attached)["result"]["suggestions"].is_array());
        editor.finish();
    }
}

#[test]
fn documents_are_not_in_the_log() {
    let env = [("NUDGE_LOG", "trace"), ("NUDGE_DATA", "")];
    let mut editor = Editor::with_env(1, &json!({}), &json!({}), &env);
    editor.open(URI, 1, "fn hush_hush() {}\n");
    editor.change(URI, 2, &piece((0, 3, 0, 7), "hush_more"));
    asked(&mut editor, 2).unwrap();
    editor.change(URI, 2, &piece((99, 0, 99, 0), "hush_lost"));
    asked(&mut editor, 2).unwrap_err();
    let log = editor.finish();
    assert!(log.contains("nothing is suggested") || log.contains("nes"), "{log}");
    assert!(!log.contains("hush"), "{log}");
}

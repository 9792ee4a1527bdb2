//! Recorded edits with labels.

use std::{fs, path::Path};

use nudge_replay::{ReplayError, ReplayOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{options, report};

fn record(folder: &Path, name: &str, log: &Value, labels: &Value) {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("recording.w.json"), json!({ "log": log }).to_string()).expect("a file");
    fs::write(folder.join("scoredEdits.w.json"), json!({ "edits": labels }).to_string()).expect("a file");
}

fn log(edits: &Value) -> Value {
    json!([
        { "kind": "header", "anything": 1 },
        { "kind": "documentEncountered", "id": 3, "relativePath": "src\\a.ts" },
        // Offsets are in units of UTF-16: the first line has a character that takes two.
        { "kind": "setContent", "id": 3, "content": "// 😀\r\nlet old = 1;\r\nuse(old);\r\n" },
        { "kind": "changed", "id": 3, "edit": edits },
    ])
}

fn label(edit: &Value, category: &str) -> Value {
    json!({ "documentUri": "file:///c%3a/x/src/A.ts", "edit": edit, "scoreCategory": category })
}

#[test]
fn suggestions_are_compared_by_their_effect() {
    let folder = TempDir::new().expect("a temporary folder");
    let renames = log(&json!([[11, 14, "fresh"]]));
    // The same effect as the suggestion, with another range.
    let whole_line = label(&json!([[23, 32, "use(fresh);"]]), "nextEdit");
    let nothing = label(&Value::Null, "valid");
    record(folder.path(), "1-right", &renames, &json!([nothing, whole_line]));
    record(folder.path(), "2-unlisted", &renames, &json!([nothing]));
    record(folder.path(), "3-nothing", &log(&json!([[7, 7, "\r\n"]])), &json!([nothing, whole_line]));
    let report = report(&ReplayOptions {
        git: Vec::new(),
        recordings: vec![folder.path().to_owned()],
        ..options(folder.path().to_owned())
    });
    let recordings = &report["runs"][0]["recordings"];
    let cases: Vec<(&str, &str)> = recordings["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .map(|case| (case["name"].as_str().expect("a name"), case["label"].as_str().expect("a label")))
        .collect();
    assert_eq!(cases, [("1-right", "nextEdit"), ("2-unlisted", "unlisted"), ("3-nothing", "valid")]);
    assert_eq!(recordings["mean"], json!(0.3667));
}

#[test]
fn a_folder_without_recordings_is_named() {
    let folder = TempDir::new().expect("a temporary folder");
    let error = nudge_replay::run(&ReplayOptions {
        git: Vec::new(),
        recordings: vec![folder.path().to_owned()],
        ..options(folder.path().to_owned())
    });
    assert!(matches!(error, Err(ReplayError::NoRecording { .. })));
}

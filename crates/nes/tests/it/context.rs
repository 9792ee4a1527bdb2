//! Clients that send no events and attach everything to each request.

use std::fs;

use nudge_predict::SuggestTrigger;
use nudge_syntax::Language;
use nudge_wire::nes::TriggerKind;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, attach, manual, piece};

const OTHER: &str = "file:///w/b.rs";

fn file(uri: &str, text: &str) -> Value {
    json!({"uri": uri, "languageId": "rust", "text": text})
}

fn position(line: u32, character: u32) -> Value {
    json!({"line": line, "character": character})
}

fn range(line: u32, character: u32, end_line: u32, end_character: u32) -> Value {
    json!({"start": position(line, character), "end": position(end_line, end_character)})
}

#[test]
fn everything_attached_is_seen() {
    let editor = Editor::new();
    let context = json!({
        "recentFiles": [file(OTHER, "pub fn helper() {}\n"), file(URI, "let x = 42;\nlet y = x;\n")],
        "relatedSnippets": [
            {"uri": OTHER, "excerpts": [{"startLine": 0, "endLine": 0, "text": "pub fn"}, {"startLine": 2, "endLine": 3, "text": "two"}]},
        ],
        "editHistory": [{"uri": URI, "diff": "--- a/a.rs\n+++ b/a.rs\n@@ -1,1 +1,1 @@\n-let x = 41;\n+let x = 42;\n"}],
        "userActions": [{"action": "insertChar", "uri": URI, "position": position(1, 2), "timestampMs": 5}],
        "openFiles": [
            {"uri": URI, "languageId": "rust", "visibleRange": range(0, 0, 1, 0), "lastFocusedMs": 7},
            {"uri": OTHER, "languageId": "rust", "visibleRange": null, "lastFocusedMs": null},
        ],
        "diagnostics": [
            {"uri": URI, "range": range(1, 8, 1, 9), "severity": "error", "message": "no x"},
            {"uri": OTHER, "range": range(0, 0, 9, 0), "severity": "blurb", "message": "odd"},
            {"uri": "file:///elsewhere", "range": range(0, 0, 0, 1), "severity": "hint", "message": "unseen"},
        ],
    });
    editor.suggest(attach(editor.ask(1, 1, 4), &context)).unwrap();
    let seen = editor.engine.last();
    assert_eq!(
        (seen.text.as_str(), seen.cursor, seen.language),
        ("let x = 42;\nlet y = x;\n", 16, Language::Rust)
    );
    assert_eq!(seen.others, [(OTHER.to_owned(), "pub fn helper() {}\n".to_owned())]);
    assert_eq!(seen.changes, [(URI.to_owned(), "let x = 41;".to_owned(), "let x = 42;".to_owned())]);
    assert_eq!(seen.snippets, ["pub fn", "two"]);
    assert_eq!(seen.actions, ["insertChar 1"]);
    assert_eq!(seen.visible, Some(0..12));
    assert_eq!(
        seen.diagnostics,
        [
            (URI.to_owned(), 20..21, "Error no x".to_owned()),
            (OTHER.to_owned(), 0..19, "Information odd".to_owned()),
        ]
    );
}

#[test]
fn what_the_user_sees_is_what_was_told_last() {
    let editor = Editor::new();
    editor.open(URI, 1, "0\n1\n2\n3\n4\n5\n");
    let seen = |line: u32, context: &Value| {
        editor.suggest(manual(attach(editor.ask(1, line, 0), context))).unwrap();
        editor.engine.last().visible
    };
    let screen = piece((0, 0, 2, 0), "").range.unwrap();
    let at = nudge_wire::nes::Position::new(0, 0);
    editor.connection.did_focus(nudge_wire::document::DidFocus::new(&editor.session, URI, 1, at, screen));
    let nothing = json!({});
    assert_eq!(seen(1, &nothing), Some(0..4));
    assert_eq!(seen(2, &nothing), Some(0..4), "its last line is seen too");
    assert_eq!(seen(5, &nothing), None, "the user has gone on since");
    let told =
        |visible: Value| json!({"openFiles": [{"uri": URI, "languageId": "rust", "visibleRange": visible}]});
    assert_eq!(seen(1, &told(range(1, 0, 3, 0))), Some(2..6), "the request is newer");
    assert_eq!(seen(5, &told(range(1, 0, 3, 0))), Some(2..6), "and is believed");
    assert_eq!(seen(1, &told(Value::Null)), Some(0..4));
}

#[test]
fn triggers_are_told_apart_and_an_unknown_one_is_automatic() {
    let editor = Editor::new();
    let context = json!({
        "recentFiles": [file(URI, "a\n")],
        "diagnostics": [{"uri": URI, "range": range(0, 0, 0, 1), "severity": "warning", "message": "m"}],
    });
    let cases = [
        (TriggerKind::Automatic, SuggestTrigger::Automatic),
        (TriggerKind::Diagnostic, SuggestTrigger::Diagnostic),
        (TriggerKind::Manual, SuggestTrigger::Manual),
        (TriggerKind::Other("_voice".to_owned()), SuggestTrigger::Automatic),
    ];
    for (told, seen) in cases {
        let mut request = attach(editor.ask(1, 0, 0), &context);
        request.trigger_kind = told;
        editor.suggest(request).unwrap();
        assert_eq!(editor.engine.last().trigger, seen);
    }
}

#[test]
fn events_win() {
    let editor = Editor::new();
    editor.open(URI, 1, "one\ntwo\n");
    let diff = |old: &str, new: &str| format!("@@ -1 +1 @@\n-{old}\n+{new}\n");
    let context = json!({
        "recentFiles": [file(URI, "old\n"), file(OTHER, "other\n")],
        "editHistory": [{"uri": URI, "diff": diff("none", "one")}, {"uri": OTHER, "diff": diff("othe", "other")}],
    });
    editor.suggest(attach(editor.ask(1, 0, 0), &context)).unwrap();
    let seen = editor.engine.last();
    assert_eq!(seen.text, "one\ntwo\n");
    let told = |uri: &str, before: &str, after: &str| (uri.to_owned(), before.to_owned(), after.to_owned());
    let other = told(OTHER, "othe", "other");
    assert_eq!(seen.changes, [told(URI, "none", "one"), other.clone()], "no edit was seen yet");
    editor.replace(2, (1, 0, 1, 3), "2");
    editor.suggest(attach(editor.ask(2, 1, 1), &context)).unwrap();
    let seen = editor.engine.last();
    assert_eq!(seen.changes, [other, told(URI, "two", "2")]);
    assert_eq!(seen.others, [(OTHER.to_owned(), "other\n".to_owned())]);
}

#[test]
fn a_client_that_tells_no_edits_shows_them() {
    let editor = Editor::new();
    let ask = |text: &str| attach(editor.ask(1, 0, 0), &json!({"recentFiles": [file(URI, text)]}));
    editor.suggest(ask("one\ntwo\n")).unwrap();
    assert_eq!(editor.engine.asked(), 0, "there is nothing to go by");
    editor.suggest(ask("one\n2\n")).unwrap();
    assert_eq!(editor.engine.last().changes, [(URI.to_owned(), "two".to_owned(), "2".to_owned())]);
    // What is told need not be guessed.
    let told = json!({"recentFiles": [file(URI, "1\n2\n")], "editHistory": []});
    editor.suggest(attach(editor.ask(1, 0, 0), &told)).unwrap();
    assert_eq!(editor.engine.last().changes.len(), 1);
}

#[test]
fn files_are_read_from_the_workspace_and_nowhere_else() {
    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("w"), place.path().join("private"));
    for folder in [&inside, &outside] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("a.py"), "x = 1\n").unwrap();
    }
    let uri = |path: &std::path::Path| format!("file://{}", path.display());
    let start = json!({"workspaceFolders": [{"uri": uri(&inside), "name": "w"}]});
    let editor = Editor::with(&json!({}), &start);
    let ask = |uri: &str| {
        let mut request = manual(editor.ask(1, 0, 1));
        uri.clone_into(&mut request.uri);
        request
    };
    editor.suggest(ask(&uri(&inside.join("a.py")))).unwrap();
    let seen = editor.engine.last();
    assert_eq!((seen.text.as_str(), seen.language), ("x = 1\n", Language::Python));
    fs::write(inside.join("a.py"), "x = 1234\n").unwrap();
    editor.suggest(ask(&uri(&inside.join("a.py")))).unwrap();
    assert_eq!(editor.engine.last().text, "x = 1234\n", "a file that changed is read again");
    for path in [outside.join("a.py"), inside.join("../private/a.py"), inside.join("no.py")] {
        assert_eq!(editor.suggest(ask(&uri(&path))).unwrap_err(), "unknown_document", "{path:?}");
    }
    // Files the editor has open are read as well, and none outside.
    let open = |path: &std::path::Path| json!({"uri": uri(path), "languageId": "python"});
    let context = json!({
        "recentFiles": [file(URI, "a\n")],
        "openFiles": [open(&outside.join("a.py")), open(&inside.join("a.py"))],
    });
    editor.suggest(attach(manual(editor.ask(1, 0, 0)), &context)).unwrap();
    assert_eq!(editor.engine.last().others, [(uri(&inside.join("a.py")), "x = 1234\n".to_owned())]);
}

#[test]
fn what_is_past_a_limit_is_left_out() {
    let editor = Editor::new();
    let files: Vec<Value> =
        (0..100).map(|number| file(&format!("file:///w/{number}"), "x")).chain([file(URI, "here")]).collect();
    let diffs: Vec<Value> =
        (0..100).map(|number| json!({"uri": URI, "diff": format!("@@ -1 +1 @@\n-a\n+{number}\n")})).collect();
    let actions: Vec<Value> = (0..1000)
        .map(|line| json!({"action": "move", "uri": URI, "position": position(line, 0), "timestampMs": line}))
        .collect();
    let context = json!({"recentFiles": files, "editHistory": diffs, "userActions": actions});
    editor.suggest(attach(editor.ask(1, 0, 0), &context)).unwrap();
    let seen = editor.engine.last();
    assert_eq!(seen.text, "here", "the file itself is found wherever it is");
    assert_eq!(seen.others.len(), 16);
    assert_eq!((seen.changes.len(), seen.changes.last().unwrap().2.as_str()), (32, "99"));
    assert_eq!((seen.actions.len(), seen.actions.last().unwrap().as_str()), (64, "move 999"));
}

#[test]
fn a_diff_that_is_none_does_no_harm() {
    let editor = Editor::new();
    for diff in ["", "nonsense", "@@", "@@ -1 +1 @@", "+\n-\n", "@@ -99999999999999999999 +1 @@\n-a\n+b"] {
        let context = json!({"recentFiles": [file(URI, "a\n")], "editHistory": [{"uri": URI, "diff": diff}]});
        editor.suggest(attach(editor.ask(1, 0, 0), &context)).unwrap();
    }
    let context = json!({"recentFiles": [file(URI, "a\n")]});
    editor.change(OTHER, 1, vec![piece((0, 0, 0, 0), "lost")]);
    let mut request = attach(manual(editor.ask(1, 0, 0)), &context);
    OTHER.clone_into(&mut request.uri);
    assert_eq!(editor.suggest(request).unwrap_err(), "document_out_of_sync");
}

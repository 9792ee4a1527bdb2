//! Suggestions that an editor shows, and what becomes of them.

use serde_json::{Value, json};

use super::{Editor, Text, URI, failure, position};

/// A function in which one name occurs often; the comment has characters of every width.
const TEXT: &str = "\
/* ä€😀 */ fn sum(items: &[u32]) -> u32 {
    let mut foo_count = 0;
    for item in items {
        /* 😀ä */ foo_count += item;
    }
    println!(\"{}\", foo_count);
    foo_count
}
";
const OLD: &str = "foo_count";
const NEW: &str = "total";
const ENCODINGS: [&str; 3] = ["utf-8", "utf-16", "utf-32"];

/// An editor in which the first occurrence has just been replaced; with the text and where the cursor is.
fn renamed(version: u64, encoding: &'static str) -> (Editor, Text, Value) {
    let capabilities = json!({"positionEncodings": [encoding]});
    let mut editor = Editor::with(version, &capabilities, &json!({}));
    let mut text = Text { content: TEXT.to_owned(), encoding };
    editor.open(URI, 1, &text.content);
    let range = json!({"start": text.find(OLD, 0), "end": text.find_end(OLD, 0)});
    editor.change(URI, 2, &json!([{"range": range, "text": NEW}]));
    text.content = text.content.replacen(OLD, NEW, 1);
    let cursor = text.find_end(NEW, 0);
    (editor, text, cursor)
}

fn first_edit(suggestions: &[Value]) -> &Value {
    suggestions.iter().find(|it| it["kind"] == "edit").unwrap_or_else(|| panic!("no edit: {suggestions:?}"))
}

#[test]
fn a_rename_is_carried_to_the_other_lines() {
    for version in [1, 2] {
        for encoding in ENCODINGS {
            let (mut editor, mut text, mut cursor) = renamed(version, encoding);
            let expected = TEXT.replace(OLD, NEW);
            let mut number = 2;
            while text.content != expected {
                assert!(number < 8, "it does not come to an end: {}", text.content);
                let suggestions = editor.suggest(URI, number, &cursor);
                let edit = first_edit(&suggestions).clone();
                check_meta(&edit);
                assert_eq!(edit["uri"], URI);
                let before = text.content.matches(OLD).count();
                let after = text.apply(edit["edits"].as_array().unwrap());
                assert!(after.matches(OLD).count() < before, "{after}");
                assert_eq!(after.replace(OLD, NEW), expected, "nothing else changes");
                // As an editor does it: the user takes the suggestion, and the document changes.
                editor.feedback("nes/accept", &edit, &json!({}));
                number += 1;
                editor.change(URI, number, &changes(&edit));
                text.content = after;
                cursor = edit["cursorPosition"].clone();
                text.apply(&[json!({"range": {"start": cursor, "end": cursor}, "newText": ""})]);
            }
            editor.finish();
        }
    }
}

/// The edits of a suggestion as changes, the last first so that none moves another.
fn changes(suggestion: &Value) -> Value {
    let edits = suggestion["edits"].as_array().unwrap().iter().rev();
    edits.map(|edit| json!({"range": edit["range"], "text": edit["newText"]})).collect()
}

fn check_meta(suggestion: &Value) {
    let about = &suggestion["_meta"]["nudge"];
    assert!(about["predictor"].as_str().is_some_and(|name| !name.is_empty()), "{suggestion}");
    assert!(about["reason"].as_str().is_some_and(|reason| reason.len() > 5), "{suggestion}");
    assert!(about["confidence"].as_f64().is_some_and(|it| (0.0..=1.0).contains(&it)), "{suggestion}");
}

#[test]
fn context_alone_is_enough() {
    for version in [1, 2] {
        let mut editor = Editor::new(version);
        let text = Text { content: TEXT.replacen(OLD, NEW, 1), encoding: "utf-16" };
        let diff = format!(
            "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -2,1 +2,1 @@\n-    let mut {OLD} = 0;\n+    let mut {NEW} = 0;\n"
        );
        let mut ask = editor.ask(URI, 1, &text.find_end(NEW, 0));
        ask["context"] = json!({
            "recentFiles": [{"uri": URI, "languageId": "rust", "text": text.content}],
            "editHistory": [{"uri": URI, "diff": diff}],
            "relatedSnippets": [{"uri": "file:///w/b.rs", "excerpts": [{"startLine": 0, "endLine": 0, "text": "x"}]}],
            "userActions": [{"action": "insertChar", "uri": URI, "position": position(1, 3), "timestampMs": 1}],
            "openFiles": [{"uri": URI, "languageId": "rust", "visibleRange": null, "lastFocusedMs": 1}],
            "diagnostics": [],
        });
        let response = editor.request("nes/suggest", &ask);
        let suggestions = response["result"]["suggestions"].as_array().unwrap();
        let after = text.apply(first_edit(suggestions)["edits"].as_array().unwrap());
        assert_eq!(after.replace(OLD, NEW), TEXT.replace(OLD, NEW));
        editor.finish();
    }
}

#[test]
fn what_is_shown_stands_and_what_is_rejected_does_not_come_back() {
    for version in [1, 2] {
        let (mut editor, text, cursor) = renamed(version, "utf-16");
        let first = editor.suggest(URI, 2, &cursor);
        assert_eq!(editor.suggest(URI, 2, &cursor), first, "the same, under the same id");
        let edit = first_edit(&first).clone();
        for shown in &first {
            editor.feedback("nes/reject", shown, &json!({"reason": "rejected"}));
        }
        let member = editor.id_member();
        for again in editor.suggest(URI, 2, &cursor) {
            assert!(first.iter().all(|shown| shown[member] != again[member]), "an id is used once");
            if again["kind"] == "edit" {
                let after = |it: &Value| text.apply(it["edits"].as_array().unwrap());
                assert_ne!(after(&again), after(&edit), "it came back");
            }
        }
        editor.notify("nes/reject", &json!({"sessionId": editor.session, member: "no such id"}));
        editor.notify("nes/accept", &json!({"sessionId": "nobody", member: "s1"}));
        editor.finish();
    }
}

#[test]
fn suggestions_are_of_the_kinds_the_client_can_show() {
    for version in [1, 2] {
        let (mut editor, _, cursor) = renamed(version, "utf-16");
        let kinds = |suggestions: &[Value]| -> Vec<String> {
            suggestions.iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
        };
        assert!(kinds(&editor.suggest(URI, 2, &cursor)).iter().all(|kind| kind == "edit"));
        editor.finish();
        let all = json!({"nes": {"jump": {}, "rename": {}, "searchAndReplace": {}}});
        let mut editor = Editor::with(version, &all, &json!({}));
        editor.open(URI, 1, TEXT);
        let text = Text { content: TEXT.to_owned(), encoding: "utf-16" };
        let range = json!({"start": text.find(OLD, 0), "end": text.find_end(OLD, 0)});
        editor.change(URI, 2, &json!([{"range": range, "text": NEW}]));
        let suggestions = editor.suggest(URI, 2, &cursor);
        for suggestion in &suggestions {
            let members: &[&str] = match suggestion["kind"].as_str().unwrap() {
                "edit" => &["edits", "cursorPosition"],
                "jump" => &["position"],
                "rename" => &["position", "newName"],
                "searchAndReplace" => &["search", "replace"],
                other => panic!("unknown kind {other}"),
            };
            check_meta(suggestion);
            assert!(members.iter().all(|member| !suggestion[member].is_null()), "{suggestion}");
        }
        assert!(!suggestions.is_empty());
        editor.finish();
    }
}

#[test]
fn a_newer_request_supersedes_an_older_one() {
    for version in [1, 2] {
        let (mut editor, _, cursor) = renamed(version, "utf-16");
        let ask = editor.ask(URI, 2, &cursor);
        let sent: Vec<u64> = (0..50).map(|_| editor.send("nes/suggest", &ask)).collect();
        let mut answers: Vec<(u64, Value)> =
            sent.iter().map(|_| editor.receive()).map(|it| (it["id"].as_u64().unwrap(), it)).collect();
        answers.sort_by_key(|(id, _)| *id);
        assert_eq!(answers.iter().map(|(id, _)| *id).collect::<Vec<_>>(), sent, "each is answered once");
        let (_, last) = answers.pop().unwrap();
        assert!(!last["result"]["suggestions"].as_array().unwrap().is_empty(), "{last}");
        for (_, answer) in answers {
            assert!(answer["result"].is_object() || failure(&answer).0 == -32800, "{answer}");
        }
        editor.finish();
    }
}

#[test]
fn a_request_can_be_cancelled() {
    let (mut editor, _, cursor) = renamed(1, "utf-16");
    let ask = editor.ask(URI, 2, &cursor);
    for _ in 0..20 {
        let id = editor.send("nes/suggest", &ask);
        editor.notify("$/cancel_request", &json!({"requestId": id}));
        let answer = editor.receive();
        assert_eq!(answer["id"], id);
        assert!(answer["result"].is_object() || failure(&answer).0 == -32800, "{answer}");
    }
    assert!(!editor.suggest(URI, 2, &cursor).is_empty(), "the next one is not cancelled");
    editor.finish();
}

#[test]
fn closing_ends_what_runs() {
    let (mut editor, _, cursor) = renamed(2, "utf-16");
    let ask = editor.ask(URI, 2, &cursor);
    let (asked, closed) =
        (editor.send("nes/suggest", &ask), editor.send("nes/close", &json!({"sessionId": editor.session})));
    let answers = [editor.receive(), editor.receive()];
    let answer = |id: u64| answers.iter().find(|it| it["id"] == id).expect("each is answered");
    let suggested = answer(asked);
    assert!(suggested["result"].is_object() || failure(suggested).0 == -32800, "{suggested}");
    assert_eq!(answer(closed)["result"], json!({}));
    let afterwards = editor.request("nes/suggest", &ask);
    assert_eq!(failure(&afterwards), (-32002, "unknown_session"));
    editor.finish();
}

#[test]
fn events_are_applied_before_the_requests_behind_them() {
    let (mut editor, _, _) = renamed(1, "utf-16");
    let mut text = Text { content: TEXT.replacen(OLD, NEW, 1), encoding: "utf-16" };
    // Every keystroke is followed by a request about the text it leaves.
    let typed = "total_of_all";
    for (index, char) in typed.char_indices().skip(NEW.len()) {
        let at = text.find_end(&typed[..index], 0);
        let number = 3 + i64::try_from(index - NEW.len()).unwrap();
        let change = json!([{"range": {"start": at, "end": at}, "text": char.to_string()}]);
        editor.change(URI, number, &change);
        text.content = text.content.replacen(&typed[..index], &typed[..=index], 1);
        let suggestions = editor.suggest(URI, number, &text.find_end(&typed[..=index], 0));
        for suggestion in suggestions.iter().filter(|it| it["kind"] == "edit") {
            text.apply(suggestion["edits"].as_array().unwrap());
        }
    }
    let cursor = text.find_end(typed, 0);
    let number = 2 + i64::try_from(typed.len() - NEW.len()).unwrap();
    let suggestions = editor.suggest(URI, number, &cursor);
    let after = text.apply(first_edit(&suggestions)["edits"].as_array().unwrap());
    assert_eq!(after.replace(OLD, typed), TEXT.replace(OLD, typed));
    editor.finish();
}

#[test]
fn what_is_learned_is_kept_where_it_is_told_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let env = [("NUDGE_DATA", folder.path().to_str().unwrap())];
    let mut editor = Editor::with_env(1, &json!({}), &json!({}), &env);
    editor.open(URI, 1, TEXT);
    let text = Text { content: TEXT.to_owned(), encoding: "utf-16" };
    let range = json!({"start": text.find(OLD, 0), "end": text.find_end(OLD, 0)});
    editor.change(URI, 2, &json!([{"range": range, "text": NEW}]));
    let cursor = Text { content: TEXT.replacen(OLD, NEW, 1), ..text }.find_end(NEW, 0);
    let suggestions = editor.suggest(URI, 2, &cursor);
    editor.feedback("nes/accept", first_edit(&suggestions), &json!({}));
    editor.finish();
    let files: Vec<_> = std::fs::read_dir(folder.path().join("nes")).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let kept: Value = serde_json::from_slice(&std::fs::read(files[0].path()).unwrap()).unwrap();
    assert!(kept["weights"].as_object().is_some_and(|weights| !weights.is_empty()), "{kept}");
}

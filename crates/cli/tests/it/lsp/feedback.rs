//! What the user does about suggestions, and what the user sets.

use serde_json::{Value, json};

use super::{Editor, FILE, USES, places};

fn count(answer: &Value) -> usize {
    answer["suggestions"].as_array().unwrap().len()
}

#[test]
fn what_is_rejected_stays_away() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    let id = editor.suggest(1, 11)["suggestions"][0]["id"].clone();
    editor.note("nudge/reject", &json!({ "id": id, "reason": "rejected" }));
    let again = editor.suggest(1, 11);
    assert_eq!(count(&again), 0, "{again}");
    assert!(again["why"].is_string(), "{again}");
}

#[test]
fn what_is_not_taken_back_stands() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    let first = editor.suggest(1, 11)["suggestions"].clone();
    assert_eq!(editor.suggest(1, 11)["suggestions"], first, "the same id, nothing flickers");
    for verdict in [json!({ "id": first[0]["id"], "part": "word" }), json!({ "id": "9.s9" })] {
        editor.note("nudge/accept", &verdict);
    }
    assert_eq!(editor.suggest(1, 11)["suggestions"], first);
}

#[test]
fn the_rest_follows_what_was_taken_in_part() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    assert_eq!(places(&editor.suggest(2, 10)["suggestions"][0]), USES);
    editor.change(2, 10..15, "sum");
    let rest = editor.suggest(2, 13);
    assert_eq!(places(&rest["suggestions"][0]), USES[1..], "{rest}");
}

#[test]
fn it_can_be_switched_off_and_on() {
    let mut editor = Editor::new(&json!({ "initializationOptions": { "status": true } }));
    editor.rename();
    assert_eq!(count(&editor.suggest(1, 11)), 1);
    let command = |name: &str| json!({ "command": name });
    let off = editor.result("workspace/executeCommand", &command("nudge.disable"));
    assert_eq!((&off["state"], &off["enabled"]), (&json!("off"), &json!(false)));
    let answer = editor.suggest(1, 11);
    assert_eq!((count(&answer), &answer["why"]), (0, &json!("suggestions are switched off")));
    editor.result("workspace/executeCommand", &command("nudge.toggle"));
    assert_eq!(count(&editor.suggest(1, 11)), 1);
    let states: Vec<_> = editor.seen.iter().map(|seen| seen["params"]["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["connecting", "ready", "off", "ready"]);
}

#[test]
fn settings_come_in_every_way() {
    let mut editor = Editor::new(&json!({ "initializationOptions": { "enabled": false } }));
    editor.rename();
    assert_eq!(editor.suggest(1, 11)["why"], "suggestions are switched off");
    let settings = json!({ "settings": { "nudge": { "enabled": true, "eagerness": "high" } } });
    editor.note("workspace/didChangeConfiguration", &settings);
    assert_eq!(count(&editor.suggest(1, 11)), 1);
    let status = editor.result("workspace/executeCommand", &json!({ "command": "nudge.status" }));
    assert_eq!(status["eagerness"], "high");
    let wrong = json!({ "command": "nudge.setEagerness", "arguments": ["very"] });
    assert_eq!(editor.ask("workspace/executeCommand", &wrong)["error"]["code"], -32602);
}

#[test]
fn a_question_about_another_text_is_content_modified() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    let document = json!({ "uri": FILE, "version": editor.version - 1 });
    let params = json!({ "textDocument": document, "position": { "line": 1, "character": 11 } });
    assert_eq!(editor.ask("nudge/suggest", &params)["error"]["code"], -32801);
}

#[test]
fn the_last_of_many_questions_is_answered_and_all_get_an_answer() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    editor.suggest(1, 11);
    let ids: Vec<_> = (0..11)
        .map(|character| {
            let position = json!({ "line": 1, "character": character });
            let document = json!({ "uri": FILE, "version": editor.version });
            editor.begin("nudge/suggest", &json!({ "textDocument": document, "position": position }))
        })
        .collect();
    let mut answers: Vec<_> = ids.into_iter().map(|id| editor.take(id)).collect();
    let last = answers.pop().unwrap();
    assert_eq!(count(&last["result"]), 1, "{last}");
    for answer in answers {
        assert!(answer["error"]["code"] == -32800 || answer["result"].is_object(), "{answer}");
    }
}

#[test]
fn a_question_can_be_cancelled() {
    let mut editor = Editor::new(&json!({}));
    editor.rename();
    // The line is not there yet, so that a user who asks waits.
    let position = json!({ "line": 1, "character": 11 });
    let params = json!({ "textDocument": { "uri": FILE }, "position": position, "trigger": "manual" });
    let id = editor.begin("nudge/suggest", &params);
    editor.note("$/cancelRequest", &json!({ "id": id }));
    let answer = editor.answer(id);
    assert!(answer["error"]["code"] == -32800 || count(&answer["result"]) == 1, "{answer}");
    assert_eq!(count(&editor.suggest(1, 11)), 1, "the next is answered");
}

#[test]
fn diagnostics_of_other_servers_are_passed_on_where_they_now_stand() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let args = ["--no-daemon", "--trace", trace.to_str().unwrap()];
    let mut editor = Editor::start_with(&args, &[("NUDGE_DATA", "")]);
    editor.initialize(&json!({}));
    editor.open(FILE, "fn main() {\n    let x = 1\n}\n");
    let range = json!({ "start": { "line": 1, "character": 13 }, "end": { "line": 1, "character": 13 } });
    let diagnostic = json!({ "range": range, "severity": 2, "message": "expected a semicolon" });
    editor.note("nudge/diagnostics", &json!({ "uri": FILE, "version": 1, "diagnostics": [diagnostic] }));
    editor.change(0, 0..0, "// a line above\n");
    editor.suggest(2, 13);
    editor.note("nudge/diagnostics", &json!({ "uri": FILE, "version": 1, "diagnostics": [] }));
    editor.suggest(2, 12);
    editor.note("nudge/diagnostics", &json!({ "uri": FILE, "diagnostics": [] }));
    editor.suggest(2, 11);
    let trace = std::fs::read_to_string(trace).unwrap();
    let asked = trace.lines().filter(|line| line.contains("nes/suggest"));
    let said: Vec<Value> = asked.map(|line| find(&serde_json::from_str(line).unwrap(), "context")).collect();
    let moved = json!({ "start": { "line": 2, "character": 13 }, "end": { "line": 2, "character": 13 } });
    let expected = json!({ "diagnostics": [
        { "uri": FILE, "range": moved, "severity": "warning", "message": "expected a semicolon" },
    ] });
    assert_eq!(
        said,
        [expected.clone(), expected, Value::Null],
        "what is said of an older text does not count"
    );
}

/// The first member of this name, however deep.
fn find(value: &Value, name: &str) -> Value {
    let members = value.as_object().into_iter().flatten();
    let found = members.map(|(key, value)| if key == name { value.clone() } else { find(value, name) });
    found.into_iter().find(|found| !found.is_null()).unwrap_or_default()
}

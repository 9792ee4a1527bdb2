//! The edits that a rename comes to, from a side that says strange things or says them too late.

use serde_json::{Value, json};

use crate::script::{Answers, Editor, question};

const FILE: &str = "file:///w/a.rs";
const OTHER: &str = "file:///w/b.rs";

fn edits() -> Value {
    let at = |character: u32| json!({ "line": 0, "character": character });
    json!([{ "range": { "start": at(0), "end": at(3) }, "newText": "sum" }])
}

async fn editor(changes: &Value, answers: Answers) -> Editor {
    let rename = json!([{
        "suggestionId": "1", "kind": "rename", "uri": FILE, "position": { "line": 0, "character": 0 }, "newName": "sum",
        "_meta": { "nudge": { "reason": "because", "changes": changes } },
    }]);
    let mut editor = Editor::new(json!({}), rename, answers).await;
    for uri in [FILE, OTHER] {
        editor.open(uri, "old").await;
    }
    editor
}

#[tokio::test]
async fn what_is_understood_is_an_edit_and_a_code_action() {
    let both = json!({ FILE: edits(), OTHER: edits() });
    for (changes, expected) in [
        (both.clone(), json!({ "changes": both })),
        (json!({}), Value::Null),
        (Value::Null, Value::Null),
        (json!([1]), Value::Null),
        (json!({ FILE: edits(), OTHER: "all" }), Value::Null),
        (json!({ FILE: [{ "range": 1, "newText": "sum" }] }), Value::Null),
    ] {
        let mut editor = editor(&changes, Answers::AtOnce).await;
        let answer = editor.ask("nudge/suggest", &question(FILE)).await;
        assert_eq!(answer["suggestions"][0]["newName"], "sum", "{answer}");
        assert_eq!(answer["suggestions"][0]["edit"], expected, "{changes}");
        let at = json!({ "line": 0, "character": 0 });
        let range = json!({ "start": at, "end": at });
        let params =
            json!({ "textDocument": { "uri": FILE }, "range": range, "context": { "diagnostics": [] } });
        let actions = editor.ask("textDocument/codeAction", &params).await;
        let titles: Vec<_> = actions.as_array().unwrap().iter().map(|action| &action["title"]).collect();
        let expected = if expected.is_null() { vec![] } else { vec!["Rename to sum: because"] };
        assert_eq!(titles, expected, "{changes}");
    }
}

#[tokio::test]
async fn what_was_said_of_texts_that_have_changed_since_does_not_count() {
    let mut editor = editor(&json!({ FILE: edits(), OTHER: edits() }), Answers::AfterAChange).await;
    let before = editor.ask("nudge/suggest", &question(FILE)).await;
    assert!(before["suggestions"][0]["edit"].is_object(), "{before}");
    editor.begin("nudge/suggest", &question(FILE)).await;
    let params =
        json!({ "textDocument": { "uri": OTHER, "version": 2 }, "contentChanges": [{ "text": "gone" }] });
    editor.note("textDocument/didChange", &params).await;
    let answer = editor.answer().await;
    assert_eq!(answer["suggestions"][0]["kind"], "rename", "{answer}");
    assert_eq!(answer["suggestions"][0]["edit"], Value::Null);
}

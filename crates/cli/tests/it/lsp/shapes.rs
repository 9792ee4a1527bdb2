//! The same suggestion in every shape that editors ask for.

use serde_json::{Value, json};

use super::{Editor, FILE, USES, places};

fn at(line: u32, character: u32) -> Value {
    json!({ "line": line, "character": character })
}

/// An editor in which the variable has been renamed, and whose line is there.
fn renamed(initialize: &Value) -> Editor {
    let mut editor = Editor::new(initialize);
    editor.rename();
    editor.suggest(1, 11);
    editor
}

#[test]
fn it_suggests_the_uses_of_what_is_renamed() {
    let mut editor = renamed(&json!({}));
    let answer = editor.suggest(1, 11);
    let suggestion = &answer["suggestions"][0];
    assert_eq!(places(suggestion), USES);
    assert_eq!(suggestion["version"], editor.version);
    assert_eq!((&suggestion["kind"], &suggestion["uri"]), (&json!("edit"), &json!(FILE)));
    assert_eq!(suggestion["reason"], "renames 3 uses of `total` on lines 3 to 5");
    assert_eq!(suggestion["cursor"], at(4, 12));
    assert!(answer["elapsedMs"].as_f64().is_some_and(|elapsed| elapsed > 0.0));
}

#[test]
fn ghost_text_is_what_is_at_the_cursor() {
    let mut editor = renamed(&json!({}));
    let params =
        |line, character| json!({ "textDocument": { "uri": FILE }, "position": at(line, character) });
    let nothing = editor.result("textDocument/inlineCompletion", &params(1, 11));
    assert_eq!(nothing, json!({ "items": [] }));
    let items = editor.result("textDocument/inlineCompletion", &params(2, 10));
    let item = &items["items"][0];
    assert_eq!(item["insertText"], "sum");
    assert_eq!(item["range"], json!({ "start": at(2, 10), "end": at(2, 15) }));
    assert_eq!(item["command"]["command"], "nudge.accept");
}

#[test]
fn plugins_for_neovim_get_their_shape() {
    let mut editor = renamed(&json!({}));
    let document = json!({ "uri": FILE, "version": editor.version });
    let params = json!({ "textDocument": document, "position": at(1, 11), "context": { "triggerKind": 2 } });
    let edits = editor.result("textDocument/copilotInlineEdit", &params)["edits"].clone();
    assert_eq!(edits.as_array().unwrap().len(), 3);
    assert_eq!(edits[0]["text"], "sum");
    assert_eq!(edits[0]["textDocument"], document);
    assert_eq!(edits[0]["range"], json!({ "start": at(2, 10), "end": at(2, 15) }));
    editor.note("textDocument/didShowInlineEdit", &json!({ "item": edits[0] }));
    let command = &edits[0]["command"];
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert_eq!(editor.result("workspace/executeCommand", &params)["state"], "ready");
}

fn code_actions(editor: &mut Editor, context: &Value) -> Value {
    let range = json!({ "start": at(1, 11), "end": at(1, 11) });
    let params = json!({ "textDocument": { "uri": FILE }, "range": range, "context": context });
    editor.result("textDocument/codeAction", &params)
}

#[test]
fn every_editor_gets_it_as_a_code_action() {
    let mut editor = renamed(&json!({}));
    let actions = code_actions(&mut editor, &json!({ "diagnostics": [] }));
    assert_eq!(actions.as_array().unwrap().len(), 1, "{actions}");
    let action = &actions[0];
    assert_eq!(action["title"], "Apply next edit: renames 3 uses of `total` on lines 3 to 5");
    assert_eq!(action["kind"], "refactor.nudge");
    assert_eq!(places(&json!({ "edits": action["edit"]["changes"][FILE] })), USES);
    let only = json!({ "diagnostics": [], "only": ["quickfix"] });
    assert_eq!(code_actions(&mut editor, &only), json!([]));
}

#[test]
fn an_editor_that_knows_versions_gets_them() {
    let edit = json!({ "documentChanges": true });
    let mut editor = renamed(&json!({ "capabilities": { "workspace": { "workspaceEdit": edit } } }));
    let actions = code_actions(&mut editor, &json!({ "diagnostics": [], "triggerKind": 1 }));
    let changes = &actions[0]["edit"]["documentChanges"][0];
    assert_eq!(changes["textDocument"], json!({ "uri": FILE, "version": editor.version }));
    assert_eq!(places(changes), USES);
}

#[test]
fn a_command_has_the_editor_apply_it() {
    let mut editor = renamed(&json!({}));
    let params = json!({ "command": "nudge.applyNextEdit", "arguments": [FILE, at(1, 11)] });
    let done = editor.result("workspace/executeCommand", &params);
    assert_eq!(done["applied"], true);
    let [applied] = &editor.seen[..] else { panic!("{:?}", editor.seen) };
    assert_eq!(applied["method"], "workspace/applyEdit");
    assert_eq!(places(&json!({ "edits": applied["params"]["edit"]["changes"][FILE] })), USES);
}

#[test]
fn a_command_has_the_editor_go_there() {
    let show = json!({ "window": { "showDocument": { "support": true } } });
    let mut editor = renamed(&json!({ "capabilities": show }));
    let params = json!({ "command": "nudge.goToNextEdit", "arguments": [FILE, at(1, 11)] });
    let done = editor.result("workspace/executeCommand", &params);
    assert_eq!((&done["shown"], &done["position"]), (&json!(true), &at(2, 10)));
    assert_eq!(editor.seen[0]["params"]["selection"], json!({ "start": at(2, 10), "end": at(2, 10) }));
}

#[test]
fn what_is_out_of_sight_is_gone_to_first() {
    let mut editor = renamed(&json!({}));
    let visible = json!({ "start": at(0, 0), "end": at(2, 0) });
    let params = json!({ "textDocument": { "uri": FILE }, "position": at(1, 10), "visible": visible });
    let answer = editor.result("nudge/suggest", &params);
    assert_eq!(answer["suggestions"][0]["kind"], "jump", "{answer}");
    assert_eq!(answer["suggestions"][0]["position"], at(2, 10));
    let mut editor = renamed(&json!({ "initializationOptions": { "kinds": [] } }));
    let answer = editor.result("nudge/suggest", &params);
    assert_eq!(answer["suggestions"][0]["kind"], "edit", "{answer}");
}

/// An editor that shows everything there is, and in which `total` stands on many lines.
fn shows_all() -> Editor {
    let edit = json!({ "documentChanges": true, "changeAnnotationSupport": {} });
    let mut editor = Editor::new(&json!({
        "capabilities": { "workspace": { "workspaceEdit": edit } },
        "initializationOptions": { "kinds": ["jump", "rename", "searchAndReplace"], "eagerness": "high" },
    }));
    let uses = "    keep(total, subtotal);\n".repeat(12);
    editor.open(FILE, &format!("fn main() {{\n    let subtotal = 2;\n    let total = 1;\n{uses}}}\n"));
    editor
}

#[test]
fn search_and_replace_is_an_edit_to_confirm() {
    let mut editor = shows_all();
    editor.change(2, 8..13, "sum");
    let answer = editor.suggest(2, 11);
    let all = answer["suggestions"].as_array().unwrap();
    let replace = all.iter().find(|suggestion| suggestion["kind"] == "searchAndReplace");
    let edit = &replace.unwrap_or_else(|| panic!("{answer}"))["edit"];
    assert_eq!(edit["changeAnnotations"]["nudge"]["needsConfirmation"], true, "{edit}");
    let edits = places(&edit["documentChanges"][0]);
    assert_eq!(edits, (3..15).map(|line| (line, 9, "sum")).collect::<Vec<_>>());
}

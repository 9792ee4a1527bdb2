//! A rename as a whole: every use in every open document, in the form that the editor takes.

use serde_json::{Value, json};

use super::{
    Editor, FILE,
    encodings::{Lines, units},
};

const OTHER: &str = "file:///project/b.rs";
const ENCODINGS: [&str; 3] = ["utf-8", "utf-16", "utf-32"];

/// Declares a function with a name of several widths, and uses it in many places that are not next to one another.
const LINES: [&str; 18] = [
    "pub fn größe(n: u32) -> u32 {",
    "    n",
    "}",
    "fn first() {",
    "    show(\"🙂\", größe(1));",
    "}",
    "fn second() {",
    "    keep(\"🙂é\", größe(2), \"🙂\", größe(3));",
    "    other();",
    "    keep(größe(4));",
    "    // größe in words stays",
    "    other();",
    "    größe(5);",
    "}",
    "fn third(größe: u32) {",
    "    keep(größe);",
    "    größer();",
    "}",
];

/// Uses it in another document.
const OTHER_LINES: [&str; 5] =
    ["use crate::a::größe;", "fn more() {", "    other();", "    keep(\"👩‍🚀\", größe(6));", "}"];

fn text(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// An editor that edits a workspace in this form, in which one use was given another name.
fn editor(form: &Value, encoding: &str) -> Editor {
    let general = json!({ "positionEncodings": [encoding] });
    let mut editor = Editor::new(&json!({
        "capabilities": { "general": general, "workspace": { "workspaceEdit": form } },
        "initializationOptions": { "kinds": ["rename"], "eagerness": "high" },
    }));
    editor.open(OTHER, &text(&OTHER_LINES));
    editor.open(FILE, &text(&LINES));
    let (start, end) = place(encoding);
    editor.change(4, start..end, "länge");
    editor
}

/// Where the use stands that is given another name.
fn place(encoding: &str) -> (u32, u32) {
    let before = units(encoding, LINES[4].split_once("größe").unwrap().0);
    let place = [before, before + units(encoding, "größe")].map(|at| u32::try_from(at).unwrap());
    (place[0], place[1])
}

fn suggested(editor: &mut Editor, encoding: &str) -> Value {
    let answer = editor.suggest(4, place(encoding).1);
    let all = answer["suggestions"].as_array().unwrap();
    let rename = all.iter().find(|suggestion| suggestion["kind"] == "rename");
    rename.unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Both documents with these edits made, which are those of the first and the second.
fn edited(encoding: &str, edits: [&Value; 2]) -> [Vec<String>; 2] {
    let owned = |lines: &[&str]| Lines(lines.iter().map(ToString::to_string).collect());
    let mut texts = [owned(&LINES), owned(&OTHER_LINES)];
    texts[0].0[4] = texts[0].0[4].replace("größe", "länge");
    for (text, edits) in texts.iter_mut().zip(edits) {
        text.apply(encoding, edits);
    }
    texts.map(|text| text.0)
}

/// Both documents with the function renamed.
fn renamed() -> [Vec<String>; 2] {
    let stays = |line: &str| line.contains("//") || line.contains("third") || line == LINES[15];
    let rename = |line: &&str| match line {
        line if stays(line) => (*line).to_owned(),
        line => line.replace("größe(", "länge(").replace("größe;", "länge;"),
    };
    [LINES.iter().map(rename).collect(), OTHER_LINES.iter().map(rename).collect()]
}

#[test]
fn every_use_is_renamed_in_every_encoding() {
    for encoding in ENCODINGS {
        let mut editor = editor(&json!({}), encoding);
        let rename = suggested(&mut editor, encoding);
        assert_eq!((&rename["newName"], &rename["uri"]), (&json!("länge"), &json!(FILE)));
        assert_eq!(rename["position"], json!({ "line": 0, "character": 7 }));
        let changes = &rename["edit"]["changes"];
        assert_eq!(edited(encoding, [&changes[FILE], &changes[OTHER]]), renamed(), "{encoding}");
    }
}

#[test]
fn an_editor_that_knows_versions_and_previews_gets_both() {
    for (form, to_confirm) in [
        (json!({ "documentChanges": true }), false),
        (json!({ "documentChanges": true, "changeAnnotationSupport": {} }), true),
    ] {
        let mut editor = editor(&form, "utf-16");
        let edit = suggested(&mut editor, "utf-16")["edit"].clone();
        let [own, other] = edit["documentChanges"].as_array().unwrap().as_slice() else { panic!("{edit}") };
        assert_eq!(own["textDocument"], json!({ "uri": FILE, "version": editor.version }));
        assert_eq!(other["textDocument"], json!({ "uri": OTHER, "version": 1 }));
        assert_eq!(edited("utf-16", [&own["edits"], &other["edits"]]), renamed());
        assert_eq!(edit.get("changeAnnotations").is_some(), to_confirm);
        assert_eq!(edit["changeAnnotations"]["nudge"]["needsConfirmation"] == true, to_confirm);
        for edit in [own, other].into_iter().flat_map(|document| document["edits"].as_array().unwrap()) {
            assert_eq!(edit["annotationId"] == "nudge", to_confirm, "{edit}");
        }
    }
}

#[test]
fn it_is_a_code_action() {
    let mut editor = editor(&json!({}), "utf-16");
    let rename = suggested(&mut editor, "utf-16");
    let at = json!({ "line": 4, "character": place("utf-16").1 });
    let range = json!({ "start": at, "end": at });
    let params = json!({ "textDocument": { "uri": FILE }, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.result("textDocument/codeAction", &params);
    let is_rename = |action: &&Value| action["title"].as_str().unwrap().starts_with("Rename to ");
    let action = actions.as_array().unwrap().iter().find(is_rename).unwrap_or_else(|| panic!("{actions}"));
    assert_eq!(action["title"], "Rename to länge: renames `größe` to `länge` where it is declared");
    assert_eq!(action["edit"], rename["edit"]);
    assert_eq!(action["command"]["arguments"], json!([rename["id"]]));
}

#[test]
fn a_command_has_the_editor_make_it() {
    let mut editor = editor(&json!({}), "utf-16");
    let rename = suggested(&mut editor, "utf-16");
    let arguments = json!([FILE, { "line": 4, "character": place("utf-16").1 }, rename["id"]]);
    let params = json!({ "command": "nudge.applyNextEdit", "arguments": arguments });
    let done = editor.result("workspace/executeCommand", &params);
    assert_eq!((&done["applied"], &done["id"]), (&json!(true), &rename["id"]));
    let [applied] = &editor.seen[..] else { panic!("{:?}", editor.seen) };
    assert_eq!(applied["params"]["edit"], rename["edit"]);
    // Over another text of one of the documents it would do harm.
    let document = json!({ "uri": OTHER, "version": 2 });
    let changes = json!([{ "text": "" }]);
    editor.note("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": changes }));
    assert_eq!(editor.result("workspace/executeCommand", &params)["applied"], false);
    assert_eq!(editor.seen.len(), 1);
}

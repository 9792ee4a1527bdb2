//! What a rename comes to, for a client that has no means of its own to rename.

use std::{ops::Range, sync::Arc};

use nudge_text::{Edit, Edits};
use serde_json::{Value, json};

use crate::editor::{Editor, URI, manual, piece, rename};

const OTHER: &str = "file:///w/b.rs";

/// The edits that put `sum` in the place of every `old`.
fn edits(text: &str) -> Edits {
    let places = text.match_indices("old").map(|(at, old)| at..at + old.len());
    Edits::new(places.map(|place| Edit::new(place, "sum")).collect()).expect("the places are apart")
}

/// An editor with two documents, and an engine that renames `old` to `sum` in both.
fn editor(encoding: &str, here: &str, other: &str) -> Editor {
    let client = json!({"nes": {"rename": {}}, "positionEncodings": [encoding]});
    let editor = Editor::with(&client, &json!({}));
    editor.open(OTHER, 1, other);
    editor.open(URI, 1, here);
    editor.engine.says(|scene| {
        let known = std::iter::once(scene.source).chain(scene.others);
        let made = known.map(|source| (Arc::clone(source.uri()), edits(source.content())));
        let offset = scene.source.content().find("old").expect("the name is declared");
        vec![rename(offset, "sum", made.collect())]
    });
    editor
}

/// The rename that is suggested.
fn suggested(editor: &Editor) -> Value {
    let response = json!(editor.suggest(manual(editor.ask(1, 0, 0))).expect("an answer"));
    let rename = response["suggestions"][0].clone();
    assert_eq!((&rename["kind"], &rename["newName"]), (&json!("rename"), &json!("sum")), "{response}");
    rename
}

fn changes(editor: &Editor) -> Option<Value> {
    suggested(editor)["_meta"]["nudge"].get("changes").cloned()
}

/// The edits on these lines, between these characters.
fn wire(edits: &[(u32, Range<u32>)]) -> Value {
    let position = |line: u32, character: u32| json!({"line": line, "character": character});
    let edit = |(line, part): &(u32, Range<u32>)| {
        let range = json!({"start": position(*line, part.start), "end": position(*line, part.end)});
        json!({"range": range, "newText": "sum"})
    };
    edits.iter().map(edit).collect()
}

#[test]
fn the_edits_of_every_document_are_told_in_the_agreed_encoding() {
    let (here, other) = ("pub fn old() {}\n\nf(\"😀é\", old, old);\n", "é(old);\n");
    for (encoding, own, others) in [("utf-8", [12, 17], 3), ("utf-16", [9, 14], 2), ("utf-32", [8, 13], 2)] {
        let [first, second] = own.map(|start| (2, start..start + 3));
        let expected = json!({
            URI: wire(&[(0, 7..10), first, second]),
            OTHER: wire(&[(0, others..others + 3)]),
        });
        assert_eq!(changes(&editor(encoding, here, other)), Some(expected), "{encoding}");
    }
}

#[test]
fn they_are_whole_or_not_there() {
    let editor = editor("utf-8", "fn old() {}\n", "é(old);\n");
    let own = || (URI.into(), Edits::one(3..6, "sum"));
    let cases = [
        ("none are known", Vec::<(Arc<str>, Edits)>::new()),
        ("a document is not", vec![own(), ("file:///unknown".into(), Edits::one(0..1, "sum"))]),
        ("one is outside", vec![own(), (OTHER.into(), Edits::one(9..12, "sum"))]),
        ("one is inside a code point", vec![own(), (OTHER.into(), Edits::one(1..3, "sum"))]),
        ("one changes nothing", vec![own(), (OTHER.into(), Edits::one(3..6, "old"))]),
    ];
    for (case, edits) in cases {
        editor.engine.says(move |_| vec![rename(3, "sum", edits.clone())]);
        assert_eq!(changes(&editor), None, "{case}");
    }
}

#[test]
fn what_stands_is_about_the_texts_as_they_are() {
    let editor = editor("utf-16", "pub fn old() {}\n", "fn b() {\n    old();\n}\n");
    let ask = || {
        let rename = suggested(&editor);
        let line = rename["_meta"]["nudge"]["changes"][OTHER][0]["range"]["start"]["line"].clone();
        (rename["id"].clone(), line)
    };
    assert_eq!(ask(), (json!("s1"), json!(1)));
    editor.change(OTHER, 2, vec![piece((0, 0, 0, 0), "\n\n")]);
    assert_eq!(ask(), (json!("s1"), json!(3)));
    // Another rename has nothing to say about this one.
    editor.engine.says(|_| vec![rename(8, "sum", vec![(URI.into(), Edits::one(7..10, "sum"))])]);
    assert_eq!(changes(&editor), None);
    editor.engine.says(|_| vec![]);
    assert_eq!(ask(), (json!("s1"), Value::Null));
}

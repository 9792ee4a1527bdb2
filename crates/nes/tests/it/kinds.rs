//! Suggestions of every kind, as the client gets them.

use nudge_predict::{EngineSuggestion, OfferedKinds, SuggestionKind};
use nudge_text::Edits;
use nudge_wire::{Version, nes::v2};
use serde_json::{Value, json};

use crate::editor::{Editor, URI, client, edit, rename, suggestion};

const ALL: [&str; 3] = ["jump", "rename", "searchAndReplace"];

fn all_kinds() -> Vec<EngineSuggestion> {
    vec![
        edit(URI, &[(0..1, "A"), (6..7, "B")]),
        suggestion(SuggestionKind::Jump { uri: URI.into(), offset: 6 }),
        rename(7, "new", vec![(URI.into(), Edits::one(6..8, "new"))]),
        suggestion(SuggestionKind::Replace {
            uri: "file:///w".into(),
            search: "old".to_owned(),
            replace: "new".to_owned(),
            regex: false,
        }),
    ]
}

/// An editor that can show these kinds, in a document that was edited.
fn editor(kinds: &[&str], encoding: &str) -> Editor {
    let nes: Value = kinds.iter().map(|kind| ((*kind).to_owned(), json!({}))).collect();
    let editor = Editor::with(&json!({"nes": nes, "positionEncodings": [encoding]}), &json!({}));
    editor.open(URI, 1, "x😀\nyz\n");
    editor.replace(2, (0, 0, 0, 1), "a");
    editor.engine.says(|_| all_kinds());
    editor
}

#[test]
fn a_kind_is_suggested_only_if_the_client_can_show_it() {
    for kinds in [&[][..], &ALL[..1], &ALL[1..2], &ALL[2..], &ALL[..]] {
        let editor = editor(kinds, "utf-16");
        let shown = editor.suggestions(2, 0, 1);
        let shown: Vec<&str> = shown.iter().map(nudge_wire::nes::v1::Suggestion::kind).collect();
        assert_eq!(shown, [&["edit"], kinds].concat());
        let offers = OfferedKinds {
            jump: kinds.contains(&"jump"),
            rename: kinds.contains(&"rename"),
            search_and_replace: kinds.contains(&"searchAndReplace"),
        };
        assert_eq!(editor.engine.last().offers, offers);
    }
}

#[test]
fn each_kind_has_its_shape() {
    let meta =
        json!({"nudge": {"predictor": "repeat", "reason": "repeats your edit on line 1", "confidence": 0.8}});
    let position = |line: u32, character: u32| json!({"line": line, "character": character});
    let edit = |start: Value, end: Value, text: &str| json!({"range": {"start": start, "end": end}, "newText": text});
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let editor = editor(&ALL, encoding);
        let response = editor.suggest(editor.ask(2, 0, 1)).unwrap();
        let mut with_changes = meta.clone();
        with_changes["nudge"]["changes"] = json!({URI: [edit(position(1, 0), position(1, 2), "new")]});
        let expected = json!({"suggestions": [
            {"id": "s1", "kind": "edit", "uri": URI, "_meta": meta, "cursorPosition": position(1, 1), "edits": [
                edit(position(0, 0), position(0, 1), "A"),
                edit(position(1, 0), position(1, 1), "B"),
            ]},
            {"id": "s2", "kind": "jump", "uri": URI, "_meta": meta, "position": position(1, 0)},
            {"id": "s3", "kind": "rename", "uri": URI, "_meta": with_changes, "position": position(1, 1), "newName": "new"},
            {"id": "s4", "kind": "searchAndReplace", "uri": "file:///w", "_meta": meta, "search": "old", "replace": "new", "isRegex": false},
        ]});
        assert_eq!(json!(response), expected, "{encoding}");
    }
}

#[test]
fn positions_are_exact_in_the_agreed_encoding() {
    // Behind the code point of four bytes.
    for (encoding, character) in [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)] {
        let editor = editor(&[], encoding);
        editor.engine.says(|_| vec![edit(URI, &[(5..5, "é!")])]);
        let response = json!(editor.suggest(editor.ask(2, 0, 1)).unwrap());
        let suggestion = &response["suggestions"][0];
        assert_eq!(suggestion["edits"][0]["range"]["start"], json!({"line": 0, "character": character}));
        let after = character + if encoding == "utf-8" { 3 } else { 2 };
        assert_eq!(suggestion["cursorPosition"], json!({"line": 0, "character": after}), "{encoding}");
    }
}

#[test]
fn version_2_calls_the_id_otherwise() {
    let editor = editor(&ALL, "utf-16");
    let connection = editor.service.connect(&client(Version::V2, &json!({"nes": {"jump": {}}})));
    let session = crate::editor::begin(&connection, &json!({}));
    connection.did_open(nudge_wire::document::DidOpen::new(&session, URI, "rust", 1, "x\nyz\nabc\n"));
    let request: v2::SuggestRequest = serde_json::from_value(json!({
        "sessionId": session, "uri": URI, "version": 1,
        "position": {"line": 0, "character": 0}, "triggerKind": "manual",
    }))
    .unwrap();
    let response = v2::SuggestResponse::from(connection.suggest(request, 0).unwrap().run().unwrap());
    let response = json!(response);
    let ids: Vec<&Value> =
        response["suggestions"].as_array().unwrap().iter().map(|it| &it["suggestionId"]).collect();
    assert_eq!(ids, ["s1", "s2"], "{response}");
    assert!(response["suggestions"][0].get("id").is_none());
}

#[test]
fn what_does_not_fit_the_document_is_not_shown() {
    let editor = editor(&ALL, "utf-16");
    let cases: [fn() -> EngineSuggestion; 7] = [
        || edit(URI, &[(0..99, "outside")]),
        || edit(URI, &[(2..3, "inside a code point")]),
        || edit(URI, &[(0..1, "a")]),
        || edit("file:///unknown", &[(0..1, "b")]),
        || suggestion(SuggestionKind::Jump { uri: URI.into(), offset: 99 }),
        || suggestion(SuggestionKind::Jump { uri: "file:///unknown".into(), offset: 0 }),
        || rename(2, "x", vec![]),
    ];
    for (index, case) in cases.into_iter().enumerate() {
        editor.engine.says(move |_| vec![case()]);
        assert!(editor.suggestions(2, 0, 1).is_empty(), "case {index}");
    }
}

#[test]
fn an_edit_never_begins_or_ends_inside_a_line_break() {
    let text = "ab\r\ncd\r\nef";
    let cases: &[&[(std::ops::Range<usize>, &str)]] = &[
        &[(3..3, "x")],
        &[(3..4, "")],
        &[(1..3, "x")],
        &[(0..3, "x"), (3..5, "y")],
        &[(1..3, "x"), (3..3, "y"), (7..8, "z")],
        &[(2..3, "")],
    ];
    for changes in cases {
        let editor = Editor::new();
        editor.open(URI, 1, text);
        editor.replace(2, (2, 0, 2, 0), "");
        let owned: Vec<(std::ops::Range<usize>, String)> =
            changes.iter().map(|(range, text)| (range.clone(), (*text).to_owned())).collect();
        let mut expected = text.to_owned();
        for (range, new) in owned.iter().rev() {
            expected.replace_range(range.clone(), new);
        }
        editor.engine.says(move |_| {
            let changes: Vec<_> = owned.iter().map(|(range, text)| (range.clone(), text.as_str())).collect();
            vec![edit(URI, &changes)]
        });
        let request = crate::editor::manual(editor.ask(2, 0, 0));
        let response = editor.suggest(request).unwrap();
        let edits = crate::editor::edits(&response.suggestions[0]);
        assert_eq!(apply(text, edits), expected, "{edits:?}");
    }
}

/// Applies edits as a client does, which knows no place between `\r` and `\n`.
fn apply(text: &str, edits: &[nudge_wire::nes::TextEdit]) -> String {
    let offset = |position: &nudge_wire::nes::Position| {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices("\r\n").map(|(at, _)| at + 2)).collect();
        let start = starts[position.line as usize];
        let end = text[start..].find("\r\n").map_or(text.len(), |at| start + at);
        (start + position.character as usize).min(end)
    };
    let mut after = text.to_owned();
    let mut before = text.len();
    for edit in edits.iter().rev() {
        let (start, end) = (offset(&edit.range.start), offset(&edit.range.end));
        assert!(start <= end && end <= before, "sorted and apart: {edits:?}");
        before = start;
        after.replace_range(start..end, &edit.new_text);
    }
    after
}

#[test]
fn ids_are_never_used_again() {
    let editor = editor(&ALL, "utf-16");
    let mut ids = std::collections::HashSet::new();
    for version in 3..20 {
        editor.replace(version, (1, 0, 1, 0), "k");
        for suggestion in editor.suggestions(version, 1, 1) {
            assert!(ids.insert(suggestion.id().to_owned()), "{suggestion:?}");
        }
    }
    assert_eq!(ids.len(), 17 * 4);
}

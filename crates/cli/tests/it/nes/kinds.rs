//! Each kind of suggestion as the real engine makes it, and what comes of it.

use serde_json::{Value, json};

use super::{Editor, Text, URI, position};

const OTHER: &str = "file:///w/src/other.rs";

/// Runs a test in both versions and all encodings, with an editor that can show everything.
fn for_all(test: impl Fn(Editor, &'static str)) {
    for version in [1, 2] {
        for encoding in ["utf-8", "utf-16", "utf-32"] {
            let all = json!({"jump": {}, "rename": {}, "searchAndReplace": {}});
            let capabilities = json!({"nes": all, "positionEncodings": [encoding]});
            test(Editor::with(version, &capabilities, &json!({})), encoding);
        }
    }
}

/// Puts `new` in the place of the `nth` occurrence of `old`; the position behind it.
fn replace(
    editor: &mut Editor,
    version: i64,
    text: &mut Text,
    (old, nth): (&str, usize),
    new: &str,
) -> Value {
    let (start, end) = (text.find(old, nth), text.find_end(old, nth));
    let edit = json!({"range": {"start": start, "end": end}, "newText": new});
    editor.change(URI, version, &json!([{"range": edit["range"], "text": new}]));
    let at = text.offset(&start);
    text.content = text.apply(&[edit]);
    let line = text.content[..at].rfind('\n').map_or(0, |at| at + 1);
    let behind = Text { content: text.content[line..].to_owned(), encoding: text.encoding }.find_end(new, 0);
    position(super::number(&start["line"]), super::number(&behind["character"]))
}

fn of_kind<'a>(suggestions: &'a [Value], kind: &str) -> &'a Value {
    let found = suggestions.iter().find(|suggestion| suggestion["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {suggestions:#?}"))
}

/// A struct and, far below, a use of its field.
fn far() -> String {
    let between = "fn other() {}\n".repeat(80);
    format!(
        "/* ä€😀 */ struct Point {{ /* 😀 */ left_edge: u32 }}\n\n{between}\nfn show(p: &Point) -> u32 {{\n    /* ä€😀 */ p.left_edge + 1\n}}\n"
    )
}

#[test]
fn a_jump_leads_to_the_edit_that_is_out_of_sight() {
    for_all(|mut editor, encoding| {
        let mut text = Text { content: far(), encoding };
        editor.open(URI, 1, &text.content);
        let cursor = replace(&mut editor, 2, &mut text, ("left_edge", 0), "left");
        let seen = json!({"start": position(0, 0), "end": position(30, 0)});
        editor.event("didFocus", URI, &json!({"version": 2, "position": cursor, "visibleRange": seen}));
        let suggestions = editor.suggest(URI, 2, &cursor);
        let jump = of_kind(&suggestions, "jump").clone();
        assert_eq!(suggestions[0], jump, "the way comes first");
        assert_eq!(jump["uri"], URI);
        let place = text.offset(&jump["position"]);
        let line = text.content[place..].lines().next().unwrap();
        assert!(line.starts_with("left_edge"), "it leads to {line:?}");
        // The user goes there, and there the edit comes.
        editor.feedback("nes/accept", &jump, &json!({}));
        let lines = super::number(&jump["position"]["line"]);
        let seen = json!({"start": position(lines - 10, 0), "end": position(lines + 1, 0)});
        editor.event(
            "didFocus",
            URI,
            &json!({"version": 2, "position": jump["position"], "visibleRange": seen}),
        );
        let suggestions = editor.suggest(URI, 2, &jump["position"]);
        assert!(suggestions.iter().all(|suggestion| suggestion["kind"] != "jump"), "{suggestions:#?}");
        let edit = of_kind(&suggestions, "edit");
        let expected = text.content.replace("p.left_edge", "p.left");
        assert_eq!(text.apply(edit["edits"].as_array().unwrap()), expected);
        editor.finish();
    });
}

#[test]
fn a_jump_leads_to_another_document() {
    for_all(|mut editor, encoding| {
        let mut text =
            Text { content: "/* ä€😀 */ pub fn first_of(items: &[u8]) {}\n".to_owned(), encoding };
        let other = Text {
            content: "use crate::first_of;\n\nfn show() {\n    /* 😀 */ first_of(&[1]);\n}\n".to_owned(),
            encoding,
        };
        editor.open(OTHER, 1, &other.content);
        editor.open(URI, 1, &text.content);
        let cursor = replace(&mut editor, 2, &mut text, ("first_of", 0), "head_of");
        let suggestions = editor.suggest(URI, 2, &cursor);
        let jump = of_kind(&suggestions, "jump").clone();
        assert_eq!(jump["uri"], OTHER);
        assert!(other.content[other.offset(&jump["position"])..].starts_with("first_of"));
        let mut other = other;
        let mut place = jump["position"].clone();
        for version in 1..3 {
            let suggestions = editor.suggest(OTHER, version, &place);
            let edit = of_kind(&suggestions, "edit");
            assert_eq!(edit["uri"], OTHER);
            let edits = edit["edits"].as_array().unwrap();
            let changes: Vec<Value> = edits
                .iter()
                .rev()
                .map(|edit| json!({"range": edit["range"], "text": edit["newText"]}))
                .collect();
            let after = other.apply(edits);
            assert_eq!(after.replace("first_of", "head_of"), other.content.replace("first_of", "head_of"));
            editor.change(OTHER, version + 1, &json!(changes));
            place = edit["cursorPosition"].clone();
            other.content = after;
            if !other.content.contains("first_of") {
                break;
            }
        }
        assert!(!other.content.contains("first_of"), "{}", other.content);
        editor.finish();
    });
}

#[test]
fn a_rename_names_the_declaration_and_all_that_follows() {
    for_all(|mut editor, encoding| {
        let content = "/* ä€😀 */ fn f(items: &[u8]) -> usize {\n    /* 😀 */ let cnt = items.len();\n    show(cnt);\n    /* € */ log(cnt);\n    cnt\n}\n";
        let mut text = Text { content: content.to_owned(), encoding };
        editor.open(URI, 1, content);
        let cursor = replace(&mut editor, 2, &mut text, ("cnt", 1), "count");
        let suggestions = editor.suggest(URI, 2, &cursor);
        let rename = of_kind(&suggestions, "rename");
        assert_eq!((&rename["uri"], &rename["newName"]), (&json!(URI), &json!("count")));
        assert_eq!(rename["position"], text.find("cnt", 0), "it is declared there");
        let changes = rename["_meta"]["nudge"]["changes"].as_object().unwrap();
        assert_eq!(changes.keys().collect::<Vec<_>>(), [URI]);
        let after = text.apply(changes[URI].as_array().unwrap());
        assert_eq!(after, content.replace("cnt", "count"));
        editor.finish();
    });
}

/// What an editor makes of a text by search and replace; of regular expressions it knows whole words.
fn searched(text: &str, suggestion: &Value) -> String {
    let (search, new) = (suggestion["search"].as_str().unwrap(), suggestion["replace"].as_str().unwrap());
    if suggestion["isRegex"] == false {
        return text.replace(search, new);
    }
    let word = search.strip_prefix(r"\b").and_then(|rest| rest.strip_suffix(r"\b")).expect("a whole word");
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let (mut after, mut done) = (String::new(), 0);
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        if !text[..at].ends_with(is_part) && !text[end..].starts_with(is_part) {
            after.push_str(&text[done..at]);
            after.push_str(new);
            done = end;
        }
    }
    after + &text[done..]
}

#[test]
fn search_and_replace_finds_what_is_meant_and_nothing_else() {
    let calls = "fn a() {\n    go();\n\n    /* 😀 */ go();\n\n    go();\n\n    go();\n";
    for (more, is_regex) in [("    good();\n}\n", true), ("}\n", false)] {
        for_all(|mut editor, encoding| {
            let content = format!("/* ä€😀 */ fn go() {{}}\n{calls}{more}");
            let mut text = Text { content: content.clone(), encoding };
            editor.open(URI, 1, &content);
            let cursor = replace(&mut editor, 2, &mut text, ("go", 0), "run");
            let suggestions = editor.suggest(URI, 2, &cursor);
            let found = of_kind(&suggestions, "searchAndReplace");
            assert_eq!((&found["uri"], &found["isRegex"]), (&json!(URI), &json!(is_regex)));
            assert_eq!(searched(&text.content, found), content.replace("go()", "run()"));
            editor.finish();
        });
    }
}

//! What is shown stays while nothing changes, and shrinks while it is typed.

use std::ops::Range;

use nudge_predict::{EngineSuggestion, SuggestionKind};
use nudge_wire::nes::{RejectReason, v1};

use crate::editor::{Editor, URI, edit, edits, manual, piece};

/// The same suggestion every time.
fn says(editor: &Editor, changes: &'static [(Range<usize>, &'static str)]) {
    editor.engine.says(move |_| vec![edit(URI, changes)]);
}

fn editor(text: &str) -> Editor {
    let editor = Editor::new();
    editor.open(URI, 1, text);
    editor
}

fn asked(editor: &Editor, version: i64, line: u32, character: u32) -> Vec<v1::Suggestion> {
    editor.suggest(manual(editor.ask(version, line, character))).unwrap().suggestions
}

fn ids(suggestions: &[v1::Suggestion]) -> Vec<&str> {
    suggestions.iter().map(v1::Suggestion::id).collect()
}

#[test]
fn the_same_is_answered_while_document_and_cursor_stand() {
    let editor = editor("one\ntwo\n");
    says(&editor, &[(0..3, "1")]);
    let first = asked(&editor, 1, 0, 0);
    says(&editor, &[(4..7, "2")]);
    assert_eq!(asked(&editor, 1, 0, 0), first, "another is not shown in its place");
    editor.engine.says(|_| Vec::new());
    assert_eq!(asked(&editor, 1, 0, 0), first, "nor is it taken back");
    editor.change(URI, 2, Vec::new());
    assert_eq!(asked(&editor, 2, 0, 0), first, "a new version with the same text changes nothing");
    says(&editor, &[(4..7, "2")]);
    let moved = asked(&editor, 2, 1, 0);
    assert_ne!(moved, first, "the cursor moved");
    let mut selected = manual(editor.ask(2, 1, 0));
    selected.selection = piece((1, 0, 1, 2), "").range;
    assert_ne!(editor.suggest(selected).unwrap().suggestions, moved, "something was selected");
    editor.replace(3, (0, 0, 0, 0), "0");
    assert_ne!(ids(&asked(&editor, 3, 1, 0)), ids(&moved), "the text changed");
}

#[test]
fn what_the_user_asked_for_stays_when_the_editor_asks() {
    let editor = editor("one\n");
    says(&editor, &[(0..3, "1")]);
    let first = asked(&editor, 1, 0, 0);
    assert_eq!(editor.suggestions(1, 0, 0), first);
    assert!(editor.suggestions(1, 0, 1).is_empty(), "elsewhere there is no reason");
}

#[test]
fn a_jump_to_a_file_that_is_not_open_stays() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("b.rs"), "fn b() {}\n").unwrap();
    let uri = format!("file://{}/b.rs", folder.path().display());
    let start = serde_json::json!({"workspaceUri": format!("file://{}", folder.path().display())});
    let editor = Editor::with(&serde_json::json!({"nes": {"jump": {}}}), &start);
    editor.open(URI, 1, "one\n");
    editor.engine.says(move |_| {
        vec![crate::editor::suggestion(SuggestionKind::Jump { uri: uri.as_str().into(), offset: 3 })]
    });
    let first = asked(&editor, 1, 0, 0);
    assert_eq!(first.len(), 1);
    editor.engine.says(|_| Vec::new());
    assert_eq!(asked(&editor, 1, 0, 0), first);
}

#[test]
fn one_that_extends_it_takes_its_place() {
    let editor = editor("one\ntwo\n");
    says(&editor, &[(0..3, "1")]);
    let first = asked(&editor, 1, 0, 0);
    says(&editor, &[(0..3, "1"), (4..7, "2")]);
    let more = asked(&editor, 1, 0, 0);
    assert_eq!(edits(&more[0]).len(), 2);
    assert_ne!(ids(&more), ids(&first));
    says(&editor, &[(0..3, "1st"), (4..7, "2")]);
    let longer = asked(&editor, 1, 0, 0);
    assert_eq!(edits(&longer[0])[0].new_text, "1st");
    says(&editor, &[(0..3, "1st")]);
    assert_eq!(asked(&editor, 1, 0, 0), longer, "less is not more");
}

#[test]
fn what_was_taken_or_refused_is_not_shown_again() {
    type Feedback = fn(&Editor, &str);
    let cases: [(&str, bool, Feedback); 5] = [
        ("accepted", true, |editor, id| editor.connection.accept(&editor.session, id)),
        ("rejected", true, |editor, id| editor.connection.reject(&editor.session, id, None)),
        ("ignored", true, |editor, id| {
            editor.connection.reject(&editor.session, id, Some(&RejectReason::Ignored));
        }),
        // A client that gets the same answer twice may say that one replaced the other.
        ("replaced", false, |editor, id| {
            editor.connection.reject(&editor.session, id, Some(&RejectReason::Replaced));
        }),
        ("cancelled", false, |editor, id| {
            editor.connection.reject(&editor.session, id, Some(&RejectReason::Cancelled));
        }),
    ];
    for (what, gone, feedback) in cases {
        let editor = editor("one\ntwo\n");
        says(&editor, &[(0..3, "1")]);
        let first = asked(&editor, 1, 0, 0);
        feedback(&editor, first[0].id());
        editor.engine.says(|_| Vec::new());
        assert_eq!(asked(&editor, 1, 0, 0).is_empty(), gone, "{what}");
    }
}

#[test]
fn what_is_about_another_document_falls_with_it() {
    let editor = editor("one\n");
    let other = "file:///w/b.rs";
    editor.open(other, 1, "uno\n");
    editor.engine.says(move |_| vec![edit(other, &[(0..3, "1")])]);
    let first = asked(&editor, 1, 0, 0);
    editor.engine.says(|_| Vec::new());
    assert_eq!(asked(&editor, 1, 0, 0), first);
    editor.change(other, 2, vec![piece((0, 0, 0, 0), "x")]);
    assert!(asked(&editor, 1, 0, 0).is_empty());
}

/// Types `typed` at the cursor of `before`, marked by `|`, while `shown` is shown; tells what is offered then: the text
/// after it, with a `|` where the cursor goes.
fn type_through(before: &str, shown: &'static [(Range<usize>, &'static str)], typed: &str) -> Option<String> {
    let cursor = before.find('|').expect("a cursor");
    let text = before.replace('|', "");
    let editor = editor(&text);
    says(&editor, shown);
    let place = |text: &str, at: usize| {
        let line = text[..at].matches('\n').count();
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        (u32::try_from(line).unwrap(), u32::try_from(at - start).unwrap())
    };
    let (line, character) = place(&text, cursor);
    assert_eq!(asked(&editor, 1, line, character).len(), 1);
    editor.engine.says(|_| Vec::<EngineSuggestion>::new());
    editor.replace(2, (line, character, line, character), typed);
    let mut now = text.clone();
    now.insert_str(cursor, typed);
    let (line, character) = place(&now, cursor + typed.len());
    let offered = asked(&editor, 2, line, character);
    let v1::Suggestion::Edit(edit) = offered.first()? else { panic!("an edit") };
    let offset = |text: &str, position: &v1::Position| {
        let start: usize = text.split_inclusive('\n').take(position.line as usize).map(str::len).sum();
        start + position.character as usize
    };
    let mut after = now.clone();
    for change in edit.edits.iter().rev() {
        let range = offset(&now, &change.range.start)..offset(&now, &change.range.end);
        assert!(range.start >= cursor + typed.len() || range.end <= cursor, "what was typed is left alone");
        after.replace_range(range, &change.new_text);
    }
    let cursor = offset(&after, edit.cursor_position.as_ref().unwrap());
    after.insert(cursor, '|');
    Some(after)
}

#[test]
fn the_rest_is_offered_while_the_beginning_is_typed() {
    let check =
        |before: &str, shown: &'static [(Range<usize>, &'static str)], typed: &str, after: Option<&str>| {
            assert_eq!(type_through(before, shown, typed).as_deref(), after, "{before:?} {typed:?}");
        };
    check("let |", &[(4..4, "x = 1;")], "x", Some("let x = 1;|"));
    check("let |", &[(4..4, "x = 1;")], "x = ", Some("let x = 1;|"));
    check("let |", &[(4..4, "x = 1;")], "y", None);
    check("let |", &[(4..4, "x = 1;")], "x = 1;", None);
    check("let |", &[(4..4, "x")], "xy", None);
    // A replacement whose beginning stands already.
    check("fo|\nbar\n", &[(0..2, "foo")], "o", None);
    check("f|bar\n", &[(0..4, "fübar")], "ü", None);
    check("f| end\n", &[(0..1, "foo")], "o", Some("foo| end\n"));
    check("a = |;\n", &[(4..5, "b;")], "b", None);
    check("a = |x;\n", &[(4..5, "bc")], "b", Some("a = bc|;\n"));
    // White space alone is not worth it.
    check("let |", &[(4..4, "x \n")], "x", None);
    check("let |", &[(4..4, "x y")], "x", Some("let x y|"));
    // Other parts move along.
    check("|\nold\n", &[(0..0, "new"), (1..4, "new")], "n", Some("new\nnew|\n"));
    check("old\n|\n", &[(0..3, "new"), (4..4, "new")], "ne", Some("new\nnew|\n"));
}

#[test]
fn typing_on_goes_from_rest_to_rest() {
    let editor = editor("\n");
    says(&editor, &[(0..0, "abc")]);
    let mut last = asked(&editor, 1, 0, 0);
    editor.engine.says(|_| vec![edit(URI, &[(0..0, "other")])]);
    let asked_before = editor.engine.asked();
    for (index, typed) in ["a", "b"].into_iter().enumerate() {
        let at = u32::try_from(index).unwrap();
        editor.replace(2 + i64::from(at), (0, at, 0, at), typed);
        let rest = asked(&editor, 2 + i64::from(at), 0, at + 1);
        assert_eq!(edits(&rest[0])[0].new_text, "abc"[index + 1..], "not something else");
        assert_ne!(ids(&rest), ids(&last));
        last = rest;
    }
    assert_eq!(editor.engine.asked(), asked_before, "the engine need not be asked");
    // The rest is one suggestion with the whole: refused once, refused for good.
    editor.connection.reject(&editor.session, last[0].id(), None);
    assert_ne!(asked(&editor, 3, 0, 2), last);
}

#[test]
fn anything_else_that_was_done_ends_it() {
    let type_elsewhere = |then: fn(&Editor)| {
        let editor = editor("a\nb\n");
        says(&editor, &[(0..0, "xyz")]);
        asked(&editor, 1, 0, 0);
        editor.engine.says(|_| Vec::new());
        then(&editor);
        asked(&editor, 2, 0, 1)
    };
    assert_eq!(type_elsewhere(|editor| editor.replace(2, (0, 0, 0, 0), "x")).len(), 1);
    let editor = editor("a\nb\n");
    says(&editor, &[(0..0, "xyz")]);
    asked(&editor, 1, 0, 0);
    editor.engine.says(|_| Vec::new());
    editor.replace(2, (0, 0, 0, 0), "x");
    let mut selected = manual(editor.ask(2, 0, 1));
    selected.selection = piece((0, 0, 0, 1), "").range;
    assert!(editor.suggest(selected).unwrap().suggestions.is_empty());
    assert!(type_elsewhere(|editor| editor.replace(2, (1, 0, 1, 0), "x")).is_empty());
    assert!(type_elsewhere(|editor| editor.replace(2, (0, 0, 0, 1), "x")).is_empty());
    assert!(
        type_elsewhere(|editor| {
            editor.change(URI, 2, vec![piece((0, 0, 0, 0), "x"), piece((1, 0, 1, 0), "y")]);
        })
        .is_empty()
    );
}

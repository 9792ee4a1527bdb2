//! Documents that follow the client's events.

use serde_json::json;

use crate::editor::{Editor, URI, attach, full, manual, piece};

const TEXT: &str = "one\ntwo\nthree\n";

/// What the engine sees of the document, or the name of the error.
fn mirrored(editor: &Editor, version: i64) -> Result<String, String> {
    let before = editor.engine.asked();
    editor.suggest(manual(editor.ask(version, 0, 0)))?;
    Ok(if editor.engine.asked() > before { editor.engine.last().text } else { "not asked".to_owned() })
}

#[test]
fn changes_are_followed() {
    let editor = Editor::new();
    editor.open(URI, 1, TEXT);
    editor.replace(2, (1, 0, 1, 3), "2");
    assert_eq!(mirrored(&editor, 2), Ok("one\n2\nthree\n".to_owned()));
    // Each change is to the text that the one before it left; versions may have gaps.
    editor.change(URI, 10, vec![piece((0, 0, 1, 0), ""), piece((0, 1, 0, 1), "!"), piece((2, 0, 2, 0), "x")]);
    assert_eq!(mirrored(&editor, 10), Ok("2!\nthree\nx".to_owned()));
    editor.change(URI, 11, vec![full("a\nb"), piece((1, 0, 1, 1), "c")]);
    assert_eq!(mirrored(&editor, 11), Ok("a\nc".to_owned()));
    editor.change(URI, 12, Vec::new());
    assert_eq!(mirrored(&editor, 12), Ok("a\nc".to_owned()));
}

#[test]
fn a_change_that_cannot_be_made_puts_the_document_out_of_sync() {
    type Bad = fn(&Editor);
    let cases: [(&str, Bad); 5] = [
        ("the version stands", |editor| editor.replace(2, (0, 0, 0, 0), "x")),
        ("the version goes back", |editor| editor.replace(1, (0, 0, 0, 0), "x")),
        ("the range is outside", |editor| editor.replace(3, (9, 0, 9, 0), "x")),
        ("the range is reversed", |editor| editor.replace(3, (1, 2, 1, 0), "x")),
        ("the second change is bad", |editor| {
            editor.change(URI, 3, vec![piece((0, 0, 0, 0), "x"), piece((7, 0, 7, 0), "y")]);
        }),
    ];
    for (what, bad) in cases {
        let editor = Editor::new();
        editor.open(URI, 1, TEXT);
        editor.replace(2, (0, 0, 0, 3), "ONE");
        bad(&editor);
        assert_eq!(mirrored(&editor, 2), Err("document_out_of_sync".to_owned()), "{what}");
        editor.replace(4, (0, 0, 0, 0), "more");
        assert_eq!(mirrored(&editor, 4), Err("document_out_of_sync".to_owned()), "{what}: it stays so");
        editor.change(URI, 5, vec![full("mended")]);
        assert_eq!(mirrored(&editor, 5), Ok("mended".to_owned()), "{what}");
        bad(&editor);
        editor.open(URI, 1, "opened");
        assert_eq!(mirrored(&editor, 1), Ok("opened".to_owned()), "{what}");
    }
}

#[test]
fn a_change_of_a_document_that_is_not_open_puts_it_out_of_sync() {
    let editor = Editor::new();
    assert_eq!(mirrored(&editor, 1), Err("unknown_document".to_owned()));
    editor.replace(2, (0, 0, 0, 0), "x");
    assert_eq!(mirrored(&editor, 2), Err("document_out_of_sync".to_owned()));
    // Not even what comes with the request mends that: it may be older.
    let attached = attach(
        manual(editor.ask(2, 0, 0)),
        &json!({"recentFiles": [{"uri": URI, "languageId": "rust", "text": "x"}]}),
    );
    assert_eq!(editor.suggest(attached).unwrap_err(), "document_out_of_sync");
    editor.change(URI, 3, vec![full("all of"), piece((0, 6, 0, 6), " it")]);
    assert_eq!(mirrored(&editor, 3), Ok("all of it".to_owned()));
}

#[test]
fn a_closed_document_is_unknown() {
    let editor = Editor::new();
    editor.open(URI, 1, TEXT);
    editor.connection.did_close(&nudge_wire::document::DidClose::new(&editor.session, URI));
    assert_eq!(mirrored(&editor, 1), Err("unknown_document".to_owned()));
    editor.replace(2, (0, 0, 0, 0), "x");
    assert_eq!(mirrored(&editor, 2), Err("document_out_of_sync".to_owned()));
    // Closing what is not open does no harm.
    editor.connection.did_close(&nudge_wire::document::DidClose::new(&editor.session, "file:///no"));
    editor.open(URI, 5, "again");
    assert_eq!(mirrored(&editor, 5), Ok("again".to_owned()));
}

#[test]
fn a_request_is_about_the_version_at_hand() {
    let editor = Editor::new();
    editor.open(URI, 3, TEXT);
    assert_eq!(mirrored(&editor, 2), Ok("not asked".to_owned()), "an older one gets an empty list");
    assert_eq!(mirrored(&editor, 4), Err("document_out_of_sync".to_owned()));
    assert_eq!(mirrored(&editor, 3), Ok(TEXT.to_owned()));
}

#[test]
fn a_session_has_its_own_documents() {
    let editor = Editor::new();
    let other = Editor { session: crate::editor::begin(&editor.connection, &json!({})), ..Editor::new() };
    editor.open(URI, 1, TEXT);
    assert_ne!(editor.session, other.session);
    let mut request = manual(editor.ask(1, 0, 0));
    request.session_id.clone_from(&other.session);
    assert_eq!(editor.suggest(request).unwrap_err(), "unknown_document");
    let mut request = manual(editor.ask(1, 0, 0));
    "nobody".clone_into(&mut request.session_id);
    assert_eq!(editor.suggest(request).unwrap_err(), "unknown_session");
}

#[test]
fn positions_are_clamped_and_counted_in_the_agreed_encoding() {
    // A code point of four bytes, two units of UTF-16.
    let text = "a😀b\r\nc\rd\n";
    let cases = [
        // line, character, then the offset in UTF-8, UTF-16 and UTF-32.
        (0, 0, [0, 0, 0]),
        (0, 1, [1, 1, 1]),
        (0, 2, [1, 1, 5]),
        (0, 3, [1, 5, 6]),
        (0, 5, [5, 6, 6]),
        (0, 99, [6, 6, 6]),
        (1, 0, [8, 8, 8]),
        (1, 7, [9, 9, 9]),
        (2, 1, [11, 11, 11]),
        (3, 0, [12, 12, 12]),
        (99, 5, [12, 12, 12]),
        (u32::MAX, u32::MAX, [12, 12, 12]),
    ];
    for (index, encoding) in ["utf-8", "utf-16", "utf-32"].into_iter().enumerate() {
        let editor = Editor::with(&json!({"positionEncodings": ["utf-7", encoding]}), &json!({}));
        assert_eq!(editor.connection.position_encoding().as_str(), encoding);
        editor.open(URI, 1, text);
        for (line, character, offsets) in cases {
            editor.suggest(manual(editor.ask(1, line, character))).unwrap();
            assert_eq!(editor.engine.last().cursor, offsets[index], "{encoding} {line}:{character}");
        }
    }
}

#[test]
fn a_selection_is_clamped_and_turned_round() {
    let editor = Editor::new();
    editor.open(URI, 1, TEXT);
    let check = |range: (u32, u32, u32, u32), expected: Option<std::ops::Range<usize>>| {
        let mut request = manual(editor.ask(1, 0, 0));
        request.selection = piece(range, "").range;
        editor.suggest(request).unwrap();
        assert_eq!(editor.engine.last().selection, expected);
    };
    check((0, 1, 1, 2), Some(1..6));
    check((1, 2, 0, 1), Some(1..6));
    check((2, 0, 99, 0), Some(8..14));
    check((1, 1, 1, 1), None);
}

#[test]
fn edits_are_told_across_documents_in_order() {
    let editor = Editor::new();
    let other = "file:///w/b.rs";
    editor.open(URI, 1, TEXT);
    editor.open(other, 1, "alpha\n");
    editor.replace(2, (0, 0, 0, 3), "1");
    editor.change(other, 2, vec![piece((0, 0, 0, 5), "beta")]);
    editor.replace(3, (2, 0, 2, 5), "3");
    editor.suggest(editor.ask(3, 2, 1)).unwrap();
    let change = |uri: &str, before: &str, after: &str| (uri.to_owned(), before.to_owned(), after.to_owned());
    let seen = editor.engine.last();
    assert_eq!(
        seen.changes,
        [change(URI, "one", "1"), change(other, "alpha", "beta"), change(URI, "three", "3")]
    );
    assert_eq!(seen.others, [(other.to_owned(), "beta\n".to_owned())]);
}

#[test]
fn the_documents_used_last_come_first() {
    let editor = Editor::new();
    for name in ["a", "b", "c"] {
        editor.open(&format!("file:///w/{name}.rs"), 1, name);
    }
    let others = || {
        editor.suggest(manual(editor.ask(1, 0, 0))).unwrap();
        editor.engine.last().others.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(others(), ["c", "b"]);
    let range = piece((0, 0, 0, 1), "").range.unwrap();
    let focus = |uri: &str| {
        nudge_wire::document::DidFocus::new(
            &editor.session,
            uri,
            1,
            nudge_wire::nes::Position::new(0, 0),
            range.clone(),
        )
    };
    editor.connection.did_focus(focus("file:///w/b.rs"));
    assert_eq!(others(), ["b", "c"]);
    editor.change("file:///w/c.rs", 2, vec![full("c2")]);
    assert_eq!(others(), ["c2", "b"]);
    assert_eq!(editor.engine.last().visible, None);
    editor.connection.did_focus(focus(URI));
    others();
    assert_eq!(editor.engine.last().visible, Some(0..1));
}

#[test]
fn nothing_is_asked_without_an_edit_a_diagnostic_or_the_user() {
    let editor = Editor::new();
    editor.open(URI, 1, TEXT);
    let response = editor.suggest(editor.ask(1, 0, 0)).unwrap();
    assert!(response.suggestions.is_empty() && response.meta.is_none());
    assert_eq!(editor.engine.asked(), 0);
    let response = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap();
    assert_eq!(editor.engine.asked(), 1);
    assert_eq!(
        json!(response),
        json!({"suggestions": [], "_meta": {"nudge": {"reason": "the script says nothing"}}})
    );
    editor.replace(2, (0, 0, 0, 1), "O");
    editor.suggest(editor.ask(2, 0, 1)).unwrap();
    assert_eq!(editor.engine.asked(), 2);
}

#[test]
fn a_document_that_is_too_large_is_not_followed() {
    let editor = Editor::new();
    let large = "x".repeat(17 * 1024 * 1024);
    editor.open(URI, 1, &large);
    let response = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap();
    assert_eq!(json!(response)["_meta"]["nudge"]["reason"], "the document is too large");
    editor.replace(2, (0, 0, 0, 1), "y");
    assert!(editor.suggest(editor.ask(2, 0, 0)).unwrap().suggestions.is_empty());
    editor.change(URI, 3, vec![full("small")]);
    assert_eq!(mirrored(&editor, 3), Ok("small".to_owned()));
    editor.change(URI, 4, vec![piece((0, 0, 0, 0), &large)]);
    assert_eq!(mirrored(&editor, 4), Ok("not asked".to_owned()));
}

#[test]
fn there_is_a_limit_on_what_is_kept() {
    let editor = Editor::new();
    let text = "x".repeat(15 * 1024 * 1024);
    for number in 0..6 {
        editor.open(&format!("file:///w/{number}.rs"), 1, &text);
    }
    editor.open(URI, 1, "here");
    let mut request = manual(editor.ask(1, 0, 0));
    "file:///w/0.rs".clone_into(&mut request.uri);
    assert_eq!(editor.suggest(request).unwrap_err(), "document_out_of_sync", "the oldest was given up");
    assert_eq!(mirrored(&editor, 1), Ok("here".to_owned()));
    assert_eq!(editor.engine.last().others.len(), 4);
    // Also when a document grows.
    for version in 2..9 {
        editor.change(URI, version, vec![piece((0, 0, 0, 0), &"y".repeat(1024 * 1024))]);
    }
    mirrored(&editor, 8).unwrap();
    assert_eq!(editor.engine.last().others.len(), 3);
}

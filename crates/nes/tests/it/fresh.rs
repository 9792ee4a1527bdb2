//! Requests that are superseded, cancelled, or outlive their session.

use nudge_wire::nes::CloseRequest;
use serde_json::json;

use crate::editor::{Editor, URI, edit, manual, name};

const CANCELLED: &str = "-32800";

fn editor() -> Editor {
    let editor = Editor::new();
    editor.open(URI, 1, "one\n");
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "1")])]);
    editor
}

#[test]
fn a_newer_request_supersedes_the_one_that_runs() {
    let editor = editor();
    let older = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    let newer = editor.begin(manual(editor.ask(1, 0, 1))).unwrap();
    assert_eq!(name(&older.run().unwrap_err()), CANCELLED);
    assert!(newer.run().is_ok());
    assert_eq!(editor.engine.asked(), 1, "nobody computes what nobody wants");
}

#[test]
fn so_does_one_that_fails() {
    let editor = editor();
    let older = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    assert!(editor.begin(manual(editor.ask(9, 0, 0))).is_err());
    assert_eq!(name(&older.run().unwrap_err()), CANCELLED);
}

#[test]
fn the_engine_hears_of_it_while_it_works() {
    let editor = std::sync::Arc::new(editor());
    let inner = std::sync::Arc::downgrade(&editor);
    editor.engine.says(move |scene| {
        assert!(!(scene.cancelled)());
        let editor = inner.upgrade().unwrap();
        drop(editor.begin(manual(editor.ask(1, 0, 1))));
        assert!((scene.cancelled)());
        vec![edit(URI, &[(0..3, "1")])]
    });
    assert_eq!(editor.suggest(manual(editor.ask(1, 0, 0))).unwrap_err(), CANCELLED);
}

#[test]
fn other_sessions_go_on() {
    let editor = editor();
    let other = crate::editor::begin(&editor.connection, &json!({}));
    editor.connection.did_open(nudge_wire::document::DidOpen::new(&other, URI, "rust", 1, "x"));
    let first = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    let mut request = manual(editor.ask(1, 0, 0));
    request.session_id = other;
    let second = editor.begin(request).unwrap();
    assert!(first.run().is_ok() && second.run().is_ok());
}

#[test]
fn a_cancelled_request_says_so() {
    let editor = editor();
    let pending = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    pending.canceller().cancel();
    assert_eq!(name(&pending.run().unwrap_err()), CANCELLED);
    assert_eq!(editor.engine.asked(), 0);
    assert!(editor.suggest(manual(editor.ask(1, 0, 0))).is_ok(), "the next one is not");
}

#[test]
fn closing_a_session_cancels_and_forgets_it() {
    let editor = editor();
    let pending = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    let close = CloseRequest::new(&editor.session);
    assert!(editor.connection.close(&close).is_ok());
    assert_eq!(name(&pending.run().unwrap_err()), CANCELLED);
    assert_eq!(name(&editor.connection.close(&close).unwrap_err()), "unknown_session");
    assert_eq!(editor.suggest(manual(editor.ask(1, 0, 0))).unwrap_err(), "unknown_session");
    // Events and feedback that come late do no harm.
    editor.open(URI, 2, "two\n");
    editor.replace(3, (0, 0, 0, 0), "x");
    editor.connection.accept(&editor.session, "s1");
}

#[test]
fn so_does_the_end_of_the_connection() {
    let editor = editor();
    let pending = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    drop(editor.connection);
    assert_eq!(name(&pending.run().unwrap_err()), CANCELLED);
}

#[test]
fn a_snapshot_does_not_change() {
    let editor = editor();
    let pending = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    editor.replace(2, (0, 0, 0, 3), "something else");
    assert!(pending.run().is_ok());
    assert_eq!(editor.engine.last().text, "one\n");
}

#[test]
fn the_number_of_sessions_is_limited() {
    let editor = editor();
    let begin = || editor.connection.start(&nudge_wire::nes::StartRequest::default());
    let started = (0..2000).take_while(|_| begin().is_ok()).count();
    assert_eq!(started, 1023);
    assert_eq!(name(&begin().unwrap_err()), "-32600");
    editor.connection.close(&CloseRequest::new(&editor.session)).unwrap();
    assert!(begin().is_ok());
}

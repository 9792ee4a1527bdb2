//! How much is held of documents, next to their text.

use std::sync::Arc;

use nudge_nes::{NesConnection, NesEngine, NesOptions, NesService, Scene, SuggestOutcome};
use nudge_syntax::{AnalysedDocument, HeldBytes};
use nudge_wire::{
    Version,
    document::{DidClose, DidOpen},
    nes::v1::{Position, SuggestRequest, TriggerKind},
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::editor::{attach, begin, client};

/// An engine that finds out all there is to find out about every document it sees.
#[derive(Default)]
struct Curious {
    /// Whether there was a syntax tree of the document, and of how many others.
    saw: Mutex<(bool, usize)>,
}

impl NesEngine for Curious {
    fn name(&self) -> &'static str {
        "curious"
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        let has_tree =
            |source: &&AnalysedDocument| !source.content().is_empty() && source.is_sound().is_some();
        let others = scene.others.iter().filter(has_tree).count();
        *self.saw.lock() = (has_tree(&scene.source), others);
        SuggestOutcome { suggestions: Vec::new(), why_nothing: "it only looks" }
    }
}

struct Editor {
    connection: NesConnection,
    engine: Arc<Curious>,
    session: String,
}

impl Editor {
    fn new() -> Self {
        let engine = Arc::new(Curious::default());
        let service =
            NesService::new(NesOptions { engine: engine.clone(), index: false, ..NesOptions::default() });
        let connection = service.connect(&client(Version::V1, &json!({})));
        let session = begin(&connection, &json!({}));
        Self { connection, engine, session }
    }

    fn open(&self, number: usize, text: &str) {
        self.connection.did_open(DidOpen::new(&self.session, uri(number), "rust", 1, text));
    }

    /// Asks about a document; what is then held, and what the engine saw.
    fn ask(&self, number: usize, context: &Value) -> (HeldBytes, (bool, usize)) {
        let at = Position::new(0, 0);
        let request = SuggestRequest::new(&self.session, uri(number), 1, at, TriggerKind::Manual);
        self.connection.suggest(attach(request, context), 0).unwrap().run().unwrap();
        (self.connection.held(&self.session), *self.engine.saw.lock())
    }
}

fn uri(number: usize) -> String {
    format!("file:///w/{number}.rs")
}

/// Something that has a tree, a small one.
fn text(length: usize) -> String {
    format!("/*{}*/\nfn main() {{}}\n", "x".repeat(length))
}

const LIMIT: usize = 8 * 1024 * 1024;
const LONG: usize = 900 * 1024;

#[test]
fn trees_are_kept_of_the_documents_used_last() {
    let editor = Editor::new();
    let text = text(LONG);
    let fitting = LIMIT / text.len();
    for number in 0..30 {
        editor.open(number, &text);
        let (held, saw) = editor.ask(number, &json!({}));
        assert_eq!(held.trees, text.len() * fitting.min(number + 1), "document {number}");
        assert_eq!(saw, (true, (fitting - 1).min(number)), "document {number}");
    }
    // Whichever is asked about has one, however long ago it was used.
    let (held, saw) = editor.ask(0, &json!({}));
    assert_eq!((held.trees, saw), (text.len() * fitting, (true, fitting - 1)));
}

#[test]
fn trees_come_back_when_there_is_room() {
    let editor = Editor::new();
    let text = text(LONG);
    let fitting = LIMIT / text.len();
    let all = fitting + 3;
    for number in 0..all {
        editor.open(number, &text);
    }
    assert_eq!(editor.ask(0, &json!({})).1, (true, fitting - 1));
    for number in fitting..all {
        editor.connection.did_close(&DidClose::new(&editor.session, uri(number)));
    }
    let (held, saw) = editor.ask(0, &json!({}));
    assert_eq!((held.trees, saw), (text.len() * fitting, (true, fitting - 1)));
    for number in 0..fitting {
        editor.connection.did_close(&DidClose::new(&editor.session, uri(number)));
    }
    assert_eq!(editor.connection.held(&editor.session), HeldBytes::default());
}

#[test]
fn nothing_is_held_of_documents_that_are_not_looked_at() {
    let editor = Editor::new();
    let text = text(400 * 1024);
    // One that is asked about and 32 others.
    for number in 0..60 {
        editor.open(number, &text);
        let (held, _) = editor.ask(number, &json!({}));
        assert!(held.contents <= 33 * text.len(), "{} bytes", held.contents);
        assert!(held.trees <= LIMIT, "{} bytes", held.trees);
    }
}

#[test]
fn files_that_come_with_a_question_count_as_well() {
    let editor = Editor::new();
    let text = text(LONG);
    let fitting = LIMIT / text.len();
    editor.open(0, &text);
    for number in 1..40 {
        let files: Vec<Value> = (number..number + 2)
            .map(|number| json!({"uri": uri(number), "languageId": "rust", "text": text}))
            .collect();
        let (held, saw) = editor.ask(0, &json!({"recentFiles": files}));
        assert!(held.trees <= LIMIT, "{} bytes", held.trees);
        assert_eq!(saw, (true, 2));
    }
    let files: Vec<Value> =
        (0..14).map(|number| json!({"uri": uri(number), "languageId": "rust", "text": text})).collect();
    let (held, saw) = editor.ask(0, &json!({"recentFiles": files}));
    assert_eq!((held.trees, saw), (text.len() * fitting, (true, fitting - 1)));
}

#[test]
fn a_document_that_is_too_long_for_a_tree_is_looked_at_without() {
    let editor = Editor::new();
    for number in 0..40 {
        editor.open(number, &text(1024 * 1024));
    }
    editor.open(40, &text(100));
    let (held, saw) = editor.ask(0, &json!({}));
    assert_eq!(saw, (false, 1), "the short one has a tree");
    assert_eq!(held.trees, text(100).len());
}

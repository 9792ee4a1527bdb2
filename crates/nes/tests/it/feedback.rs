//! What is learned from what became of suggestions, and where it is kept.

use std::{fs, path::Path, sync::Arc};

use nudge_nes::{LocalEngine, NesEngine, NesOptions, NesService};
use nudge_predict::{Scene, SuggestOutcome, SuggestionKind};
use nudge_wire::{
    Version,
    document::DidClose,
    nes::{RejectReason, v1::SuggestResponse},
};
use serde_json::json;

use crate::editor::{Editor, URI, begin, client, edit, full, manual, name, piece, rename, suggestion};

/// How much the engine is told to trust the kind of suggestion that the tests make.
fn confidence(editor: &Editor) -> f32 {
    let told = Arc::new(parking_lot::Mutex::new(0.0));
    let seen = Arc::clone(&told);
    editor.engine.says(move |scene| {
        let suggestion = edit(URI, &[(0..3, "1")]);
        *seen.lock() = scene.memory.weights().confidence(suggestion.features);
        vec![suggestion]
    });
    editor.suggest(manual(editor.ask(1, 0, 0))).unwrap();
    *told.lock()
}

fn editor_with(options: NesOptions, start: &serde_json::Value) -> Editor {
    let editor = Editor::with_options(&json!({}), start, NesOptions { index: false, ..options });
    editor.open(URI, 1, "one\n");
    editor
}

fn editor() -> Editor {
    editor_with(NesOptions::default(), &json!({}))
}

/// Shows a suggestion and gives this feedback.
fn feedback(editor: &Editor, reason: Option<RejectReason>) {
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "1")])]);
    let shown = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions;
    match reason {
        None => editor.connection.accept(&editor.session, shown[0].id()),
        Some(reason) => editor.connection.reject(&editor.session, shown[0].id(), Some(&reason)),
    }
}

#[test]
fn feedback_moves_the_trust() {
    let moved = |reason: Option<RejectReason>| {
        let editor = editor();
        let before = confidence(&editor);
        feedback(&editor, reason);
        confidence(&editor) - before
    };
    assert!(moved(None) > 0.0);
    let (rejected, ignored) = (moved(Some(RejectReason::Rejected)), moved(Some(RejectReason::Ignored)));
    assert!(rejected < ignored && ignored < 0.0, "{rejected} {ignored}");
    for reason in [RejectReason::Replaced, RejectReason::Cancelled, RejectReason::Other("bored".to_owned())] {
        assert!(moved(Some(reason)).abs() < f32::EPSILON);
    }
}

#[test]
fn what_was_rejected_does_not_come_back() {
    let editor = editor();
    feedback(&editor, Some(RejectReason::Rejected));
    // The engine filters what it is told of; here one that does not.
    assert!(editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions.is_empty());
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "2")])]);
    assert_eq!(editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions.len(), 1);
}

/// What the engine says after this was refused and the document then changed; each place is found by its text.
fn after_rejection(change: impl Fn(&Editor), text: &'static str) -> usize {
    let editor = Editor::new();
    editor.open(URI, 1, "use(x);\nshow(old);\nend();\n");
    editor.engine.says(|_| vec![edit(URI, &[(13..16, "new")])]);
    let shown = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions;
    editor.connection.reject(&editor.session, shown[0].id(), None);
    change(&editor);
    editor.engine.says(move |scene| {
        let at = scene.source.content().find(text).expect("the place is there") + text.find("old").unwrap();
        vec![edit(URI, &[(at..at + 3, "new")])]
    });
    editor.suggest(manual(editor.ask(2, 0, 0))).unwrap().suggestions.len()
}

#[test]
fn what_was_rejected_does_not_come_back_whatever_happens_around_it() {
    type Change = fn(&Editor);
    let changes: [(&str, Change); 6] = [
        ("the line above", |editor| editor.replace(2, (0, 4, 0, 5), "y")),
        ("a line above", |editor| editor.replace(2, (0, 0, 0, 0), "fn a() {}\n")),
        ("the same line", |editor| editor.replace(2, (1, 9, 1, 9), " // note")),
        ("all of the text", |editor| {
            editor.change(URI, 2, vec![full("// top\nuse(y);\nshow(old);\nend();\n")]);
        }),
        ("all of the text by a range", |editor| {
            editor.change(URI, 2, vec![piece((0, 0, 3, 0), "use(y);\nshow(old, 1);\nend();\n")]);
        }),
        ("closed and opened", |editor| {
            editor.connection.did_close(&DidClose::new(&editor.session, URI));
            editor.open(URI, 2, "use(y);\n\nshow(old);\nend();\n");
        }),
    ];
    for (what, change) in changes {
        assert_eq!(after_rejection(change, "show(old"), 0, "{what}");
    }
    // The same line is put above or below it: which one was refused is known.
    let copy = |editor: &Editor| editor.replace(2, (1, 0, 1, 0), "show(old);\n");
    assert_eq!(after_rejection(copy, "show(old);\nshow"), 1);
    assert_eq!(after_rejection(copy, "show(old);\nend"), 0);
    let copy = |editor: &Editor| editor.replace(2, (2, 0, 2, 0), "show(old);\n");
    assert_eq!(after_rejection(copy, "show(old);\nshow"), 0);
    assert_eq!(after_rejection(copy, "show(old);\nend"), 1);
}

#[test]
fn what_is_rejected_late_is_found_where_it_is_by_then() {
    let editor = editor();
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "1")])]);
    let shown = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions;
    editor.replace(2, (0, 0, 0, 0), "zero\n");
    editor.connection.reject(&editor.session, shown[0].id(), None);
    editor.engine.says(|_| vec![edit(URI, &[(5..8, "1")])]);
    assert!(editor.suggest(manual(editor.ask(2, 0, 0))).unwrap().suggestions.is_empty());
}

/// Of several that are shown one is refused: what does the same goes with it.
#[test]
fn what_does_the_same_as_what_was_rejected_is_not_shown_any_more() {
    let editor = Editor::with(&json!({"nes": {"searchAndReplace": {}, "rename": {}}}), &json!({}));
    editor.open(URI, 1, "one\ntwo\n");
    let replace = |search: &str| SuggestionKind::Replace {
        uri: URI.into(),
        search: search.to_owned(),
        replace: "1".to_owned(),
        regex: false,
    };
    editor.engine.says(move |_| {
        vec![
            edit(URI, &[(0..3, "1")]),
            suggestion(replace("one")),
            rename(1, "1", Vec::new()),
            suggestion(replace("two")),
        ]
    });
    let shown = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions;
    assert_eq!(shown.len(), 4);
    editor.connection.reject(&editor.session, shown[0].id(), None);
    assert_eq!(editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions, shown[3..]);
}

#[test]
fn what_was_rejected_while_another_answer_was_on_its_way_does_not_come_back_with_it() {
    let editor = editor();
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "1")])]);
    let shown = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions;
    let pending = editor.begin(manual(editor.ask(1, 0, 0))).unwrap();
    editor.connection.reject(&editor.session, shown[0].id(), None);
    let answer = SuggestResponse::from(pending.run().unwrap());
    assert!(answer.suggestions.is_empty());
}

#[test]
fn only_the_last_suggestions_are_remembered_and_unknown_ones_ignored() {
    let editor = editor();
    let before = confidence(&editor);
    for id in ["", "s0", "s999", "nonsense"] {
        editor.connection.accept(&editor.session, id);
        editor.connection.reject(&editor.session, id, None);
    }
    editor.connection.accept("nobody", "s1");
    assert!((confidence(&editor) - before).abs() < f32::EPSILON);
    for version in 2..300 {
        editor.replace(version, (0, 3, 0, 3), "x");
        assert_eq!(editor.suggest(manual(editor.ask(version, 0, 0))).unwrap().suggestions.len(), 1);
    }
    editor.connection.accept(&editor.session, "s1");
    editor.open(URI, 1, "one\n");
    assert!((confidence(&editor) - before).abs() < f32::EPSILON, "the first is forgotten");
}

#[test]
fn a_suggestion_is_judged_once() {
    let once = editor();
    feedback(&once, None);
    let twice = editor();
    twice.engine.says(|_| vec![edit(URI, &[(0..3, "1")])]);
    let shown = twice.suggest(manual(twice.ask(1, 0, 0))).unwrap().suggestions;
    // What teaches nothing does not count as a judgement.
    twice.connection.reject(&twice.session, shown[0].id(), Some(&RejectReason::Replaced));
    twice.connection.accept(&twice.session, shown[0].id());
    twice.connection.accept(&twice.session, shown[0].id());
    twice.connection.reject(&twice.session, shown[0].id(), None);
    assert!((confidence(&once) - confidence(&twice)).abs() < f32::EPSILON);
}

#[test]
fn sessions_in_one_workspace_learn_together() {
    let editor = editor_with(NesOptions::default(), &repository("w"));
    let same = begin(&editor.connection, &repository("w"));
    let elsewhere = begin(&editor.connection, &repository("other"));
    let told = Arc::new(parking_lot::Mutex::new(0.0));
    let trust = |session: &str| {
        let heard = Arc::clone(&told);
        editor.engine.says(move |scene| {
            let features = edit(URI, &[(0..3, "1")]).features;
            *heard.lock() = scene.memory.weights().confidence(features);
            Vec::new()
        });
        editor.connection.did_open(nudge_wire::document::DidOpen::new(session, URI, "rust", 1, "one\n"));
        let mut request = manual(editor.ask(1, 0, 0));
        session.clone_into(&mut request.session_id);
        editor.suggest(request).unwrap();
        *told.lock()
    };
    let before = trust(&same);
    feedback(&editor, None);
    let after = trust(&same);
    assert!(after > before);
    // What one has learned is not lost when another learns that has not looked since.
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "1")])]);
    let shown = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap().suggestions;
    let mut request = manual(editor.ask(1, 0, 0));
    same.clone_into(&mut request.session_id);
    let others = editor.suggest(request).unwrap().suggestions;
    editor.connection.accept(&editor.session, shown[0].id());
    let more = trust(&elsewhere_in("w", &editor));
    editor.connection.accept(&same, others[0].id());
    assert!(more > after && trust(&elsewhere_in("w", &editor)) > more);
    assert!((trust(&elsewhere) - before).abs() < f32::EPSILON);
}

/// Another new session in this workspace.
fn elsewhere_in(name: &str, editor: &Editor) -> String {
    begin(&editor.connection, &repository(name))
}

fn repository(name: &str) -> serde_json::Value {
    let url = format!("https://git.example.org/o/{name}.git");
    json!({"repository": {"name": name, "owner": "o", "remoteUrl": url}})
}

fn kept_in(folder: &Path) -> NesOptions {
    NesOptions { data_dir: Some(folder.to_owned()), ..NesOptions::default() }
}

#[test]
fn what_was_learned_is_there_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = editor_with(kept_in(folder.path()), &repository("w"));
    let before = confidence(&first);
    for _ in 0..3 {
        feedback(&first, None);
    }
    let learned = confidence(&first);
    drop(first);
    assert!(learned > before);
    let again = editor_with(kept_in(folder.path()), &repository("w"));
    assert!((confidence(&again) - learned).abs() < 1e-6);
    let other = editor_with(kept_in(folder.path()), &repository("other"));
    assert!((confidence(&other) - before).abs() < f32::EPSILON);
    let names: Vec<String> = fs::read_dir(folder.path().join("nes"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 1, "one file for each workspace, and no remains: {names:?}");
}

#[test]
fn closing_a_session_writes_what_was_learned() {
    let folder = tempfile::tempdir().unwrap();
    let editor = editor_with(kept_in(folder.path()), &repository("w"));
    let file = || fs::read_dir(folder.path().join("nes")).unwrap().next().unwrap().unwrap().path();
    feedback(&editor, None);
    let first = fs::read_to_string(file()).unwrap();
    feedback(&editor, None);
    assert_eq!(fs::read_to_string(file()).unwrap(), first, "not after every word");
    editor.connection.close(&nudge_wire::nes::CloseRequest::new(&editor.session)).unwrap();
    assert_ne!(fs::read_to_string(file()).unwrap(), first);
}

#[test]
fn a_file_that_cannot_be_used_is_set_aside() {
    for content in ["", "{", "[]", r#"{"form":99,"weights":{}}"#, r#"{"form":1,"weights":{"repeat":"x"}}"#] {
        let folder = tempfile::tempdir().unwrap();
        let editor = editor_with(kept_in(folder.path()), &repository("w"));
        let fresh = confidence(&editor);
        feedback(&editor, None);
        drop(editor);
        let file = fs::read_dir(folder.path().join("nes")).unwrap().next().unwrap().unwrap().path();
        fs::write(&file, content).unwrap();
        let editor = editor_with(kept_in(folder.path()), &repository("w"));
        assert!((confidence(&editor) - fresh).abs() < f32::EPSILON, "{content}");
        assert_eq!(fs::read_to_string(file.with_extension("json.bad")).unwrap(), content);
        feedback(&editor, None);
        drop(editor);
        assert!(fs::read_to_string(&file).unwrap().contains("repeat"));
    }
}

#[test]
fn wild_numbers_in_a_file_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let editor = editor_with(kept_in(folder.path()), &repository("w"));
    feedback(&editor, None);
    drop(editor);
    let file = fs::read_dir(folder.path().join("nes")).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, r#"{"form":1,"weights":{"repeat":1e30,"repeat rust":-1e30,"nobody":1}}"#).unwrap();
    let editor = editor_with(kept_in(folder.path()), &repository("w"));
    assert!((0.0..=1.0).contains(&confidence(&editor)));
}

#[test]
fn a_folder_that_cannot_be_written_to_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let editor = editor_with(kept_in(&file), &json!({}));
    feedback(&editor, None);
    assert!(editor.suggest(manual(editor.ask(1, 0, 0))).is_ok());
}

/// An engine for which one has to sign in.
struct Locked(std::sync::atomic::AtomicBool);

impl NesEngine for Locked {
    fn name(&self) -> &'static str {
        "locked"
    }

    fn needs_auth(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        LocalEngine.suggest(scene)
    }
}

#[test]
fn an_engine_without_credentials_asks_for_them() {
    let engine = Arc::new(Locked(true.into()));
    let service =
        NesService::new(NesOptions { engine: engine.clone(), index: false, ..NesOptions::default() });
    let connection = service.connect(&client(Version::V1, &json!({})));
    let start = nudge_wire::nes::StartRequest::default();
    let refused = connection.start(&start).unwrap_err();
    assert_eq!((refused.code.0, name(&refused).as_str()), (-32000, "auth_required"));
    engine.0.store(false, std::sync::atomic::Ordering::Relaxed);
    assert!(connection.start(&start).is_ok());
}

//! Workspaces that somebody has made to be in the way, or simply many of them.

use std::{fs, path::Path};

use nudge_testkit::{eventually, peak_memory};
use serde_json::{Value, json};

use super::{Editor, URI, position};

fn start(folder: &Path) -> Value {
    json!({"workspaceUri": format!("file://{}", folder.display())})
}

/// What the user is told who asks by hand.
fn told(editor: &mut Editor, member: &str) -> Option<String> {
    editor.open(URI, 1, "fn a() {}\n");
    let mut ask = editor.ask(URI, 1, &position(0, 0));
    ask["triggerKind"] = json!("manual");
    let answer = editor.request("nes/suggest", &ask);
    answer["result"]["_meta"]["nudge"][member].as_str().map(str::to_owned)
}

/// To take such a pattern apart takes the stack of the whole program.
#[test]
fn a_pattern_that_is_nested_without_end_does_not_end_the_program() {
    for name in [".gitignore", ".ignore", ".git/info/exclude"] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/info")).unwrap();
        let nested = format!("{}a{}\n", "{".repeat(30_000), "}".repeat(30_000));
        fs::write(folder.path().join(name), nested).unwrap();
        fs::write(folder.path().join("a.rs"), "fn a() {}\n").unwrap();
        let mut editor = Editor::with(1, &json!({}), &start(folder.path()));
        let mut not_read = None;
        eventually("the workspace is read", || {
            not_read = told(&mut editor, "notRead");
            not_read.is_some()
        });
        assert!(not_read.as_ref().is_some_and(|told| told.contains("1 ignore patterns")), "{not_read:?}");
        editor.finish();
    }
}

#[test]
fn of_an_ignore_file_with_too_many_patterns_the_rest_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let patterns =
        (0..100_000).map(|number| format!("/a{number}*/**/b{number}[0-9].o\n")).collect::<Vec<_>>().concat();
    fs::write(folder.path().join(".gitignore"), patterns).unwrap();
    fs::write(folder.path().join("a.rs"), "fn a() {}\n").unwrap();
    let mut editor = Editor::with(1, &json!({}), &start(folder.path()));
    let mut not_read = None;
    eventually("the workspace is read", || {
        not_read = told(&mut editor, "notRead");
        not_read.is_some()
    });
    assert!(not_read.as_ref().is_some_and(|told| told.contains("1 ignore files")), "{not_read:?}");
    if let Some(peak) = peak_memory(editor.process.id()) {
        assert!(peak < 150 << 20, "{} MB", peak >> 20);
    }
    let log = editor.finish();
    assert_eq!(log.matches("not all of the workspace is read").count(), 1, "{log}");
}

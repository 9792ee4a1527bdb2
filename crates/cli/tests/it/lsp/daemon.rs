//! `nudge lsp` and the daemon, which may go away at any time.

use std::{os::unix::net::UnixStream, path::Path, process::Command, time::Instant};

use nudge_testkit::PATIENCE;
use serde_json::json;
use tempfile::TempDir;

use super::{Editor, FILE, USES, places};

/// A data folder with a daemon of its own.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self) -> &str {
        self.0.path().to_str().expect("its name is text")
    }

    fn editor(&self) -> Editor {
        let mut editor = Editor::start_with(&[], &[("NUDGE_DATA", self.path()), ("NUDGE_LINGER", "5")]);
        editor.initialize(&json!({ "initializationOptions": { "status": true } }));
        editor
    }

    /// The process of the daemon, by the credentials of its socket.
    fn daemon(&self) -> String {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder is there").flatten();
        let is_socket = |path: &Path| path.extension().is_some_and(|extension| extension == "sock");
        let socket =
            entries.map(|entry| entry.path()).find(|path| is_socket(path)).expect("the daemon listens");
        let stream = UnixStream::connect(socket).expect("the daemon listens");
        let peer = rustix::net::sockopt::socket_peercred(&stream).expect("it is a socket");
        peer.pid.as_raw_nonzero().to_string()
    }

    fn kill(&self) {
        let killed = Command::new("kill").args(["-9", &self.daemon()]).status().unwrap();
        assert!(killed.success());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = Command::new(env!("CARGO_BIN_EXE_nudge")).args(["stop", "--data", self.path()]).output();
    }
}

#[test]
fn the_daemon_is_started_and_shared() {
    let place = Place::new();
    let (mut first, mut second) = (place.editor(), place.editor());
    for editor in [&mut first, &mut second] {
        editor.rename();
        assert_eq!(places(&editor.suggest(1, 11)["suggestions"][0]), USES);
    }
    assert!(first.leave().success());
    assert!(second.leave().success());
}

#[test]
fn typing_goes_on_when_the_daemon_is_killed() {
    let place = Place::new();
    let mut editor = place.editor();
    editor.rename();
    let first = editor.suggest(1, 11);
    assert_eq!(places(&first["suggestions"][0]), USES);
    editor.change(1, 11..11, "m");
    place.kill();
    editor.change(1, 12..12, "e");
    // Who types is answered at once, whether the daemon is there or not.
    let document = json!({ "uri": FILE, "version": editor.version });
    let position = json!({ "line": 1, "character": 13 });
    let params = json!({ "textDocument": document, "position": position });
    let begun = Instant::now();
    let meanwhile = editor.result("nudge/suggest", &params);
    assert!(begun.elapsed() < PATIENCE / 10, "{meanwhile}");
    let after = editor.suggest(1, 13);
    let all = after["suggestions"].as_array().unwrap();
    assert_eq!(all.len(), 1, "nothing twice: {after}");
    let summe = USES.map(|(line, character, _)| (line, character, "summe"));
    assert_eq!(places(&all[0]), summe, "the new daemon knows the text and what was done to it");
    assert_ne!(all[0]["id"], first["suggestions"][0]["id"], "an id means one suggestion only");
    let states: Vec<_> = editor.seen.iter().map(|seen| seen["params"]["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["connecting", "ready", "connecting", "ready"]);
}

#[test]
fn what_was_rejected_stays_away_from_a_new_daemon_too() {
    let place = Place::new();
    let mut editor = place.editor();
    editor.rename();
    let id = editor.suggest(1, 11)["suggestions"][0]["id"].clone();
    editor.note("nudge/reject", &json!({ "id": id, "reason": "rejected" }));
    assert_eq!(editor.suggest(1, 11)["suggestions"], json!([]));
    place.kill();
    wait_for_new_line(&mut editor);
    assert_eq!(editor.suggest(1, 11)["suggestions"], json!([]));
    // What is said of a suggestion of the old daemon does not reach another one's.
    editor.note("nudge/accept", &json!({ "id": id }));
    assert!(editor.leave().success());
}

/// Waits until the server has said that the line is there a second time.
fn wait_for_new_line(editor: &mut Editor) {
    let is_ready = |seen: &&serde_json::Value| seen["params"]["state"] == "ready";
    while editor.seen.iter().filter(is_ready).count() < 2 {
        let message = editor.next().expect("the server goes on");
        editor.seen.push(message);
    }
}

#[test]
fn without_a_daemon_it_says_why_and_does_not_hold_the_editor_up() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let data = file.join("data");
    let mut editor = Editor::start_with(&[], &[("NUDGE_DATA", data.to_str().unwrap())]);
    editor.initialize(&json!({ "initializationOptions": { "status": true } }));
    editor.rename();
    let answer = editor.suggest(1, 11);
    assert_eq!(answer["suggestions"], json!([]));
    assert!(answer["why"].as_str().unwrap().contains("daemon"), "{answer}");
    assert!(editor.leave().success());
}

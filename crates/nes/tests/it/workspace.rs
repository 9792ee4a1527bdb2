//! The index of a workspace, made in the background.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use nudge_nes::NesOptions;
use nudge_wire::{document::DidSave, nes::CloseRequest};
use serde_json::json;

use crate::editor::{Editor, URI, begin, manual};

fn workspace(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn start(folder: &Path) -> serde_json::Value {
    json!({"workspaceUri": format!("file://{}", folder.display())})
}

/// Asks until the engine sees this many files.
fn sees(editor: &Editor, session: &str, files: usize) {
    let began = Instant::now();
    loop {
        editor.connection.did_open(nudge_wire::document::DidOpen::new(session, URI, "rust", 1, "x"));
        let mut request = manual(editor.ask(1, 0, 0));
        session.clone_into(&mut request.session_id);
        editor.suggest(request).unwrap();
        if editor.engine.last().files == files {
            return;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{} files", editor.engine.last().files);
        std::thread::yield_now();
    }
}

#[test]
fn files_are_read_in_the_background() {
    let long = vec![b'x'; 1024 * 1024 + 1];
    let folder = workspace(&[
        ("src/a.rs", b"fn a() {}\n"),
        ("src/b.py", b"def b(): pass\n"),
        (".gitignore", b"target/\n"),
        ("target/c.rs", b"fn c() {}\n"),
        (".hidden/d.rs", b"fn d() {}\n"),
        ("binary", b"\0\x01\x02"),
        ("latin", b"caf\xe9"),
        ("long.txt", &long),
    ]);
    let editor = Editor::with_options(&json!({}), &start(folder.path()), NesOptions::default());
    sees(&editor, &editor.session, 2);
    // A file that is saved is read, be it new, changed or gone.
    let save = |name: &str| {
        let uri = format!("file://{}", folder.path().join(name).display());
        editor.connection.did_save(DidSave::new(&editor.session, uri));
    };
    fs::write(folder.path().join("src/e.rs"), "fn e() {}\n").unwrap();
    save("src/e.rs");
    sees(&editor, &editor.session, 3);
    fs::remove_file(folder.path().join("src/a.rs")).unwrap();
    save("src/a.rs");
    sees(&editor, &editor.session, 2);
    save("../outside.rs");
    sees(&editor, &editor.session, 2);
}

#[test]
fn sessions_in_the_same_folder_share_it() {
    let folder = workspace(&[("a.rs", b"fn a() {}\n")]);
    let editor = Editor::with_options(&json!({}), &start(folder.path()), NesOptions::default());
    sees(&editor, &editor.session, 1);
    // Shared: the new session sees what is not there any more.
    fs::remove_file(folder.path().join("a.rs")).unwrap();
    let second = begin(&editor.connection, &start(folder.path()));
    sees(&editor, &second, 1);
    let close = |session: &str| editor.connection.close(&CloseRequest::new(session)).unwrap();
    close(&second);
    close(&editor.session);
    // Nobody used it any more, so it is made anew.
    let third = begin(&editor.connection, &start(folder.path()));
    sees(&editor, &third, 0);
}

#[test]
fn without_folders_or_when_it_is_not_wanted_nothing_is_read() {
    let folder = workspace(&[("a.rs", b"fn a() {}\n")]);
    let without = NesOptions { index: false, ..NesOptions::default() };
    let editor = Editor::with_options(&json!({}), &start(folder.path()), without);
    sees(&editor, &editor.session, 0);
    let editor =
        Editor::with_options(&json!({}), &json!({"workspaceUri": "file:///no/such"}), NesOptions::default());
    sees(&editor, &editor.session, 0);
}

/// A workspace that takes longer to read than a question to answer.
#[test]
fn no_suggestion_waits_for_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..FILES {
        fs::write(folder.path().join(format!("{number}.rs")), "fn a(b: u8) -> u8 { b }\n".repeat(4)).unwrap();
    }
    // Somebody may stop this thread until all is read, but not every time.
    let early = (0..100).map(|_| {
        let editor = Editor::with_options(&json!({}), &start(folder.path()), NesOptions::default());
        editor.open(URI, 1, "x\n");
        editor.suggest(manual(editor.ask(1, 0, 1))).unwrap();
        editor
    });
    let editor =
        early.into_iter().find(|editor| editor.engine.last().files < FILES).expect("one is answered before");
    #[cfg(target_os = "linux")]
    steps_back();
    sees(&editor, &editor.session, FILES);
}

const FILES: usize = 60;

/// What was left out, as a user is told who asks.
fn not_read(editor: &Editor) -> String {
    editor.connection.did_open(nudge_wire::document::DidOpen::new(&editor.session, URI, "rust", 1, "x"));
    let answer = editor.suggest(manual(editor.ask(1, 0, 0))).unwrap();
    let said = answer.meta.as_ref().and_then(|meta| meta.get("nudge")?.get("notRead")?.as_str());
    said.unwrap_or_default().to_owned()
}

#[test]
fn what_is_in_the_way_is_left_out_and_told() {
    let many = (0..5000).map(|number| format!("/name{number}/*.o\n")).collect::<Vec<_>>().concat();
    let folder = workspace(&[
        ("a.rs", b"fn a() {}\n"),
        (".gitignore", many.as_bytes()),
        ("piped/b.rs", b"fn b() {}\n"),
        ("ignored/c.rs", b"fn c() {}\n"),
        ("ignored/.gitignore", b"*.rs\n!d.rs\n"),
        ("ignored/d.rs", b"fn d() {}\n"),
        ("ignored/deeper/c.rs", b"fn c() {}\n"),
    ]);
    let at = |name: &str| folder.path().join(name);
    for pipe in ["pipe.rs", "piped/.gitignore"] {
        assert!(std::process::Command::new("mkfifo").arg(at(pipe)).status().unwrap().success());
    }
    let socket = std::os::unix::net::UnixListener::bind(at("socket.rs")).unwrap();
    for (link, target) in
        [("piped/loop", ".."), ("self", "self"), ("link.rs", "a.rs"), ("zero.rs", "/dev/zero")]
    {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
    }
    fs::File::create(at("long.rs")).unwrap().set_len(1 << 30).unwrap();
    let mut deep = at("deep");
    for _ in 0..80 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("e.rs"), "fn e() {}\n").unwrap();
    let editor = Editor::with_options(&json!({}), &start(folder.path()), NesOptions::default());
    sees(&editor, &editor.session, 3);
    let began = Instant::now();
    while not_read(&editor).is_empty() {
        assert!(began.elapsed() < Duration::from_mins(1));
        std::thread::yield_now();
    }
    let told = not_read(&editor);
    for part in ["2 ignore files", "2 pipes", "1 folders", "1 files that are too long"] {
        assert!(told.contains(part), "{told}");
    }
    drop(socket);
}

/// Every thread that reads a workspace lets all others go first.
#[cfg(target_os = "linux")]
fn steps_back() {
    let nice = |task: fs::DirEntry| -> Option<i32> {
        // A thread may end while it is looked at.
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        let stat = fs::read_to_string(task.path().join("stat")).ok()?;
        let (_, behind_name) = stat.rsplit_once(") ")?;
        (name.trim() == "nes-index").then(|| behind_name.split(' ').nth(16)?.parse().ok()).flatten()
    };
    let began = Instant::now();
    loop {
        let found: Vec<i32> = fs::read_dir("/proc/self/task").unwrap().flatten().filter_map(nice).collect();
        if !found.is_empty() && found.iter().all(|nice| *nice == 10) {
            return;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{found:?}");
        std::thread::yield_now();
    }
}

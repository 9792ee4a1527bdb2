//! Emacs with eglot, which has nothing but standard LSP.

mod screen;

use std::{fs, process::Command};

use crate::programs::{end_all, installed, nudge, package};

const BEFORE: &str = "def add(items):\n    total = 0\n    for item in items:\n        total += item\n    print(\"🙂\", total)\n    return total\n";

/// Runs `eglot.el` on a file with this text; what Emacs said and the text afterwards.
fn run(text: &str, name: &str) -> Option<(String, String)> {
    let emacs = installed("emacs")?;
    let dir = tempfile::tempdir().expect("a temporary folder");
    // A folder with this in it is a project.
    fs::create_dir(dir.path().join(".git")).expect("the folder can be written");
    let file = dir.path().join(name);
    fs::write(&file, text).expect("the folder can be written");
    let program = package().join("tests/it/emacs/eglot.el");
    let ran = Command::new(emacs)
        .args(["-Q", "--batch", "-l"])
        .arg(program)
        .env("HOME", dir.path())
        .env("NUDGE_DATA", dir.path().join("data"))
        .env("NUDGE_TEST_FILE", &file)
        .env("NUDGE_TEST_BIN", nudge())
        .output()
        .expect("Emacs runs");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    end_all(&dir.path().join("data"));
    assert!(ran.status.success(), "{said}");
    Some((said, fs::read_to_string(file).expect("the file is there")))
}

#[test]
fn eglot_starts_it_and_applies_the_next_edit() {
    for text in [BEFORE.to_owned(), BEFORE.replace('\n', "\r\n")] {
        let Some((said, after)) = run(&text, "sum.py") else { return };
        assert!(said.contains("Connected! Server `nudge' now managing"), "{said}");
        assert!(said.contains("encoding: \"utf-32\""), "{said}");
        assert!(
            said.contains("action: \"Apply next edit: renames 3 uses of `total` on lines 4 to 6\""),
            "{said}"
        );
        assert!(said.contains("left: 0"), "the renamed text gets no more of it: {said}");
        assert_eq!(after, text.replace("total", "summe"));
        assert!(said.contains("Server exited with status 0"), "{said}");
    }
}

//! Kakoune with kakoune-lsp in a terminal, set up as `editors/README.md` says.
//!
//! kakoune-lsp takes minutes to build: a variable of the environment names the program.

use nudge_testkit::Terminal;
use std::{fs, time::Duration};

use portable_pty::CommandBuilder;
use tempfile::TempDir;

use crate::programs::{end_all, given, installed, path_with_nudge, snippet};

const PROGRAM: &str = "def add(items):\n    total = 0\n    for item in items:\n        total += item\n    print(\"🙂\", total)\n    return total\n";

const ROWS: u16 = 24;
const COLS: u16 = 140;

/// What kakoune-lsp says when no server offers anything.
const NONE: &str = "no actions available";

/// After this long one asks again.
const AGAIN: Duration = Duration::from_secs(3);

/// Kakoune with a file.
struct Kakoune {
    terminal: Terminal,
    dir: TempDir,
}

impl Kakoune {
    /// Opens the last of these files, which all lie in one folder, and waits until the server has them all.
    fn open(files: &[(&str, &str)]) -> Option<Self> {
        let program = installed("kak")?;
        let lsp = given("NUDGE_TEST_KAK_LSP", "the program kak-lsp of kakoune-lsp")?;
        let dir = tempfile::tempdir().expect("a temporary folder");
        for folder in ["config", "run", "work/.git"] {
            fs::create_dir_all(dir.path().join(folder)).expect("the folder can be written");
        }
        let config = dir.path().join("config");
        fs::write(config.join("kakrc"), snippet("Kakoune", "kak")).expect("the folder can be written");
        for (name, text) in files {
            fs::write(dir.path().join("work").join(name), text).expect("the folder can be written");
        }
        let mut command = CommandBuilder::new(&program);
        command.cwd(dir.path().join("work"));
        command.env("HOME", dir.path());
        command.env("KAKOUNE_CONFIG_DIR", config);
        command.env("XDG_RUNTIME_DIR", dir.path().join("run"));
        command.env("NUDGE_DATA", dir.path().join("data"));
        // kakoune-lsp talks to the editor through another `kak`.
        let folders = [&program, &lsp].map(|program| program.parent().expect("a program is in a folder"));
        let folders = folders.map(|folder| folder.display().to_string());
        command.env("PATH", format!("{}:{}", folders.join(":"), path_with_nudge()));
        let kakoune = Self { terminal: Terminal::start(command, ROWS, COLS), dir };
        kakoune.see("*scratch*");
        for (name, text) in files {
            kakoune.edit(name, text);
            // With nothing edited the server offers nothing, which it cannot say before it is there.
            kakoune.ask(NONE);
        }
        Some(kakoune)
    }

    fn send(&self, keys: &str) {
        self.terminal.send(keys);
    }

    fn see(&self, text: &str) {
        self.terminal.wait_text(text);
    }

    /// Goes to a file that has this text.
    fn edit(&self, name: &str, text: &str) {
        self.send(&format!(":edit {name}\r"));
        self.see(text.lines().next().expect("the file has a line"));
    }

    /// Selects the first place of a text after the cursor and types something else over it.
    fn change(&self, old: &str, new: &str) {
        self.send(&format!("/{old}\r"));
        self.send(&format!("c{new}\x1b"));
        self.see("[+] 1 sel");
    }

    /// Asks for code actions until this is said. kakoune-lsp asks by itself whenever the user pauses, and gives up a question
    /// of the user's that has no answer yet.
    fn ask(&self, answer: &str) {
        self.terminal.until(answer, || {
            self.send(":lsp-code-actions\r");
            self.terminal.is_within(AGAIN, |screen| screen.contents().contains(answer))
        });
    }

    /// Chooses the first code action whose name begins so: Tab puts one after another on the line at the bottom.
    fn act(&self, title: &str) {
        self.ask(title);
        let mut chosen = self.terminal.look(bottom);
        while !chosen.starts_with(title) {
            self.send("\t");
            self.terminal.wait("another code action", |screen| bottom(screen) != chosen);
            chosen = self.terminal.look(bottom);
        }
        self.send("\r");
    }
}

fn bottom(screen: &vt100::Screen) -> String {
    screen.rows(0, COLS).last().unwrap_or_default()
}

impl Drop for Kakoune {
    fn drop(&mut self) {
        end_all(&self.dir.path().join("data"));
    }
}

#[test]
fn it_shows_that_there_is_a_next_edit_and_applies_it() {
    let Some(kakoune) = Kakoune::open(&[("sum.py", PROGRAM)]) else { return };
    kakoune.change("total", "summe");
    kakoune.see("💡");
    kakoune.act("Apply next edit: renames 3 uses of `total` on lines 4 to 6");
    kakoune.see("return summe");
    kakoune.see("print(\"🙂\", summe)");
    kakoune.send(":write\r");
    kakoune.terminal.wait("a written file", |screen| !screen.contents().contains("[+]"));
    let written = fs::read_to_string(kakoune.dir.path().join("work/sum.py")).expect("the file is there");
    assert_eq!(written, PROGRAM.replace("total", "summe"));
    // It is one step back.
    kakoune.send("u");
    kakoune.see("return total");
    kakoune.see("summe = 0");
}

#[test]
fn it_applies_the_next_edit_in_another_file() {
    let files = [
        ("b.py", "from a import compute_total\n\n\ndef main():\n    print(compute_total([1, 2]))\n"),
        ("a.py", "def compute_total(items):\n    return sum(items)\n"),
    ];
    let Some(kakoune) = Kakoune::open(&files) else { return };
    kakoune.change("compute_total", "compute_sum");
    kakoune.act("Apply next edit in b.py: renames the use of `compute_total` on line 1");
    kakoune.edit("b.py", "from a import compute_sum");
    kakoune.act("Apply next edit: renames the use of `compute_total` on line 5");
    kakoune.see("print(compute_sum([1, 2]))");
}

//! Helix in a terminal, which has nothing but standard LSP.

use std::fs;

use nudge_testkit::{Terminal, eventually};
use portable_pty::CommandBuilder;
use tempfile::TempDir;

use crate::programs::{end_all, installed, path_with_nudge, snippet};

const PROGRAM: &str = "def add(items):\n    total = 0\n    for item in items:\n        total += item\n    print(\"🙂\", total)\n    return total\n";

/// What Helix says when a server offers nothing, and when there is no server yet.
const NONE: &str = "No code actions available";
const NO_SERVER: &str = "No configured language server supports code actions";

/// Helix with `nudge` as its only language server for Python.
struct Helix {
    terminal: Terminal,
    dir: TempDir,
}

impl Helix {
    /// Opens the first of these files; all lie in one folder.
    fn open(files: &[(&str, &str)]) -> Option<Self> {
        let program = installed("hx")?;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config = dir.path().join("config/helix");
        fs::create_dir_all(&config).expect("the folder can be written");
        fs::create_dir_all(dir.path().join("work/.git")).expect("the folder can be written");
        fs::write(config.join("languages.toml"), snippet("Helix", "toml"))
            .expect("the folder can be written");
        for (name, text) in files {
            fs::write(dir.path().join("work").join(name), text).expect("the folder can be written");
        }
        let mut command = CommandBuilder::new(program);
        command.args(["-v", "--log"]);
        command.arg(dir.path().join("log"));
        command.arg(files[0].0);
        command.cwd(dir.path().join("work"));
        command.env("HOME", dir.path());
        command.env("XDG_CONFIG_HOME", dir.path().join("config"));
        command.env("XDG_CACHE_HOME", dir.path().join("cache"));
        command.env("NUDGE_DATA", dir.path().join("data"));
        command.env("PATH", path_with_nudge());
        let helix = Self { terminal: Terminal::start(command, 24, 100), dir };
        helix.see(files[0].1.lines().next().expect("the file has a line"));
        helix.wait_for_server(files[0].0);
        Some(helix)
    }

    fn send(&self, keys: &str) {
        self.terminal.send(keys);
    }

    fn see(&self, text: &str) {
        self.terminal.wait_text(text);
    }

    /// Selects the first place of a text and types something else over it.
    fn change(&self, old: &str, new: &str) {
        self.send(&format!("gg/{old}\r"));
        self.send(&format!("c{new}"));
        self.see(new);
        // What is typed next must not come together with the key, which would make it another key.
        self.send("\x1b");
        self.see(" NOR ");
    }

    /// Waits until the server has been told of a file. Helix asks for code actions and tells of changes before that, if the user
    /// is quick, and what it tells then is lost.
    fn wait_for_server(&self, name: &str) {
        let is_told =
            |line: &str| line.contains("textDocument/didOpen") && line.contains(&format!("/{name}\""));
        eventually("a server that has the file", || {
            let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            log.lines().any(is_told)
        });
    }

    /// Chooses the code action of this name. While the daemon starts there is none yet, and one asks again.
    fn act(&self, title: &str) {
        self.terminal.until(title, || self.is_offered(title));
        // The first is chosen already.
        self.send("\r");
    }

    /// Asks for code actions; whether this is shown then.
    fn is_offered(&self, wanted: &str) -> bool {
        self.send(" a");
        let has = |screen: &vt100::Screen, text: &str| screen.contents().contains(text);
        self.terminal.wait(wanted, |screen| [wanted, NONE, NO_SERVER].iter().any(|text| has(screen, text)));
        if self.terminal.look(|screen| has(screen, wanted)) {
            return true;
        }
        self.send("\x1b");
        self.terminal.wait("a clean line", |screen| ![NONE, NO_SERVER].iter().any(|text| has(screen, text)));
        false
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).expect("the file is there")
    }

    fn work(&self) -> std::path::PathBuf {
        self.dir.path().join("work")
    }
}

impl Drop for Helix {
    fn drop(&mut self) {
        end_all(&self.dir.path().join("data"));
    }
}

#[test]
fn the_code_action_applies_the_next_edit() {
    let Some(helix) = Helix::open(&[("sum.py", PROGRAM)]) else { return };
    helix.change("total", "summe");
    helix.act("Apply next edit: renames 3 uses of `total` on lines 4 to 6");
    helix.see("return summe");
    helix.see("print(\"🙂\", summe)");
    helix.send(":w\r");
    helix.see("written");
    assert_eq!(helix.file("sum.py"), PROGRAM.replace("total", "summe"));
    // It is one step back.
    helix.send("u");
    helix.see("return total");
}

#[test]
fn the_code_action_goes_to_the_next_edit_in_another_file() {
    let files = [
        ("a.py", "def compute_total(items):\n    return sum(items)\n"),
        ("b.py", "from a import compute_total\n\n\ndef main():\n    print(compute_total([1, 2]))\n"),
    ];
    let Some(helix) = Helix::open(&files) else { return };
    helix.send(":open b.py\r");
    helix.see("from a import compute_total");
    helix.wait_for_server("b.py");
    helix.send(":open a.py\r");
    helix.see("return sum(items)");
    helix.change("compute_total", "compute_sum");
    helix.act("Go to next edit:");
    helix.see("from a import compute_total");
    helix.act("Apply next edit:");
    helix.see("from a import compute_sum");
    helix.act("Apply next edit:");
    helix.see("print(compute_sum([1, 2]))");
}

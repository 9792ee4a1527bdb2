//! Emacs in a terminal, set up as `editors/README.md` says.

use nudge_testkit::Terminal;
use std::{fs, time::Duration};

use portable_pty::CommandBuilder;
use tempfile::TempDir;

use super::BEFORE;
use crate::programs::{end_all, given, installed, path_with_nudge, snippet};

/// What eglot says when the server offers nothing.
const NONE: &str = "No code actions here";
const PICK: &str = "Pick an action";
/// Keys are read long before this has passed, however busy the machine is.
const READ: Duration = Duration::from_secs(15);

/// Loads packages from where they lie. This Emacs has not all its parts where it could compile.
const LOAD: &str = "(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil)
(dolist (folder (directory-files \"PACKAGES\" t \"^[^.]\")) (add-to-list 'load-path folder))
(load \"lsp-mode-autoloads\")
(require 'lsp-mode)
";

/// Emacs with a file.
struct Emacs {
    terminal: Terminal,
    dir: TempDir,
}

impl Emacs {
    /// Opens the first of these files and connects it to the server by eglot.
    fn with_eglot(files: &[(&str, &str)]) -> Option<Self> {
        let emacs = Self::open(files, &snippet("Emacs", "elisp"))?;
        emacs.command("eglot");
        emacs.see("Connected! Server `nudge' now managing");
        Some(emacs)
    }

    /// Opens the first of these files and connects it to the server by lsp-mode, if that is there.
    fn with_lsp_mode(files: &[(&str, &str)]) -> Option<Self> {
        let packages =
            given("NUDGE_TEST_LSP_MODE", "a folder with the folders of lsp-mode and what it needs")?;
        let packages = packages.display().to_string();
        let config = LOAD.replace("PACKAGES", &packages) + &snippet("lsp-mode", "elisp");
        let emacs = Self::open(files, &config)?;
        emacs.command("lsp");
        // The project is new to it.
        emacs.see("Select action:");
        emacs.send("i");
        emacs.see("initialized successfully");
        Some(emacs)
    }

    /// Opens the first of these files, which all lie in one folder.
    fn open(files: &[(&str, &str)], config: &str) -> Option<Self> {
        let program = installed("emacs")?;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let work = dir.path().join("work");
        fs::create_dir_all(work.join(".git")).expect("the folder can be written");
        for (name, text) in files {
            fs::write(work.join(name), text).expect("the folder can be written");
        }
        fs::write(dir.path().join("config.el"), config).expect("the folder can be written");
        let mut command = CommandBuilder::new(program);
        command.args(["-Q", "-nw", "-l", "../config.el", files[0].0]);
        command.cwd(work);
        command.env("HOME", dir.path());
        command.env("LC_ALL", "C.UTF-8");
        command.env("NUDGE_DATA", dir.path().join("data"));
        command.env("PATH", path_with_nudge());
        let emacs = Self { terminal: Terminal::start(command, 24, 140), dir };
        emacs.see(files[0].1.lines().next().expect("the file has a line"));
        Some(emacs)
    }

    fn send(&self, keys: &str) {
        self.terminal.send(keys);
    }

    fn see(&self, text: &str) {
        self.terminal.wait_text(text);
    }

    /// Runs a command by its name. Emacs throws keys away that it has not read when an error comes, so that one who sees
    /// nothing of them presses them again.
    fn command(&self, name: &str) {
        self.terminal.until("M-x", || {
            self.send("\x1bx");
            // What was said before goes away with it.
            let is_read =
                self.terminal.is_within(READ, |screen: &vt100::Screen| screen.contents().contains("M-x"));
            if !is_read {
                self.send("\x07");
            }
            is_read
        });
        self.send(name);
        self.send("\r");
    }

    /// Goes to the first place of a word and types another over it, by keys.
    fn change(&self, old: &str, new: &str) {
        self.send("\x1b<");
        self.send(&format!("\x13{old}\r"));
        self.see("Mark saved where search started");
        self.send(&format!("{}{new}", "\x7f".repeat(old.len())));
        self.see(new);
    }

    /// Asks for code actions and takes the one that is proposed, if it is this. While the daemon starts there is none yet, and
    /// one asks again.
    fn act(&self, title: &str) {
        self.terminal.until("a code action", || self.is_offered());
        self.see(&format!("{PICK} (default {title}"));
        self.send("\r");
    }

    fn is_offered(&self) -> bool {
        self.command("eglot-code-actions");
        let has = |screen: &vt100::Screen, text: &str| screen.contents().contains(text);
        self.terminal.wait("an answer", |screen| has(screen, PICK) || has(screen, NONE));
        self.terminal.look(|screen| has(screen, PICK))
    }
}

impl Drop for Emacs {
    fn drop(&mut self) {
        end_all(&self.dir.path().join("data"));
    }
}

#[test]
fn a_rename_is_typed_and_the_code_action_does_the_rest() {
    let Some(emacs) = Emacs::with_eglot(&[("sum.py", BEFORE)]) else { return };
    emacs.change("total", "summe");
    emacs.act("Apply next edit: renames 3 uses of `total` on lines 4 to 6");
    emacs.see("return summe");
    emacs.see("print(\"🙂\", summe)");
    emacs.send("\x18\x13");
    emacs.see("Wrote ");
    let written = fs::read_to_string(emacs.dir.path().join("work/sum.py")).expect("the file is there");
    assert_eq!(written, BEFORE.replace("total", "summe"));
    // It is one step back.
    emacs.send("\x1f");
    emacs.see("return total");
    emacs.see("summe = 0");
}

#[test]
fn the_code_action_goes_to_the_next_edit_in_another_file() {
    let files = [
        ("a.py", "def compute_total(items):\n    return sum(items)\n"),
        ("b.py", "from a import compute_total\n\n\ndef main():\n    print(compute_total([1, 2]))\n"),
    ];
    let Some(emacs) = Emacs::with_eglot(&files) else { return };
    emacs.send("\x18\x06b.py\r");
    emacs.see("from a import compute_total");
    emacs.send("\x18\x06a.py\r");
    emacs.see("return sum(items)");
    emacs.change("compute_total", "compute_sum");
    emacs.act("Go to next edit:");
    emacs.see("from a import compute_total");
    emacs.act("Apply next edit:");
    emacs.see("from a import compute_sum");
    emacs.act("Apply next edit:");
    emacs.see("print(compute_sum([1, 2]))");
}

#[test]
fn lsp_mode_shows_that_there_is_a_next_edit_and_applies_it() {
    let Some(emacs) = Emacs::with_lsp_mode(&[("sum.py", BEFORE)]) else { return };
    emacs.change("total", "summe");
    emacs.see("💡");
    emacs.command("lsp-execute-code-action");
    emacs.see("return summe");
    emacs.see("print(\"🙂\", summe)");
}

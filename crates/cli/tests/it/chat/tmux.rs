//! A chat in tmux, which is a terminal of its own within the terminal.

use std::process::Command;

use nudge_testkit::Terminal;
use portable_pty::CommandBuilder;
use tempfile::TempDir;

use super::{rehearsal, started};
use crate::sessions::Place;

/// A turn that waits to be steered, after more lines than the screen has.
const WAITS: &str = r#"
[[turn]]
literal = "begin"
[[turn.step]]
play = [{ text = "a line\n\n", repeat = 60 }, { text = "I begin. " }, { wait_ms = 60000 }]
next = "end"
[[turn.steer]]
regex = '^(?<what>.*)$'
play = [{ text = "Right: {what}." }]
next = "end"

[[turn]]
[[turn.step]]
play = [{ text = "heard it" }]
"#;

/// A server of tmux that nobody else uses; it ends with this.
struct Tmux {
    folder: TempDir,
}

impl Tmux {
    fn new() -> Option<Self> {
        let is_there = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
        if !is_there {
            nudge_testkit::skipped("tmux is not installed");
        }
        is_there.then(|| Self { folder: tempfile::tempdir().expect("a folder for the socket") })
    }

    fn args(&self) -> [String; 4] {
        let socket = self.folder.path().join("tmux").to_str().expect("its name is text").to_owned();
        ["-S".to_owned(), socket, "-f".to_owned(), "/dev/null".to_owned()]
    }

    /// A chat in it that waits for the user.
    fn chat(&self, place: &Place, text: &str) -> Terminal {
        let mut command = CommandBuilder::new("tmux");
        command.args(self.args());
        command.args(["new-session", env!("CARGO_BIN_EXE_nudge"), "chat"]);
        let env = rehearsal(place, text);
        // tmux draws letters beyond ASCII where it is told that the terminal has them.
        let env = [("NUDGE_REHEARSAL", &*env), ("LC_ALL", "C.UTF-8")];
        let terminal = started(place, command, &env, (24, 80));
        terminal.wait_text("○ idle");
        terminal
    }

    /// What it answers.
    fn told(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(self.args()).args(args).output().expect("tmux starts");
        String::from_utf8(output.stdout).expect("it writes text")
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.told(&["kill-server"]);
    }
}

#[test]
fn it_is_steered_in_tmux_and_what_was_said_can_be_scrolled_back_to() {
    let Some(tmux) = Tmux::new() else { return };
    let place = Place::new();
    let terminal = tmux.chat(&place, WAITS);
    terminal.send("begin\r");
    terminal.wait_text("I begin.");
    terminal.send("afterwards\r");
    terminal.wait_text("⧗ queued afterwards");
    terminal.resize(30, 60);
    terminal.wait("it to be drawn anew", |screen| {
        let text = screen.contents();
        text.contains("⧗ queued afterwards") && text.matches("● working").count() == 1
    });
    // Alt-Enter, as terminals send it.
    terminal.send("to the left\x1b\r");
    terminal.wait_text("Right: to the left.");
    terminal.wait_text("heard it");
    let kept = tmux.told(&["capture-pane", "-p", "-S", "-"]);
    assert!(kept.contains("┃ begin"), "{kept}");
    assert!(kept.matches("a line").count() >= 60, "{kept}");
}

/// A terminal that becomes less high takes away the rows below the cursor first.
#[test]
fn no_line_is_lost_when_the_terminal_becomes_less_high() {
    const LINES: &str = "[[turn]]\n[[turn.step]]\nplay = [{ text = \"line {i}\\n\\n\", repeat = 120 }, { text = \"the end\" }]\n";
    let Some(tmux) = Tmux::new() else { return };
    let place = Place::new();
    let terminal = tmux.chat(&place, LINES);
    terminal.send("go\r");
    terminal.wait_text("the end");
    for rows in [20, 24, 12, 24, 16, 11] {
        terminal.wait_text("○ idle");
        terminal.resize(rows, 80);
        // The last row of tmux is its own.
        let bottom = rows - 1;
        terminal.wait("it to be drawn anew", |screen| {
            let text = screen.contents();
            let lines: Vec<_> = text.lines().collect();
            lines.len() >= usize::from(bottom) && lines[usize::from(bottom) - 1].starts_with("○ idle")
        });
    }
    let kept = tmux.told(&["capture-pane", "-p", "-S", "-"]);
    let lost: Vec<_> = (1..=120)
        .filter(|number| !kept.lines().any(|line| line.trim_end() == format!("line {number}")))
        .collect();
    assert!(lost.is_empty(), "{lost:?} of\n{kept}");
}

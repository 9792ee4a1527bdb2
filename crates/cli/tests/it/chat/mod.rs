//! `nudge chat` in a real terminal, and as a program of a script.

mod lines;
mod picture;
mod questions;
mod shared;
mod ssh;
mod steered;
mod tmux;
mod trouble;

use std::path::Path;

use nudge_testkit::Terminal;
use portable_pty::CommandBuilder;

use crate::{NO_SETTINGS, sessions::Place};

const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// A terminal in which something is talked to at a place.
fn terminal(place: &Place, args: &[&str]) -> Terminal {
    terminal_of(place, args, &[], (ROWS, COLUMNS))
}

fn terminal_of(place: &Place, args: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Terminal {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_nudge"));
    command.args(args);
    started(place, command, env, size)
}

/// A terminal in which this runs at a place.
fn started(
    place: &Place,
    mut command: CommandBuilder,
    env: &[(&str, &str)],
    (rows, columns): (u16, u16),
) -> Terminal {
    command.env_clear();
    for name in ["PATH", "HOME", "LANG"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    for (name, value) in place.env() {
        command.env(name, value);
    }
    for (name, value) in [("NUDGE_CONFIG", NO_SETTINGS), ("NUDGE_MODEL", "rehearsal")].iter().chain(env) {
        command.env(name, value);
    }
    command.cwd(place.cwd());
    Terminal::start(command, rows, columns)
}

/// A terminal in which a chat waits for the user.
fn chat(place: &Place) -> Terminal {
    let terminal = terminal(place, &["chat"]);
    terminal.wait_text("○ idle");
    terminal
}

/// Answers what is asked, once it has stood there for long enough to be seen: before that, keys are written.
fn press_when_seen(terminal: &Terminal, keys: &str) {
    terminal.is_within(std::time::Duration::from_millis(600), |_| false);
    terminal.send(keys);
}

/// What plays this rehearsal.
fn rehearsal(place: &Place, text: &str) -> String {
    let path = place.data.path().join("chat.toml");
    std::fs::write(&path, text).expect("the folder can be written to");
    path.to_str().expect("its name is text").to_owned()
}

/// The newest session of the place.
fn session(place: &Place) -> String {
    let listed = place.command(&["sessions", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("it is JSON");
    listed[0]["sessionId"].as_str().expect("there is a session").to_owned()
}

/// The rows of the screen that are not empty.
fn rows(terminal: &Terminal) -> Vec<String> {
    let text = terminal.look(vt100::Screen::contents);
    text.lines().map(str::trim_end).filter(|row| !row.is_empty()).map(str::to_owned).collect()
}

fn exists(place: &Place, name: &str) -> bool {
    Path::new(&place.cwd()).join(name).exists()
}

//! One session in two terminals and an editor.

use super::{chat, exists, lines::talked, rows, session, terminal};
use crate::sessions::Place;

#[test]
fn two_terminals_and_an_editor_see_the_same() {
    let place = Place::new();
    let first = chat(&place);
    first.send("talk\r");
    first.wait_text("word word");
    let id = session(&place);
    let second = terminal(&place, &["chat", "--resume", "last"]);
    second.wait_text("● working");
    second.wait_text("word word");
    let mut editor = place.shared_client(1);
    editor.load(&id, &place.cwd());
    // What one says waits in front of all.
    second.send("from the second\r");
    first.wait_text("⧗ queued from the second");
    second.wait_text("⧗ queued from the second");
    editor.inject("queue", "from the editor");
    first.wait_text("⧗ queued from the editor");
    second.wait_text("⧗ queued from the editor");
    // And one takes back what another has said.
    first.send("\x1b[A\x1b[A");
    first.wait_text("Enter edits it");
    first.send("\x7f");
    second.wait("it to be taken back", |screen| !screen.contents().contains("from the second"));
    first.send("\x1b\x1b");
    for terminal in [&first, &second] {
        terminal.wait_text("heard from the editor");
        terminal.wait_text("○ idle");
        let shown = rows(terminal);
        let said = shown.iter().position(|row| row == "┃ from the editor");
        assert_eq!(said.map(|at| shown[at + 1].as_str()), Some("heard from the editor"), "{shown:#?}");
    }
    editor.said("heard from the editor");
}

#[test]
fn a_terminal_joins_a_session_that_an_editor_holds() {
    for version in [1, 2] {
        let place = Place::new();
        let mut editor = place.shared_client(version);
        editor.new_session(&place.cwd());
        editor.prompt("talk");
        editor.said("word word");
        let terminal = terminal(&place, &["chat", "--resume", "last"]);
        terminal.wait_text("● working");
        terminal.wait_text("word word");
        terminal.send("write z.txt hello\r");
        terminal.wait_text("⧗ queued write z.txt hello");
        editor.cancel();
        // What both are asked is answered once, by the editor.
        let request = editor.agent_request();
        terminal.wait_text("1. y");
        editor.permit(&request, "allow_once");
        terminal.wait_text("written:");
        terminal.wait_text("○ idle");
        let shown = rows(&terminal);
        assert!(!shown.iter().any(|row| row.contains("1. y")), "{shown:#?}");
        assert!(exists(&place, "z.txt"));
        terminal.send("from the terminal\r");
        terminal.wait_text("heard from the terminal");
        editor.said("heard from the terminal");
        let users: &[_] = match version {
            // Who says something in version 1 shows it without being told.
            1 => &["user: write z.txt hello", "user: from the terminal"],
            _ => &["user: talk", "user: write z.txt hello", "user: from the terminal"],
        };
        assert_eq!(editor.users(), users, "version {version}");
    }
}

#[test]
fn a_session_is_chosen_and_taken_up() {
    let place = Place::new();
    talked(&place, &["the first of them"], &[]);
    talked(&place, &["the second of them"], &[]);
    let terminal = terminal(&place, &["chat", "--resume"]);
    terminal.wait_text("Which session?");
    terminal.wait_text("the second of them");
    terminal.send("first");
    terminal.wait("the other to go", |screen| !screen.contents().contains("the second of them"));
    terminal.send("\r");
    terminal.wait_text("heard the first of them");
    terminal.wait_text("○ idle");
}

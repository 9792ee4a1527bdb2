//! One session in two terminals and an editor.

use super::{chat, lines::talked, rows, session, terminal};
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

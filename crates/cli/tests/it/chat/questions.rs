//! What an agent asks, answered by keys.

use super::{chat, exists, press_when_seen, rows, terminal_of};
use crate::sessions::Place;

#[test]
fn permission_is_given_by_a_key_with_the_change_shown() {
    let place = Place::new();
    let terminal = chat(&place);
    terminal.send("write new.txt hello\r");
    terminal.wait_text("◆ waits for you");
    terminal.wait_text("│ +hello");
    terminal.wait_text("1. y");
    press_when_seen(&terminal, "y");
    terminal.wait_text("written:");
    assert!(exists(&place, "new.txt"));
}

#[test]
fn permission_is_refused_by_a_key() {
    let place = Place::new();
    let terminal = chat(&place);
    terminal.send("write new.txt hello\r");
    terminal.wait_text("◆ waits for you");
    press_when_seen(&terminal, "n");
    terminal.wait_text("○ idle");
    assert!(!exists(&place, "new.txt"), "{:#?}", rows(&terminal));
}

#[test]
fn without_a_model_the_user_chooses_by_a_form() {
    let place = Place::new();
    let env = [("NUDGE_MODEL", ""), ("NUDGE_REHEARSAL", "")];
    let terminal = terminal_of(&place, &["chat"], &env, (30, 80));
    terminal.wait_text("No model is set up yet. What shall answer?");
    terminal.wait_text("a rehearsal");
    let number = rows(&terminal).iter().find_map(|row| {
        row.contains("rehearsal").then(|| row.trim().chars().next()).flatten().filter(char::is_ascii_digit)
    });
    let number = number.expect("the choices are numbered");
    press_when_seen(&terminal, &format!("{number}"));
    terminal.wait_text(&format!("› {number}"));
    terminal.send("\r");
    terminal.wait_text("○ idle");
    terminal.send("hello\r");
    terminal.wait_text("I am not connected to a language model");
}

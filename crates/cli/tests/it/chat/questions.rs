//! What an agent asks, answered by keys.

use std::time::Duration;

use serde_json::{Value, json};

use super::{chat, exists, press_when_seen, rows, terminal, terminal_of};
use crate::{adapt::kill, sessions::Place};

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
    // What was changed stays with the call.
    let shown = rows(&terminal);
    let call = shown.iter().position(|row| row.starts_with("✓ ")).expect("the call is shown");
    assert!(shown[call..].iter().any(|row| row.ends_with("│ +hello")), "{shown:#?}");
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
fn who_leaves_has_not_answered() {
    for name in ["a.txt", "b.txt", "c.txt"] {
        let place = Place::new();
        let mut first = chat(&place);
        first.send(&format!("write {name} hello\r"));
        first.wait_text("1. y");
        first.send("\x04");
        assert_eq!(first.exit_code(), 0);
        let second = terminal(&place, &["chat", "--resume", "last"]);
        second.wait_text("1. y");
        assert!(!exists(&place, name));
        press_when_seen(&second, "y");
        second.wait_text("written:");
        assert!(exists(&place, name));
    }
}

#[test]
fn a_daemon_that_dies_is_noticed_while_something_is_asked() {
    let place = Place::new();
    let terminal = chat(&place);
    terminal.send("write new.txt hello\r");
    terminal.wait_text("1. y");
    kill(super::trouble::daemon(&place));
    let is_noticed =
        terminal.is_within(Duration::from_secs(5), |screen| screen.contents().contains("connecting again"));
    assert!(is_noticed, "{:#?}", rows(&terminal));
    terminal.wait_text("○ idle");
    assert!(!exists(&place, "new.txt"));
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

#[test]
fn the_built_in_agent_asks_by_a_form() {
    let place = Place::new();
    let terminal = chat(&place);
    terminal.send("which\r");
    terminal.wait_text("Tabs or spaces?");
    terminal.wait_text("◆ waits for you");
    terminal.wait_text("spaces");
    press_when_seen(&terminal, "2\r");
    terminal.wait_text("so: The user has answered: spaces");
    terminal.wait_text("○ idle");
    // Where nobody is asked, it is told so.
    let (code, lines, errors) = super::lines::talked(&place, &["which"], &[]);
    assert_eq!((code, lines.join(" ").starts_with("so: ")), (Some(0), true), "{lines:?} {errors}");
}

#[test]
fn a_form_of_an_agent_is_filled_in_field_by_field() {
    let place = Place::new();
    let agent = crate::adapt::agent();
    let terminal = terminal(&place, &["chat", "--", agent.to_str().expect("its name is text")]);
    terminal.wait_text("○ idle");
    terminal.send("form\r");
    terminal.wait_text("Who are you?");
    terminal.wait_text("1 of 3");
    // What is needed is asked for until it is there.
    press_when_seen(&terminal, "\r");
    terminal.wait_text("it is needed");
    terminal.send("Ada\r");
    terminal.wait_text("2 of 3");
    terminal.send("many\r");
    terminal.wait_text("› many");
    terminal.send("\x153\r");
    terminal.wait_text("3 of 3");
    terminal.wait_text("rook");
    terminal.send("2\r");
    terminal.wait_text("· answered: Who are you?");
    terminal.wait_text("form: {");
    let shown = rows(&terminal);
    let said = shown.iter().find_map(|row| row.strip_prefix("form: ")).expect("it is shown");
    let said: Value = serde_json::from_str(said).expect("it is JSON");
    assert_eq!(said, json!({ "action": "accept", "content": { "bird": "rook", "count": 3, "name": "Ada" } }));
    terminal.wait_text("○ idle");
}

#[test]
fn the_address_of_a_page_is_shown_and_the_turn_goes_on_after_the_visit() {
    let place = Place::new();
    let agent = crate::adapt::agent();
    let terminal = terminal(&place, &["chat", "--", agent.to_str().expect("its name is text")]);
    terminal.wait_text("○ idle");
    for (key, said) in [("y", "accept"), ("n", "decline")] {
        terminal.send("form url\r");
        terminal.wait_text("◆ waits for you");
        terminal.wait_text("http://127.0.0.1:1/page");
        terminal.wait_text("y goes on once you have been there");
        press_when_seen(&terminal, key);
        terminal.wait_text(&format!(r#"{{"action":"{said}""#));
        terminal.wait_text("○ idle");
    }
}

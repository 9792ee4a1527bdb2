//! A turn that is talked into, as a person sees it.

use nudge_testkit::Terminal;
use rustix::process::{Pid, Signal, kill_process};

use super::{chat, rehearsal, rows, terminal, terminal_of};
use crate::sessions::Place;

/// A turn that says something, waits to be steered, and goes on.
pub(super) const WAITS: &str = r#"
[[turn]]
literal = "begin"
[[turn.step]]
play = [{ text = "I begin. " }, { wait_ms = 60000 }]
next = "end"
[[turn.steer]]
regex = '^(?<what>.*)$'
play = [{ text = "Right: {what}." }]
next = "end"

[[turn]]
regex = '^(?<line>.*)$'
[[turn.step]]
play = [{ text = "**heard** `{line}`" }]
"#;

/// A chat in which the turn waits to be steered.
fn begun(place: &Place) -> Terminal {
    let env = rehearsal(place, WAITS);
    let terminal = terminal_of(place, &["chat"], &[("NUDGE_REHEARSAL", &env)], (24, 80));
    terminal.wait_text("○ idle");
    terminal.send("begin\r");
    terminal.wait_text("I begin.");
    terminal
}

#[test]
fn a_message_is_answered_in_markdown() {
    let place = Place::new();
    let terminal =
        terminal_of(&place, &["chat"], &[("NUDGE_REHEARSAL", &rehearsal(&place, WAITS))], (24, 80));
    terminal.wait_text("○ idle");
    terminal.send("hello\r");
    terminal.wait_text("heard hello");
    terminal.wait_text("○ idle");
    let shown = rows(&terminal);
    assert_eq!(shown[..2], ["┃ hello", "heard hello"], "{shown:#?}");
    let is_bold = terminal.look(|screen| screen.cell(2, 0).expect("it is there").bold());
    assert!(is_bold, "{shown:#?}");
    // It leaves the terminal as it was, with the way back.
    terminal.send("/quit\r");
    let mut terminal = terminal;
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_text("to go on: nudge chat --resume sess_");
}

#[test]
fn nudge_alone_begins_to_chat() {
    let place = Place::new();
    let terminal = terminal(&place, &[]);
    terminal.wait_text("○ idle");
    terminal.send("echo\r");
    terminal.wait_text("heard echo");
}

#[test]
fn a_turn_is_steered_and_what_is_queued_follows() {
    let place = Place::new();
    let terminal = begun(&place);
    terminal.send("afterwards\r");
    terminal.wait_text("⧗ queued afterwards");
    terminal.send("not this\r");
    terminal.wait_text("⧗ queued not this");
    // One is edited, one is taken back.
    terminal.send("\x1b[A\x1b[A\r");
    terminal.wait_text("✎ afterwards");
    terminal.send(", please\r");
    terminal.wait_text("⧗ queued afterwards, please");
    terminal.send("\x1b[A");
    terminal.wait_text("Enter edits it");
    terminal.send("\x1b[3~");
    terminal.wait("one to be taken back", |screen| !screen.contents().contains("not this"));
    // Steered with Ctrl-S.
    terminal.send("to the left\x13");
    terminal.wait_text("heard afterwards, please");
    terminal.wait_text("○ idle");
    let shown = rows(&terminal);
    assert_eq!(
        shown[..6],
        [
            "┃ begin",
            "I begin.",
            "┃ to the left",
            "Right: to the left.",
            "┃ afterwards, please",
            "heard afterwards, please"
        ],
        "{shown:#?}"
    );
}

#[test]
fn what_waits_becomes_a_steer() {
    let place = Place::new();
    let terminal = begun(&place);
    terminal.send("now\r");
    terminal.wait_text("⧗ queued now");
    terminal.send("\x1b[A");
    terminal.wait_text("Enter edits it");
    terminal.send("\x1b\r");
    terminal.wait_text("Right: now.");
    terminal.wait_text("○ idle");
}

#[test]
fn escape_stops_a_turn() {
    let place = Place::new();
    let terminal = chat(&place);
    terminal.send("talk\r");
    terminal.wait_text("word word");
    terminal.send("\x1b");
    terminal.wait_text("· stopped");
    terminal.wait_text("○ idle");
}

#[test]
fn files_and_commands_are_completed() {
    let place = Place::new();
    place.touch("notes.txt");
    let terminal = chat(&place);
    terminal.send("read @not");
    terminal.wait_text("› @notes.txt");
    terminal.send("\t");
    terminal.wait_text("› read @notes.txt");
    terminal.send("\x15/hel");
    terminal.wait_text("/help  keys and commands");
    terminal.send("\t\r");
    terminal.wait_text("Commands");
    terminal.wait_text("leave; the session stays");
}

#[test]
fn plan_tools_and_usage_are_shown() {
    let place = Place::new();
    std::fs::write(place.work.path().join("a.txt"), "one\ntwo\n").unwrap();
    let terminal = chat(&place);
    terminal.send("read a.txt\r");
    terminal.wait_text("it says:");
    terminal.wait_text("✓ ");
    terminal.send("plan\r");
    terminal.wait_text("planned");
    terminal.wait_text("✓ first");
    terminal.wait_text("· second");
    terminal.wait_text("┆ I think");
    terminal.wait_text("10/100");
}

#[test]
fn it_works_at_sixty_columns_without_colours_and_in_another_size() {
    let place = Place::new();
    let terminal = terminal_of(&place, &["chat"], &[("NO_COLOR", "1")], (16, 60));
    terminal.wait_text("○ idle");
    terminal.send("flood abcdefg\r");
    terminal.wait("the end of it", |screen| {
        let text = screen.contents();
        text.contains("○ idle") && text.contains("abcdefg")
    });
    let is_plain = terminal.look(|screen| {
        (0..16).flat_map(|row| (0..60).map(move |column| (row, column))).all(|(row, column)| {
            screen
                .cell(row, column)
                .is_none_or(|cell| cell.fgcolor() == vt100::Color::Default && !cell.bold())
        })
    });
    assert!(is_plain, "no colours were wanted");
    assert!(rows(&terminal).iter().all(|row| row.chars().count() <= 59));
    terminal.send("half a line");
    terminal.wait_text("› half a line");
    terminal.resize(30, 100);
    terminal.wait("it to be drawn anew", |screen| {
        let text = screen.contents();
        text.contains("› half a line") && text.matches("○ idle").count() == 1
    });
    terminal.send(" and more\r");
    terminal.wait_text("heard half a line and more");
}

/// What is typed in the moment in which the terminal gets another size; the program sees both at once.
#[test]
fn what_is_typed_while_the_size_changes_is_read() {
    let place = Place::new();
    let terminal = terminal_of(&place, &["chat"], &[], (16, 60));
    terminal.wait_text("○ idle");
    let pid = terminal.process_id().and_then(|pid| Pid::from_raw(pid.cast_signed())).expect("it runs");
    for (columns, word) in [(90, "one"), (120, "two"), (60, "three"), (100, "four")] {
        kill_process(pid, Signal::STOP).expect("it runs");
        terminal.resize(16, columns);
        terminal.send(word);
        kill_process(pid, Signal::CONT).expect("it runs");
        terminal.wait_text(word);
        // The new size is known no less than the key: a row may be as long as the screen now is.
        let filler = "=".repeat(usize::from(columns) - 6 - word.len());
        terminal.send(&filler);
        terminal.wait("a row as long as the screen", |screen| {
            screen.contents().lines().any(|line| line == format!("› {word}{filler}"))
        });
        terminal.send("\x03");
        terminal.wait_text("› say something");
    }
}

//! What dies, floods or lies, and a chat that goes on.

use nudge_testkit::Terminal;
use portable_pty::CommandBuilder;

use super::{chat, press_when_seen, rehearsal, rows, session, terminal, terminal_of};
use crate::{adapt::kill, sessions::Place};

/// The process of the daemon.
pub(super) fn daemon(place: &Place) -> u32 {
    let status = place.command(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status).expect("it is JSON");
    let pid = status["pid"].as_u64().and_then(|pid| pid.try_into().ok());
    pid.unwrap_or_else(|| panic!("a daemon runs: {status}"))
}

#[test]
fn a_daemon_that_is_killed_in_a_turn_is_found_again() {
    let place = Place::new();
    let terminal = chat(&place);
    terminal.send("talk\r");
    terminal.wait_text("word word");
    terminal.send("afterwards\r");
    terminal.wait_text("⧗ queued afterwards");
    kill(daemon(&place));
    terminal.wait_text("The turn was interrupted");
    // What was accepted is delivered, once.
    terminal.wait_text("heard afterwards");
    terminal.wait_text("○ idle");
    let shown = rows(&terminal);
    let said = |text: &str| shown.iter().filter(|row| row.contains(text)).count();
    assert_eq!((said("┃ afterwards"), said("heard afterwards")), (1, 1), "{shown:#?}");
    terminal.send("again\r");
    terminal.wait_text("heard again");
}

#[test]
fn a_terminal_that_is_killed_leaves_its_session_as_it_is() {
    let place = Place::new();
    let first = chat(&place);
    first.send("talk\r");
    first.wait_text("word word");
    first.send("afterwards\r");
    first.wait_text("⧗ queued afterwards");
    kill(first.process_id().expect("it runs"));
    drop(first);
    let second = terminal(&place, &["chat", "--resume", "last"]);
    second.wait_text("⧗ queued afterwards");
    second.wait_text("● working");
    second.send("\x1b");
    second.wait_text("heard afterwards");
}

#[test]
fn an_agent_that_is_killed_is_told_and_started_again() {
    let place = Place::new();
    let log = place.data.path().join("agent.log");
    let agent = crate::adapt::agent();
    let [agent, log_file] = [&agent, &log].map(|path| path.to_str().expect("its name is text"));
    let terminal = terminal(&place, &["chat", "--", agent, "--log", log_file]);
    terminal.wait_text("○ idle");
    terminal.send("say begun; tool t go\r");
    terminal.wait_text("begun");
    terminal.wait_text("◌ ");
    terminal.send("say again\r");
    terminal.wait_text("⧗ queued say again");
    kill(crate::adapt::newest_process(&log));
    terminal.wait_text("The agent is gone");
    terminal.wait("what was queued to be answered", |screen| {
        screen.contents().lines().any(|row| row.trim_end() == "again")
    });
    terminal.wait_text("○ idle");
    let shown = rows(&terminal);
    assert_eq!(shown.iter().filter(|row| *row == "┃ say again").count(), 1, "{shown:#?}");
}

/// A shell gets its terminal back also where something else has started the chat and waits for it.
#[test]
fn it_goes_into_the_background_with_whoever_has_started_it() {
    let place = Place::new();
    let nudge = env!("CARGO_BIN_EXE_nudge");
    let script = place.work.path().join("wrap.sh");
    std::fs::write(&script, format!("{nudge} chat\necho it has ended\n"))
        .expect("the folder can be written to");
    let mut command = CommandBuilder::new("bash");
    command.args(["--norc", "--noprofile", "-i"]);
    let terminal = super::started(&place, command, &[("PS1", "ready> ")], (24, 80));
    terminal.wait_text("ready> ");
    terminal.send("sh ./wrap.sh\r");
    terminal.wait_text("○ idle");
    terminal.send("\x1a");
    terminal.wait_text("Stopped");
    terminal.send("echo $((40 + 2))\r");
    terminal.wait_text("42");
    terminal.send("fg\r");
    terminal.wait_text("○ idle");
    terminal.send("hello\r");
    terminal.wait_text("heard hello");
    terminal.send("/quit\r");
    terminal.wait_text("it has ended");
}

#[test]
fn a_megabyte_is_pasted_and_said() {
    let place = Place::new();
    let env = rehearsal(&place, "[[turn]]\n[[turn.step]]\nplay = [{ text = \"got it\" }]\n");
    let terminal = terminal_of(&place, &["chat"], &[("NUDGE_REHEARSAL", &env)], (30, 80));
    terminal.wait_text("○ idle");
    let paste = "a line of some length\n".repeat(50_000);
    terminal.send(&format!("\x1b[200~{paste}\x1b[201~"));
    terminal.wait_text("[paste 1: 50000 lines]");
    terminal.send("\r");
    terminal.wait_text("┃ … 49980 more lines");
    terminal.wait_text("got it");
    terminal.wait_text("○ idle");
    let exported = place.command(&["sessions", "export", &session(&place), "--format", "json"]);
    assert!(exported.len() > paste.len(), "{} bytes", exported.len());
}

#[test]
fn a_flood_of_output_is_shown_by_its_end() {
    let place = Place::new();
    let terminal = chat(&place);
    terminal.send("run seq 100000\r");
    allow(&terminal);
    terminal.wait_text("ran");
    terminal.wait_text("○ idle");
    let shown = rows(&terminal);
    assert!(shown.iter().any(|row| row.contains("lines before")), "{shown:#?}");
    assert!(shown.len() < 24, "{shown:#?}");
}

#[test]
fn what_is_printed_with_tabs_is_drawn_over_as_it_was_drawn() {
    let place = Place::new();
    let terminal = terminal_of(&place, &["chat"], &[], (24, 60));
    terminal.wait_text("○ idle");
    let line = r"a\tb\tc\td\te\tf\tg\th\ti\tj\tk\tl\tm\tn\to\tp\tq\n";
    terminal.send(&format!("run for i in 1 2 3 4 5; do printf '{line}'; sleep 0.3; done\r"));
    allow(&terminal);
    terminal.wait_text("✓ ");
    terminal.wait_text("○ idle");
    let shown = rows(&terminal);
    assert_eq!(shown.iter().filter(|row| row.contains("│ a   b")).count(), 5, "{shown:#?}");
    assert!(!shown.iter().any(|row| row.starts_with("◌")), "{shown:#?}");
}

fn allow(terminal: &Terminal) {
    terminal.wait_text("or a number answers");
    press_when_seen(terminal, "y");
}

#[test]
fn nearly_a_hundred_thousand_lines_of_text_go_through() {
    let place = Place::new();
    let env = rehearsal(
        &place,
        "[[turn]]\n[[turn.step]]\nplay = [{ text = \"line\\n\", repeat = 99990 }, { text = \"the end\" }]\n",
    );
    let terminal = terminal_of(&place, &["chat"], &[("NUDGE_REHEARSAL", &env)], (24, 80));
    terminal.wait_text("○ idle");
    terminal.send("go\r");
    terminal.wait_text("● working");
    // Keys are heard meanwhile.
    terminal.send("typed");
    terminal.wait_text("› typed");
    terminal.wait_text("the end");
    terminal.wait_text("○ idle");
    let memory = terminal.process_id().and_then(nudge_testkit::peak_memory);
    assert!(memory.is_none_or(|bytes| bytes < 128 * 1024 * 1024), "{memory:?}");
}

#[test]
fn nothing_that_an_agent_says_commands_the_terminal() {
    let place = Place::new();
    let nasty = r"\u001b[2J\u001b[H\u001b]0;owned\u0007\u001b[?1049h\u009b2J\u202Egone\r\u001b[99A";
    let env = rehearsal(
        &place,
        &format!(
            "[[turn]]\n[[turn.step]]\nplay = [{{ text = \"before {nasty} after\" }}, {{ thought = \"{nasty}\" }}]\n"
        ),
    );
    let terminal = terminal_of(&place, &["chat"], &[("NUDGE_REHEARSAL", &env)], (24, 80));
    terminal.wait_text("○ idle");
    terminal.send("go\r");
    terminal.wait_text("after");
    terminal.wait_text("○ idle");
    let shown = rows(&terminal);
    assert_eq!(shown[0], "┃ go", "{shown:#?}");
    // What stands for it is not shown by this terminal; the words of it are.
    assert!(shown[1].starts_with("before ") && shown[1].contains("]0;owned"), "{shown:#?}");
    assert!(!terminal.look(vt100::Screen::alternate_screen));
    assert_eq!(terminal.title(), None);
}

#[test]
fn nothing_that_an_agent_calls_its_tools_and_sessions_commands_the_terminal() {
    let place = Place::new();
    let agent = crate::adapt::agent();
    let agent = agent.to_str().expect("its name is text");
    let terminal = terminal(&place, &["chat", "--", agent, "--rude"]);
    terminal.wait_text("○ idle");
    terminal.send("rude\r");
    terminal.wait_text("said ");
    terminal.wait_text("○ idle");
    let nasty = r"\u001b[2J\u001b[H\u001b]0\u003bowned\u0007\u001b[?1049h\u009b2Jgone\r";
    let diff =
        format!(r#"{{"type":"diff","path":"/a{nasty}","oldText":"old{nasty}\n","newText":"new{nasty}\n"}}"#);
    terminal.send(&format!(
        r#"ask t {{"title":"asked {nasty}","rawInput":{{"command":"{nasty}"}},"content":[{diff}]}}"#
    ));
    terminal.send("\r");
    terminal.wait_text("1. y");
    press_when_seen(&terminal, "y");
    terminal.wait_text("t: selected yes");
    terminal.wait_text("○ idle");
    drop(terminal);
    // What its sessions are called is shown where one is chosen.
    let terminal = super::terminal(&place, &["chat", "--resume", "--", agent, "--rude"]);
    terminal.wait_text("Which session?");
    terminal.wait_text("title ");
    let shown = rows(&terminal);
    assert!(shown[0].contains("Which session?"), "{shown:#?}");
    assert!(!terminal.look(vt100::Screen::alternate_screen));
    assert_eq!(terminal.title(), None);
}

//! A chat in lines, and one question from a script.

use nudge_testkit::Process;
use portable_pty::CommandBuilder;
use serde_json::Value;

use super::{exists, session};
use crate::{NO_SETTINGS, sessions::Place};

/// `nudge chat` in the folder of the place.
fn started(place: &Place, args: &[&str]) -> Process {
    let cwd = place.cwd();
    let line = ["-c", "cd \"$0\" && exec \"$@\"", &cwd, env!("CARGO_BIN_EXE_nudge"), "chat"];
    let mut env = place.env();
    env.extend([("NUDGE_CONFIG", NO_SETTINGS.to_owned()), ("NUDGE_MODEL", "rehearsal".to_owned())]);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Process::start("sh", &[&line, args].concat(), &env)
}

/// What it answers to this input.
pub(super) fn talked(place: &Place, args: &[&str], input: &[&str]) -> (Option<i32>, Vec<String>, String) {
    let mut process = started(place, args);
    for line in input {
        process.line(line);
    }
    let (status, lines, errors) = process.finish();
    (status.code(), lines, errors)
}

#[test]
fn one_question_is_answered_on_standard_output() {
    let place = Place::new();
    let (code, lines, errors) = talked(&place, &["hello", "there"], &[]);
    assert_eq!((code, lines), (Some(0), vec!["heard hello there".to_owned()]), "{errors}");
    let (code, lines, _) = talked(&place, &["-"], &["from a pipe"]);
    assert_eq!((code, lines), (Some(0), vec!["heard from a pipe".to_owned()]));
    let (code, lines, _) = talked(&place, &["--json", "is this", "right?", "-"], &["from a pipe"]);
    assert_eq!(code, Some(0));
    assert!(lines[0].contains(r"is this right?\n\nfrom a pipe"), "{lines:?}");
    // Into the session of before.
    let before = session(&place);
    let (code, lines, _) = talked(&place, &["--resume", "last", "again"], &[]);
    assert_eq!((code, lines, session(&place)), (Some(0), vec!["heard again".to_owned()], before));
    let (code, _, errors) = talked(&place, &["fail"], &[]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("the provider is down"), "{errors}");
}

#[test]
fn scripts_read_json() {
    let place = Place::new();
    let (code, lines, _) = talked(&place, &["--json", "plan"], &[]);
    let updates: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let kinds: Vec<_> = updates.iter().filter_map(|update| update["sessionUpdate"].as_str()).collect();
    assert_eq!(code, Some(0));
    assert_eq!(kinds.first(), Some(&"user_message"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"state_update"), "{kinds:?}");
    assert!(kinds.contains(&"plan_update") && kinds.contains(&"agent_message_chunk"), "{kinds:?}");
}

#[test]
fn where_nobody_is_asked_permission_is_refused_and_a_mode_permits() {
    let place = Place::new();
    let (code, _, errors) = talked(&place, &["write a.txt hello"], &[]);
    assert_eq!(code, Some(0));
    assert!(errors.contains("refused, since nobody is asked here"), "{errors}");
    assert!(!exists(&place, "a.txt"));
    let (code, _, errors) = talked(&place, &["--set", "mode=edit", "write a.txt hello"], &[]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(exists(&place, "a.txt"), "{errors}");
}

#[test]
fn a_script_does_one_after_the_other() {
    let place = Place::new();
    let (code, lines, errors) = talked(&place, &[], &["write a.txt one", "/mode edit", "write b.txt two"]);
    let said = lines.join("\n");
    assert_eq!(code, Some(0), "{errors}");
    assert!(said.contains("Refused, since nobody is there to answer"), "{said}");
    assert!(!exists(&place, "a.txt"), "{said}");
    assert!(exists(&place, "b.txt"), "{said}");
    // A session in which nothing was said is not what `last` means.
    let before = session(&place);
    talked(&place, &[], &[]);
    assert_ne!(session(&place), before);
    let (code, lines, errors) = talked(&place, &["--resume", "last"], &["again"]);
    let said = lines.join("\n");
    assert_eq!(code, Some(0), "{errors}");
    assert!(said.contains("You: write b.txt two") && said.contains("heard again"), "{said}");
}

#[test]
fn lines_are_read_aloud_and_answered() {
    let place = Place::new();
    let input = ["hello", "write a.txt words", "1", "plan"];
    let mut process = started(&place, &["--plain"]);
    let mut said = String::new();
    for (line, awaited) in input.iter().zip(["heard hello", "Type a number.", "written:", "planned"]) {
        process.line(line);
        while !said.contains(awaited) {
            said.push_str(&process.next_line().unwrap_or_else(|| panic!("no `{awaited}` in {said}")));
            said.push('\n');
        }
    }
    let (status, rest, errors) = process.finish();
    assert!(status.success(), "{errors}");
    said.push_str(&rest.join("\n"));
    for expected in
        ["You: hello", "Agent: heard hello", "Permission:", "Plan: 1 of 2 done", "Agent thinks: I think"]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!said.contains('\u{1b}'), "{said:?}");
    assert!(exists(&place, "a.txt"));
}

/// On a terminal nobody waits for a script: a line is read when it is written, and Ctrl-C stops the turn.
#[test]
fn lines_are_written_and_read_on_a_terminal_that_can_do_no_more() {
    for line in ["TERM=dumb exec \"$0\" chat", "exec \"$0\" chat --plain"] {
        let place = Place::new();
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", line, env!("CARGO_BIN_EXE_nudge")]);
        let mut terminal = super::started(&place, command, &[], (24, 80));
        terminal.wait_text("Type a message, or /help.");
        terminal.send("write a.txt words\r");
        terminal.wait_text("Permission: ");
        terminal.wait_text("Type a number.");
        terminal.send("1\r");
        terminal.wait_text("written:");
        terminal.wait_text("The turn is over");
        assert!(exists(&place, "a.txt"));
        terminal.send("talk\r");
        terminal.wait_text("You: talk");
        terminal.send("\x03");
        terminal.wait_text("· stopped");
        // Where no turn runs, it leaves.
        terminal.send("\x03");
        assert_eq!(terminal.exit_code(), 0);
    }
}

#[test]
fn what_is_not_understood_is_said() {
    let place = Place::new();
    for (args, expected) in [
        (&["--resume", "nope"][..], "no session is called `nope`"),
        (&["--set", "mode", "x"], "expected --set NAME=VALUE"),
        (&["--", "no-such-agent-anywhere"], "no-such-agent-anywhere"),
    ] {
        let (code, _, errors) = talked(&place, args, &[]);
        assert!(code != Some(0) && errors.contains(expected), "{args:?}: {errors}");
    }
}

//! `nudge login` as somebody at a terminal sees it.

use super::{Home, KEY};
use crate::terminal::Terminal;

/// Runs a line in a shell, in a home.
fn run(home: &Home, line: &str, env: &[(&str, &str)]) -> Terminal {
    let own = home.env();
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env: Vec<_> = own.chain(env.iter().copied()).collect();
    Terminal::run(line, &env, &home.path(""))
}

/// All that a terminal has shown, once what it ran has ended, and its status.
fn ended(terminal: &mut Terminal) -> (u32, String) {
    let (code, shown) = terminal.ended();
    assert!(!shown.contains("hush"), "a key is shown: {shown}");
    (code, shown)
}

/// Says whether the terminal shows what is typed, once the command before is over.
const THEN_LOOK: &str =
    "; echo \"status $?\"; stty -a | tr ' ' '\\n' | grep -x -e 'echo' -e '-echo'; echo over";

#[test]
fn a_provider_is_chosen_from_a_list_and_its_key_is_not_shown() {
    let home = Home::new();
    let found = [("ANTHROPIC_API_KEY", KEY)];
    let mut terminal = run(&home, &format!("$NUDGE login{THEN_LOOK}"), &found);
    terminal
        .sees("Which provider?")
        .sees("found: ANTHROPIC_API_KEY of the environment")
        .sees("Number or name: ");
    terminal
        .types("99\r")
        .sees("expected a number from 1 to 8")
        .types("8\r")
        .sees("Address of Another server");
    terminal.types(&format!("{}\r", home.url())).sees("it is not shown, or Enter for none): ");
    terminal
        .types(&format!("x\u{7f}{KEY}\r"))
        .sees("began to answer after")
        .sees("signed in to Another server");
    terminal.sees("over");
    let (_, shown) = ended(&mut terminal);
    assert!(shown.contains("status 0") && shown.contains("\necho\r"), "{shown}");
    assert!(home.kept("secrets.toml").contains(&format!("\"{KEY}\"")));
}

#[test]
fn what_does_not_work_is_kept_only_if_the_user_says_so() {
    let home = Home::refusing();
    let line = format!("$NUDGE login anthropic --url {}{THEN_LOOK}", home.provider.url());
    for (answer, is_kept) in [("\r", false), ("y\r", true)] {
        let mut terminal = run(&home, &line, &[]);
        terminal.sees("Key for Anthropic (it is not shown): ").types(&format!("{KEY}\r"));
        terminal
            .sees("It does not work: anthropic does not accept the key")
            .sees("Keep it all the same? [y/N] ");
        terminal.types(answer).sees("over");
        ended(&mut terminal);
        assert_eq!(home.kept("secrets.toml").contains(KEY), is_kept);
    }
}

#[test]
fn ctrl_c_leaves_nothing_behind_and_the_terminal_as_it_was() {
    let home = Home::new();
    let line = format!("$NUDGE login anthropic --url {}{THEN_LOOK}", home.provider.url());
    let mut terminal = run(&home, &line, &[]);
    terminal.sees("(it is not shown): ").types("sk-half\u{3}").sees("over");
    let (_, shown) = ended(&mut terminal);
    assert!(
        shown.contains("status 130") && shown.contains("\necho\r") && !shown.contains("sk-half"),
        "{shown}"
    );
    assert!(!home.path("data/providers.toml").exists() && home.provider.requests().is_empty());
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let home = Home::new();
    let line =
        format!("$NUDGE login anthropic --no-test & echo $! > pid; fg >/dev/null 2>&1; wait{THEN_LOOK}");
    let mut terminal = run(&home, &format!("set -m; {line}"), &[]);
    terminal.sees("(it is not shown): ");
    let pid = std::fs::read_to_string(home.path("pid")).expect("it is written first");
    let sent = std::process::Command::new("kill").args(["-s", "TERM", pid.trim()]).status().unwrap();
    assert!(sent.success());
    terminal.sees("over");
    let (_, shown) = ended(&mut terminal);
    assert!(shown.contains("\necho\r"), "{shown}");
}

#[test]
fn an_editor_lets_the_user_sign_in_with_the_command_that_it_starts() {
    let home = Home::new();
    let line = format!("NUDGE_LOGIN=1 $NUDGE acp{THEN_LOOK}");
    let mut terminal = run(&home, &line, &[]);
    terminal
        .sees("Number or name: ")
        .types("custom\r")
        .sees("Address of")
        .types(&format!("{}\r", home.url()));
    terminal.sees("or Enter for none): ").types("\r").sees("signed in to Another server").sees("over");
    let (_, shown) = ended(&mut terminal);
    assert!(shown.contains("status 0"), "{shown}");
}

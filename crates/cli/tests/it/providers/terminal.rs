//! `nudge login` as somebody at a terminal sees it.

use std::{
    io::{Read, Write},
    sync::Arc,
    time::Instant,
};

use nudge_testkit::PATIENCE;
use parking_lot::{Condvar, Mutex};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::{Home, KEY};

/// A program on a terminal. Killed when dropped.
struct Terminal {
    shown: Arc<(Mutex<String>, Condvar)>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    // Closing it would hang up the program.
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Runs a line in a shell.
    fn run(home: &Home, line: &str, env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", line]);
        command.env_clear();
        for (name, value) in home.env() {
            command.env(name, value);
        }
        for (name, value) in env {
            command.env(name, value);
        }
        command.env("NUDGE", env!("CARGO_BIN_EXE_nudge"));
        command.cwd(home.path(""));
        let size = PtySize { rows: 40, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("there are pseudo-terminals");
        let child = pty.slave.spawn_command(command).expect("the shell starts");
        let mut output = pty.master.try_clone_reader().expect("the terminal can be read");
        let keys = pty.master.take_writer().expect("the terminal can be written to");
        let shown = Arc::new((Mutex::new(String::new()), Condvar::new()));
        std::thread::spawn({
            let shown = Arc::clone(&shown);
            move || {
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = output.read(&mut bytes) {
                    shown.0.lock().push_str(&String::from_utf8_lossy(&bytes[..read]));
                    shown.1.notify_all();
                }
            }
        });
        Self { shown, keys, child, _master: pty.master }
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        self.keys.write_all(keys.as_bytes()).and_then(|()| self.keys.flush()).expect("it reads its keys");
        self
    }

    /// Waits until a text is shown.
    fn sees(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        let mut shown = self.shown.0.lock();
        while !shown.contains(text) {
            let is_late = self.shown.1.wait_until(&mut shown, deadline).timed_out();
            assert!(!is_late, "waited for {text:?}; shown is\n{shown}");
        }
        drop(shown);
        self
    }

    /// All that was shown, once it has ended, and its status.
    fn ended(&mut self) -> (u32, String) {
        let code = self.child.wait().expect("it ends").exit_code();
        let shown = self.shown.0.lock().clone();
        assert!(!shown.contains("hush"), "a key is shown: {shown}");
        (code, shown)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says whether the terminal shows what is typed, once the command before is over.
const THEN_LOOK: &str =
    "; echo \"status $?\"; stty -a | tr ' ' '\\n' | grep -x -e 'echo' -e '-echo'; echo over";

#[test]
fn a_provider_is_chosen_from_a_list_and_its_key_is_not_shown() {
    let home = Home::new();
    let found = [("ANTHROPIC_API_KEY", KEY)];
    let mut terminal = Terminal::run(&home, &format!("$NUDGE login{THEN_LOOK}"), &found);
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
    let (_, shown) = terminal.ended();
    assert!(shown.contains("status 0") && shown.contains("\necho\r"), "{shown}");
    assert!(home.kept("secrets.toml").contains(&format!("\"{KEY}\"")));
}

#[test]
fn what_does_not_work_is_kept_only_if_the_user_says_so() {
    let home = Home::refusing();
    let line = format!("$NUDGE login anthropic --url {}{THEN_LOOK}", home.provider.url());
    for (answer, is_kept) in [("\r", false), ("y\r", true)] {
        let mut terminal = Terminal::run(&home, &line, &[]);
        terminal.sees("Key for Anthropic (it is not shown): ").types(&format!("{KEY}\r"));
        terminal
            .sees("It does not work: anthropic does not accept the key")
            .sees("Keep it all the same? [y/N] ");
        terminal.types(answer).sees("over");
        terminal.ended();
        assert_eq!(home.kept("secrets.toml").contains(KEY), is_kept);
    }
}

#[test]
fn ctrl_c_leaves_nothing_behind_and_the_terminal_as_it_was() {
    let home = Home::new();
    let line = format!("$NUDGE login anthropic --url {}{THEN_LOOK}", home.provider.url());
    let mut terminal = Terminal::run(&home, &line, &[]);
    terminal.sees("(it is not shown): ").types("sk-half\u{3}").sees("over");
    let (_, shown) = terminal.ended();
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
    let mut terminal = Terminal::run(&home, &format!("set -m; {line}"), &[]);
    terminal.sees("(it is not shown): ");
    let pid = std::fs::read_to_string(home.path("pid")).expect("it is written first");
    let sent = std::process::Command::new("kill").args(["-s", "TERM", pid.trim()]).status().unwrap();
    assert!(sent.success());
    terminal.sees("over");
    let (_, shown) = terminal.ended();
    assert!(shown.contains("\necho\r"), "{shown}");
}

#[test]
fn an_editor_lets_the_user_sign_in_with_the_command_that_it_starts() {
    let home = Home::new();
    let line = format!("NUDGE_LOGIN=1 $NUDGE acp{THEN_LOOK}");
    let mut terminal = Terminal::run(&home, &line, &[]);
    terminal
        .sees("Number or name: ")
        .types("custom\r")
        .sees("Address of")
        .types(&format!("{}\r", home.url()));
    terminal.sees("or Enter for none): ").types("\r").sees("signed in to Another server").sees("over");
    let (_, shown) = terminal.ended();
    assert!(shown.contains("status 0"), "{shown}");
}

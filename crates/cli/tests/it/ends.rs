//! How it ends: closed input, signals, mistakes on the command line.

use std::process::{Command, Output, Stdio};

use crate::{nudge, nudge_with, ping};

/// Nothing of the user's is touched.
const ALONE: [(&str, &str); 2] = [("NUDGE_DAEMON", "off"), ("NUDGE_DATA", "")];

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nudge"))
        .args(args)
        .env_remove("NUDGE_LOG")
        .envs(ALONE)
        .output()
        .expect("nudge starts")
}

#[test]
fn closed_input_ends_it_with_everything_answered() {
    let mut nudge = nudge(&["acp"]);
    for id in 0..1000 {
        ping(&mut nudge, &id.to_string());
    }
    let (status, lines, errors) = nudge.finish();
    assert!(status.success(), "{status}");
    assert_eq!(lines.len(), 1000);
    assert_eq!(errors, "");
}

#[test]
fn an_editor_that_goes_away_is_an_ordinary_end() {
    let script = format!("for i in 1 2 3; do echo x; done | {} acp | true", env!("CARGO_BIN_EXE_nudge"));
    let output = Command::new("sh").args(["-c", &script]).envs(ALONE).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn ctrl_c_ends_it() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut nudge = nudge(&["acp"]);
        ping(&mut nudge, "1");
        nudge.next_json().expect("it runs");
        let sent = Command::new("kill").args(["-s", signal, &nudge.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(nudge.wait_with_input_open().code(), Some(code));
    }
}

#[test]
fn help_and_version_teach() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    for word in ["acp", "NUDGE_LOG", "NO_COLOR", "Try it"] {
        assert!(help.contains(word), "{help}");
    }
    let help = String::from_utf8(run(&["acp", "--help"]).stdout).unwrap();
    for word in ["--trace", "NUDGE_TRACE", "--max-message"] {
        assert!(help.contains(word), "{help}");
    }
    let version = String::from_utf8(run(&["--version"]).stdout).unwrap();
    assert_eq!(version.trim(), format!("nudge {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn mistakes_are_told() {
    let output = run(&["acp", "--trace", "/nowhere/at/all/trace"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("cannot write the trace to /nowhere/at/all/trace"), "{errors}");
    let output = run(&["acp", "--max-message", "7"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("1024 or more"));
    assert_eq!(run(&["no-such-command"]).status.code(), Some(2));
}

#[test]
fn the_log_goes_to_standard_error_and_only_when_asked_for() {
    let mut nudge = nudge_with(&["acp"], &[("NUDGE_LOG", "debug")]);
    ping(&mut nudge, "1");
    let (_, lines, errors) = nudge.finish();
    assert_eq!(lines.len(), 1);
    assert!(errors.contains("initialized"), "{errors}");
    assert!(!errors.contains('\u{1b}'), "no colours where nobody looks: {errors}");
    let bad = nudge_with(&["acp"], &[("NUDGE_LOG", "=[")]);
    let (status, _, errors) = bad.finish();
    assert!(status.success() && errors.contains("NUDGE_LOG cannot be read"), "{errors}");
}

#[test]
fn nobody_has_to_read_standard_error() {
    use std::io::{Read, Write};
    let bad = "{\"jsonrpc\":\"2.0\",\"result\":1}\n";
    let good =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n";
    // Open but never read, with more logged than fits into a pipe; and closed.
    for script in ["exec \"$0\" acp", "exec \"$0\" acp 2>&-"] {
        let mut child = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_nudge")])
            .env("NUDGE_LOG", "trace")
            .envs(ALONE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all((bad.repeat(5000) + good).as_bytes()).unwrap();
        drop(input);
        let mut output = String::new();
        child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(output.contains("\"protocolVersion\":1"), "{script}: {output}");
        assert!(child.wait().unwrap().success());
    }
}

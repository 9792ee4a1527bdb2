//! What helps a newcomer and a packager: help, version, the log, completions, manual pages, and the health of Nudge itself.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{nudge, nudge_with};

/// A folder for data, and the settings that name it.
fn data() -> (TempDir, String) {
    let data = tempfile::tempdir().expect("a temporary folder");
    let name = data.path().to_str().expect("its name is text").to_owned();
    (data, name)
}

/// What a command says, if it went well.
fn said(args: &[&str]) -> String {
    let (status, lines, errors) = nudge(args).finish();
    assert!(status.success(), "{args:?}: {errors}");
    lines.join("\n")
}

#[test]
fn help_and_version_are_commands_too() {
    let version = said(&["version"]);
    assert!(version.starts_with(&format!("{} (", said(&["--version"]))), "{version}");
    let build = version.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    assert!(build.is_some_and(|build| !build.is_empty()), "{version}");
    let help = said(&["help"]);
    assert!(help.contains("Exit status:") && help.contains("approve"), "{help}");
    assert!(said(&["help", "steer"]).contains("nudge steer last"));
    let (status, _, _) = nudge(&["no-such-command"]).finish();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_wrong_filter_for_the_log_is_told() {
    for (asked, is_wrong) in [
        ("loud", true),
        ("warn,nudge_peer=loud", true),
        ("warn,=", true),
        ("warn", false),
        ("", false),
        ("off", false),
        ("warn,nudge_peer=debug", false),
        ("nudge_hub", false),
    ] {
        let (status, lines, errors) = nudge_with(&["version"], &[("NUDGE_LOG", asked)]).finish();
        assert!(status.success() && lines.len() == 1);
        assert_eq!(errors.contains("NUDGE_LOG cannot be read"), is_wrong, "{asked}: {errors}");
    }
}

#[test]
fn status_says_where_things_are() {
    let (_data, name) = data();
    let (status, lines, errors) = nudge_with(&["status"], &[("NUDGE_DATA", &name)]).finish();
    assert!(status.success(), "{errors}");
    let told = lines.join("\n");
    let version = said(&["version"]).replace("nudge ", "");
    for expected in ["no daemon runs", &version, env!("CARGO_BIN_EXE_nudge"), &name, "daemon.log"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}

#[test]
fn the_log_of_the_daemon_is_shown_and_followed() {
    let (_data, name) = data();
    let env = [("NUDGE_DATA", &*name), ("NUDGE_DAEMON", "on"), ("NUDGE_LOG", "info"), ("NUDGE_LINGER", "5")];
    let run = |args: &[&str]| nudge_with(args, &env).finish();
    let (status, _, errors) = run(&["logs"]);
    assert_eq!(status.code(), Some(1));
    assert!(errors.contains("there is no log"), "{errors}");
    let mut client = nudge_with(&["acp"], &env);
    client.line(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    client.next_json().expect("it answers");
    let (_, lines, _) = run(&["logs"]);
    assert!(lines.iter().any(|line| line.contains("the daemon listens")), "{lines:?}");
    let (_, lines, errors) = run(&["logs", "-n", "1"]);
    assert!(lines.len() == 1 && errors.contains("-n 0"), "{lines:?} {errors}");
    let mut following = nudge_with(&["logs", "-f", "-n", "0"], &env);
    while !following.next_line().expect("the log so far").contains("initialized") {}
    drop(client);
    run(&["stop"]);
    while !following.next_line().expect("what comes").contains("the daemon leaves") {}
}

#[test]
fn a_line_of_the_log_that_is_half_written_is_not_broken() {
    for count in ["0", "9"] {
        let (folder, name) = data();
        let path = folder.path().join("daemon.log");
        std::fs::write(&path, "one\nha").unwrap();
        let mut following = nudge_with(&["logs", "-f", "-n", count], &[("NUDGE_DATA", &name)]);
        assert_eq!(following.next_line().as_deref(), Some("one"));
        let mut log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        log.write_all(b"lf\ntwo\n").unwrap();
        assert_eq!(following.next_line().as_deref(), Some("half"));
        assert_eq!(following.next_line().as_deref(), Some("two"));
        drop(following);
        log.write_all(b"cut").unwrap();
        let (_, lines, _) = nudge_with(&["logs", "-n", count], &[("NUDGE_DATA", &name)]).finish();
        assert_eq!(lines, ["one", "half", "two", "cut"]);
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    for args in [
        &["version"][..],
        &["status"],
        &["status", "--json"],
        &["sessions"],
        &["sessions", "--json"],
        &["doctor"],
        &["agents"],
        &["completions", "bash"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_nudge"))
            .args(args)
            .env("NUDGE_DATA", "")
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        assert!(errors.contains("No space left"), "{args:?}: {errors}");
    }
}

#[test]
fn an_empty_variable_is_not_set() {
    let (_data, name) = data();
    let empty =
        ["TRACE", "REHEARSAL", "AGENT", "LINGER", "ISOLATE", "MAX_MESSAGE", "STORE", "PATIENCE", "NES"];
    let names: Vec<String> = empty.iter().map(|name| format!("NUDGE_{name}")).collect();
    for command in ["acp", "lsp"] {
        for daemon in ["off", "on"] {
            let mut env = vec![("NUDGE_DATA", &*name), ("NUDGE_DAEMON", daemon)];
            env.extend(names.iter().map(|name| (&**name, "")));
            let (status, _, errors) = nudge_with(&[command], &env).finish();
            // A language server that was not told to leave says so by its status.
            assert_eq!(
                (status.code(), &*errors),
                (Some(i32::from(command == "lsp")), ""),
                "{command}, {daemon}"
            );
        }
    }
    nudge_with(&["stop"], &[("NUDGE_DATA", &name)]).finish();
}

#[test]
fn the_command_line_comes_before_the_environment() {
    let run = |args: &[&str], env: (&str, &str)| {
        let (status, _, errors) = nudge_with(args, &[env]).finish();
        (status.code(), errors)
    };
    let goose = ("NUDGE_AGENT", "no-such-agent");
    let (code, errors) = run(&["acp", "--", "true"], goose);
    assert_eq!(code, Some(0), "{errors}");
    let (code, errors) = run(&["acp"], goose);
    assert!(code == Some(1) && errors.contains("no agent"), "{errors}");
    let (code, errors) = run(&["acp", "--agent", "goose", "--", "true"], goose);
    assert!(code == Some(2) && errors.contains("cannot be used with"), "{errors}");
    for (asked, code) in [("1", 0), ("0", 0), ("true", 0), ("no", 0), ("perhaps", 2)] {
        let (found, errors) = run(&["acp", "--", "true"], ("NUDGE_ISOLATE", asked));
        assert_eq!(found, Some(code), "{asked}: {errors}");
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = said(&["completions", shell]);
        assert!(script.contains("approve") && script.contains("no-history"), "{shell}");
    }
    let (folder, name) = data();
    let dir = format!("{name}/man1");
    said(&["man", &dir]);
    let page = |name: &str| std::fs::read_to_string(folder.path().join("man1").join(name)).expect(name);
    assert!(page("nudge.1").contains("Exit status"));
    assert!(page("nudge-steer.1").contains("keep the old name"));
    assert!(page("nudge-sessions-export.1").contains("markdown"));
}

#[test]
fn the_doctor_looks_at_nudge_itself() {
    let (folder, name) = data();
    let (status, lines, errors) = nudge_with(&["doctor"], &[("NUDGE_DATA", &name)]).finish();
    let told = lines.join("\n");
    assert!(status.success(), "{told}\n{errors}");
    for what in ["program", "data folder", "store", "daemon", "log", "built-in agent"] {
        assert_eq!(lines.iter().filter(|line| line.starts_with(what)).count(), 1, "{told}");
    }
    assert!(!told.contains("WRONG"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0, "it leaves nothing behind");

    let store = format!("{name}/sessions.db");
    std::fs::write(&store, "this is no database, but it is long enough to be one").unwrap();
    for _ in 0..2 {
        let (status, lines, errors) = nudge_with(&["doctor"], &[("NUDGE_DATA", &name)]).finish();
        let wrong: Vec<_> = lines.iter().filter(|line| line.contains("WRONG")).collect();
        assert!(status.code() == Some(1) && wrong.len() == 1, "{lines:?} {errors}");
        assert!(wrong[0].starts_with("store") && wrong[0].contains("damaged"), "{wrong:?}");
        assert_eq!(errors, "", "it is told once");
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1, "nothing is moved");
    }

    for data in ["/proc/nope", "/proc/self/nope/deep"] {
        let (status, lines, errors) = nudge_with(&["doctor", "--data", data], &[]).finish();
        let told = lines.join("\n");
        assert_eq!(status.code(), Some(1), "{told} {errors}");
        assert!(told.contains(&format!("data folder    WRONG {data} cannot be made")), "{told}");
    }

    let file = format!("{name}/file");
    std::fs::write(&file, "").unwrap();
    let (status, lines, _) = nudge_with(&["doctor", "--json"], &[("NUDGE_DATA", &file)]).finish();
    assert_eq!(status.code(), Some(1));
    let told: Value = serde_json::from_str(&lines.join("")).expect("it is JSON");
    let checks = told["checks"].as_array().expect("a list");
    let folder = checks.iter().find(|check| check["what"] == "data folder").expect("it is looked at");
    assert_eq!(folder["ok"], false, "{told}");
}

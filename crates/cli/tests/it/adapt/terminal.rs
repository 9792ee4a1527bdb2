//! What an agent says of itself and to the user reaches a terminal as text alone.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Place, agent, check_each};
use crate::nudge_with;

/// What `--rude` puts everywhere, as it must not come out.
fn is_harmless(c: char) -> bool {
    let is_unseen = matches!(u32::from(c), 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff);
    !is_unseen && (!c.is_control() || c == '\t' || c == '\n')
}

fn check(what: &str, text: &str) {
    assert!(text.chars().all(is_harmless), "{what}: {text:?}");
}

/// What a command prints to both outputs, after a look at it. The first is that for programs.
fn looked_at(place: &Place, args: &[&str]) -> (Vec<String>, String) {
    let (_, lines, errors) = place.nudge(args, "on").finish();
    check(&format!("{args:?}"), &lines.join("\n"));
    check(&format!("{args:?} on standard error"), &errors);
    (lines, errors)
}

/// A place with one session of a rude agent, which has said what it has to say.
fn after_a_rude_turn(options: &str) -> Place {
    let place = Place::new();
    let mut client = place.shared_client(options, 2);
    client.new_session(&place.cwd());
    client.prompt("rude");
    client.turn_end(1);
    // What the agent calls its session is on disk a moment later.
    nudge_testkit::eventually("the session has its title", || {
        place.nudge(&["sessions", "--json"], "on").finish().1.join("").contains(r#""title \u001b"#)
    });
    place
}

#[test]
fn no_command_about_sessions_lets_it_command_the_terminal() {
    check_each(["--rude", "--rude --v2"], |options| {
        let place = after_a_rude_turn(options);
        let (rows, _) = looked_at(&place, &["sessions"]);
        assert_eq!(rows.len(), 1, "a title makes no rows: {rows:?}");
        let (shown, _) = looked_at(&place, &["sessions", "show", "last"]);
        assert!(shown[1].contains("title") && shown[1].contains("second row"), "{shown:?}");
        let (status, _) = looked_at(&place, &["status"]);
        assert_eq!(status.iter().filter(|line| line.contains("rude")).count(), 1, "{status:?}");
        let (exported, _) = looked_at(&place, &["sessions", "export", "last"]);
        assert!(exported.join("\n").contains("said"), "{exported:?}");
        let (queued, _) = looked_at(&place, &["queue", "last", "say hello"]);
        let session = shown[0].as_str();
        looked_at(&place, &["revoke", session, &queued[0]]);
        looked_at(&place, &["revoke", session, "no\u{1b}[2Jsuch"]);
        looked_at(&place, &["cancel", "last"]);
        looked_at(&place, &["sessions", "show", "no\u{1b}[2Jsuch"]);
    });
}

#[test]
fn nor_does_what_is_written_for_programs() {
    let place = after_a_rude_turn("--rude");
    for args in [
        &["sessions", "--json"][..],
        &["sessions", "show", "last", "--json"],
        &["sessions", "export", "last", "--format", "json"],
        &["status", "--json"],
    ] {
        let (lines, _) = looked_at(&place, args);
        let read: Value = serde_json::from_str(&lines.join("\n")).expect("it is JSON");
        assert!(read.to_string().contains("rude\u{202e}"), "nothing is lost: {read}");
    }
}

#[test]
fn nor_what_is_watched() {
    check_each(["--rude", "--rude --v2"], |options| {
        let place = after_a_rude_turn(options);
        let mut watch = place.nudge(&["watch", "last"], "on");
        let lines: Vec<_> =
            std::iter::from_fn(|| watch.next_line()).take_while(|line| !line.contains("[idle]")).collect();
        check("watch", &lines.join("\n"));
        assert!(lines.iter().any(|line| line.contains("said")), "{lines:?}");
        let mut watch = place.nudge(&["watch", "last", "--json"], "on");
        loop {
            let line = watch.next_line().expect("the history ends with the state");
            check("watch --json", &line);
            if line.contains("state_update") {
                break;
            }
        }
    });
}

#[test]
fn nor_what_the_doctor_finds() {
    check_each(["--rude", "--rude --v2", "--rude --fail-start 9 COUNT"], |options| {
        let place = Place::new();
        let program = agent();
        let options = options.replace("COUNT", &place.desk("count"));
        let mut args = vec!["doctor", "--", program.to_str().expect("its name is text")];
        args.extend(options.split_whitespace());
        let (lines, errors) = looked_at(&place, &args);
        let told = format!("{}\n{errors}", lines.join("\n"));
        assert!(told.contains("second row"), "{told}");
        let (_, _, log) = nudge_with(&args, &[("NUDGE_LOG", "debug")]).finish();
        check("the log", &log);
        assert!(log.lines().any(|line| line.contains("INFO agent: ")), "{log}");
    });
}

#[test]
fn a_sentence_is_not_broken_by_the_state() {
    check_each(["", "--v2"], |options| {
        let place = Place::new();
        let mut client = place.shared_client(options, 2);
        client.new_session(&place.cwd());
        client.prompt("say one half; until go; say  other half");
        client.said("one half");
        let mut watch = place.nudge(&["watch", "last"], "on");
        // It has joined.
        nudge_testkit::eventually("two are attached", || {
            let status = place.nudge(&["status", "--json"], "on").finish().1.join("");
            serde_json::from_str::<Value>(&status).expect("it is JSON")["sessions"][0][1]["clients"] == 2
        });
        place.touch("go");
        let lines: Vec<_> =
            std::iter::from_fn(|| watch.next_line()).take_while(|line| !line.contains("[idle]")).collect();
        assert!(lines.iter().any(|line| line.contains("one half other half")), "{lines:?}");
    });
}

#[test]
fn ctrl_c_ends_a_watch_that_nobody_reads() {
    let place = Place::new();
    let mut client = place.shared_client("", 2);
    client.new_session(&place.cwd());
    client.prompt("flood 400 1000");
    client.turn_end(1);
    let mut watch = Command::new(env!("CARGO_BIN_EXE_nudge"))
        .args(["watch", &client.session, "--data", place.data.path().to_str().expect("its name is text")])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let unread = watch.stdout.take().expect("it is piped");
    nudge_testkit::eventually("the pipe is full", || {
        rustix::io::ioctl_fionread(&unread).expect("a pipe can be asked") >= 40_000
    });
    let sent = Command::new("kill").args(["-s", "INT", &watch.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut code = None;
    nudge_testkit::eventually("it ends", || {
        code = watch.try_wait().expect("it is ours").map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(130)));
}

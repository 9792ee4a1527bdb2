//! The commands with which people look after sessions from a terminal.

use std::{
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use super::{Client, Place};

/// What a command says, in a folder, with this on its standard input.
pub(super) fn run(place: &Place, folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nudge"))
        .args(args)
        .envs(place.env())
        .env("NUDGE_DAEMON", "on")
        .env_remove("PWD")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // It may not read it.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// What it prints to both outputs, if it went well.
pub(super) fn ran(place: &Place, folder: &Path, args: &[&str]) -> (String, String) {
    let output = run(place, folder, args, "");
    let (out, errors) = texts(&output);
    assert!(output.status.success(), "{args:?}: {errors}");
    (out, errors)
}

/// What it says on standard error, if it could not be done.
pub(super) fn refused(place: &Place, folder: &Path, args: &[&str]) -> String {
    let output = run(place, folder, args, "");
    let (out, errors) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {out}{errors}");
    errors
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// A client of the daemon with a session in a folder, in which it has prompted.
pub(super) fn prompted(place: &Place, folder: &Path, prompt: &str) -> Client {
    let mut client = place.shared_client(2);
    client.new_session(folder.canonicalize().expect("it is there").to_str().expect("its name is text"));
    client.prompt(prompt);
    client
}

#[test]
fn last_is_the_newest_session_of_this_folder() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let nowhere = tempfile::tempdir().unwrap();
    let mut here = prompted(&place, place.work.path(), "first");
    here.turn_end(1);
    let mut there = prompted(&place, elsewhere.path(), "second");
    there.turn_end(1);
    let shown = |folder: &Path| {
        let (shown, errors) = ran(&place, folder, &["sessions", "show", "last", "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        (shown["sessionId"].as_str().unwrap().to_owned(), errors)
    };
    assert_eq!(shown(place.work.path()), (here.session.clone(), String::new()));
    assert_eq!(shown(elsewhere.path()), (there.session.clone(), String::new()));
    let (session, errors) = shown(nowhere.path());
    assert_eq!(session, there.session);
    assert!(errors.contains("this folder has no session"), "{errors}");
}

#[test]
fn what_is_said_is_told_with_the_session_it_goes_to() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "talk");
    client.said("word");
    let is_named = |errors: &str| errors.contains("talk") && errors.contains(&place.cwd());
    let (id, errors) = ran(&place, place.work.path(), &["queue", "last", "later"]);
    assert!(id.starts_with("msg_") && !id.contains(char::is_whitespace), "{id}");
    assert!(is_named(&errors) && errors.contains(&client.session), "{errors}");
    let (out, errors) = ran(&place, place.work.path(), &["revoke", "last", &id]);
    assert_eq!(out, format!("revoked {id}"));
    assert!(is_named(&errors), "{errors}");
    let (id, errors) = ran(&place, place.work.path(), &["steer", "last", "left"]);
    assert!(is_named(&errors), "{errors}");
    assert_eq!(client.delivered(&id), "left");
}

#[test]
fn a_message_is_read_from_standard_input_or_a_file() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "talk");
    client.said("word");
    std::fs::write(place.work.path().join("plan.md"), "from a file\n").unwrap();
    let output = run(&place, place.work.path(), &["queue", "last", "-"], "from a pipe,\ntwo lines\n");
    let piped = texts(&output).0;
    let filed = ran(&place, place.work.path(), &["queue", "last", "@plan.md"]).0;
    let plain = ran(&place, place.work.path(), &["queue", "last", "@@ada"]).0;
    let errors = refused(&place, place.work.path(), &["queue", "last", "@no-such"]);
    assert!(errors.starts_with("nudge: cannot read the file no-such: No such file"), "{errors}");
    assert!(errors.contains("@@"), "{errors}");
    assert!(refused(&place, place.work.path(), &["queue", "last", "-"]).contains("nothing to say"));
    client.cancel();
    assert_eq!(client.delivered(&piped), "from a pipe,\ntwo lines");
    assert_eq!(client.delivered(&filed), "from a file");
    assert_eq!(client.delivered(&plain), "@ada");
}

#[test]
fn a_turn_is_cancelled_from_a_terminal() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "talk");
    client.said("word");
    let (out, errors) = ran(&place, place.work.path(), &["cancel"]);
    assert_eq!(out, format!("cancelled {}", client.session));
    assert!(errors.contains("talk"), "{errors}");
    assert_eq!(client.turn_end(1), "cancelled");
    assert!(refused(&place, place.work.path(), &["cancel", "last"]).contains("nothing runs"));
}

#[test]
fn what_waits_for_permission_is_approved_from_a_terminal() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "run touch done");
    let asked = client.agent_request();
    assert!(ran(&place, place.work.path(), &["status"]).0.contains("waits for you"));
    // The editor has gone: nobody is attached any more.
    let session = client.session.clone();
    drop(client);
    let (out, errors) = ran(&place, place.work.path(), &["approve"]);
    assert!(out.contains("touch done"), "{out}");
    assert!(errors.contains(&session), "{errors}");
    let mut again = place.shared_client(2);
    again.load(&session, &place.cwd());
    again.said("ran");
    assert!(place.work.path().join("done").exists(), "{asked}");
    assert!(refused(&place, place.work.path(), &["approve"]).contains("nothing waits"));
}

#[test]
fn what_waits_for_permission_is_rejected_from_a_terminal() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "run touch done");
    client.agent_request();
    let (out, _) = ran(&place, place.work.path(), &["reject", "last"]);
    assert!(out.contains("touch done"), "{out}");
    client.turn_end(1);
    assert!(!place.work.path().join("done").exists());
    client.until("the editor is not asked any more", |message| message["method"] == "$/cancel_request");
}

#[test]
fn what_is_always_permitted_is_not_asked_again() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "run true");
    client.agent_request();
    ran(&place, place.work.path(), &["approve", "--always"]);
    client.turn_end(1);
    client.prompt("run true");
    client.turn_end(2);
    let asked = client.log.iter().filter(|message| message["method"] == "session/request_permission");
    assert_eq!(asked.count(), 1);
}

#[test]
fn choices_are_listed_where_it_is_not_clear_what_is_meant() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut one = prompted(&place, place.work.path(), "run echo one");
    one.agent_request();
    let mut two = prompted(&place, place.work.path(), "run echo two");
    two.agent_request();
    let listed = refused(&place, place.work.path(), &["approve"]);
    assert!(listed.contains("echo one") && listed.contains("echo two"), "{listed}");
    assert!(listed.contains("allow_once") && listed.contains(&two.session), "{listed}");
    let listed = refused(&place, elsewhere.path(), &["approve"]);
    assert!(listed.contains("name the session") && listed.contains(&one.session), "{listed}");
    let listed = refused(&place, elsewhere.path(), &["approve", &one.session, "--option", "nonsense"]);
    assert!(listed.contains("allow_once"), "{listed}");
    let option = listed.lines().find(|line| line.contains("reject_once")).expect("it is offered");
    let option = option.split_whitespace().next().expect("it has an id");
    ran(&place, elsewhere.path(), &["approve", &one.session, "--option", option]);
    assert_eq!(one.turn_end(1), "end_turn");
    ran(&place, place.work.path(), &["approve", &two.session]);
    assert_eq!(two.turn_end(1), "end_turn");
}

#[test]
fn whoever_watches_sees_what_is_asked() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "run echo $HOME");
    client.agent_request();
    let mut watch = place.start(&["watch", &client.session], "on");
    let mut until = |words: &str| loop {
        let line = watch.next_line().expect("it is shown");
        if line.contains(words) {
            break line;
        }
    };
    assert!(until("[asks]").contains("echo $HOME"));
    until("allow_once");
    assert!(until("nudge approve").contains(&client.session));
    ran(&place, place.work.path(), &["approve"]);
    until("ran");
    until("[idle]");
}

#[test]
fn a_list_says_that_it_is_cut() {
    let place = Place::new();
    let mut client = place.shared_client(2);
    for _ in 0..3 {
        client.new_session(&place.cwd());
    }
    let listed = |limit: &str| {
        let (out, errors) = ran(&place, place.work.path(), &["sessions", "--limit", limit]);
        (out.lines().count(), errors)
    };
    let (rows, errors) = listed("2");
    assert!(rows == 2 && errors.contains("--limit 0"), "{errors}");
    assert_eq!(listed("3"), (3, String::new()));
    assert_eq!(listed("0"), (3, String::new()));
}

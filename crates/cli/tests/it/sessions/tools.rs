//! What the tools answer in a workspace that is large, odd or hostile.

use std::{
    fmt::Write,
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use nudge_testkit::{Process, peak_memory, skipped};
use serde_json::json;

use super::{Client, Place};

/// What the agent says that the tool has said.
fn answer(client: &mut Client, at: usize, prompt: &str) -> String {
    client.prompt(prompt);
    client.turn_end(at);
    let story = client.story();
    story.iter().rfind(|line| line.starts_with("agent: ")).expect("it says what came of it").clone()
}

fn pipe(place: &Place, name: &str) {
    assert!(Command::new("mkfifo").arg(place.work.path().join(name)).status().unwrap().success());
}

#[test]
fn a_search_finds_what_is_in_large_files_and_says_what_it_left_out() {
    let place = Place::new();
    let file = |name: &str| place.work.path().join(name);
    fs::write(file("large.txt"), "a line of no interest\n".repeat(150_000) + "the needle").unwrap();
    fs::write(file("image"), b"needle\x00").unwrap();
    pipe(&place, "pipe");
    let mut client = Client::with_session(&place, 1);
    let told = answer(&mut client, 1, "search needle");
    assert!(told.contains("large.txt:150001: the needle"), "{told}");
    assert!(told.contains("[Left out: binary: image; pipe, socket or device: pipe]"), "{told}");
}

#[test]
fn a_folder_that_cannot_be_read_is_not_an_empty_one() {
    let place = Place::new();
    let closed = place.work.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("a.txt"), "needle").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let Some(process) = without_privileges(&place) else { return };
    let mut client = Client::new(process, 1, &json!({}));
    client.new_session(&place.cwd());
    let listed = answer(&mut client, 1, "list closed");
    let found = answer(&mut client, 2, "search needle");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(listed.contains("The folder cannot be read: permission denied."), "{listed}");
    assert!(found.contains("[Left out: permission denied: closed]"), "{found}");
}

/// Nudge as a user to whom permissions matter, whoever runs the tests.
fn without_privileges(place: &Place) -> Option<Process> {
    if fs::read_dir(place.work.path().join("closed")).is_err() {
        return Some(place.start(&["acp"], "off"));
    }
    let bounds = ["--bounding-set", "-dac_override,-dac_read_search"];
    let works = Command::new("setpriv").args(bounds).arg("true").stderr(Stdio::null()).status();
    if !works.is_ok_and(|status| status.success()) {
        skipped("everything can be read here, and there is no `setpriv` to change that");
        return None;
    }
    let mut env = place.env();
    env.push(("NUDGE_DAEMON", "off".to_owned()));
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let args = [&bounds[..], &[env!("CARGO_BIN_EXE_nudge"), "acp"]].concat();
    Some(Process::start("setpriv", &args, &env))
}

#[test]
fn ignore_rules_cannot_make_a_search_wait_or_grow() {
    let place = Place::new();
    let file = |name: &str| place.work.path().join(name);
    let mut rules = String::new();
    for number in 0..40_000 {
        let _ = writeln!(rules, "x{number}*y[a-z]");
    }
    fs::create_dir_all(file("many")).unwrap();
    fs::create_dir_all(file("piped")).unwrap();
    fs::write(file("many/.gitignore"), rules).unwrap();
    fs::write(file("many/a.txt"), "needle").unwrap();
    pipe(&place, "piped/.gitignore");
    fs::write(file("piped/b.txt"), "needle").unwrap();
    let mut client = Client::with_session(&place, 1);
    answer(&mut client, 1, "hello");
    let before = peak_memory(client.process.id());
    let told = answer(&mut client, 2, "search needle");
    assert!(told.contains("many/a.txt:1: needle") && told.contains("piped/b.txt:1: needle"), "{told}");
    assert!(
        told.contains("too many patterns, of which only the first are followed: many/.gitignore"),
        "{told}"
    );
    assert!(told.contains("pipe, socket or device: piped/.gitignore"), "{told}");
    if let (Some(before), Some(after)) = (before, peak_memory(client.process.id())) {
        assert!(after < before + 64 * 1024 * 1024, "{} MiB more", (after - before) >> 20);
    }
}

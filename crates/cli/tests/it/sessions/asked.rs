//! What a connection asks for it gets, or an error that says why: also from a daemon that runs already.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nudge_testkit::{eventually, is_alive};
use serde_json::json;

use super::{Client, Place};

/// Far below the time after which a client gives up, and far above what anything here takes.
const SOON: Duration = Duration::from_secs(9);

/// A rehearsal in which the agent always says the same.
fn saying(place: &Place, words: &str) -> String {
    let path = place.work.path().join(format!("{words}.toml"));
    fs::write(&path, format!("[[turn]]\n[[turn.step]]\nplay = [{{ text = \"{words}\" }}]\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

impl Place {
    /// `nudge` beside a daemon, with these variables more.
    fn start_with(&self, args: &[&str], more: &[(&str, &str)]) -> nudge_testkit::Process {
        let mut env = self.env();
        env.push(("NUDGE_DAEMON", "on".to_owned()));
        let mut env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        env.extend(more);
        crate::nudge_with(args, &env)
    }

    /// How a command that cannot work ends, at once.
    fn refused(&self, args: &[&str], more: &[(&str, &str)]) -> String {
        let began = Instant::now();
        let (status, lines, errors) = self.start_with(args, more).finish();
        assert!(!status.success() && lines.is_empty(), "{lines:?}");
        assert!(began.elapsed() < SOON, "{errors}");
        errors
    }

    fn has_daemon(&self) -> bool {
        fs::read_dir(self.data.path()).unwrap().next().is_some()
    }
}

#[test]
fn each_connection_hears_the_rehearsal_it_asked_for() {
    let place = Place::new();
    let files = [saying(&place, "wren"), saying(&place, "finch")];
    let mut clients: Vec<_> =
        [&["acp", "--rehearsal", &files[0]][..], &["acp", "--rehearsal", &files[1]], &["acp"]]
            .into_iter()
            .map(|args| Client::new(place.start(args, "on"), 1, &json!({})))
            .collect();
    for (client, words) in clients.iter_mut().zip(["wren", "finch", "heard hello"]) {
        client.new_session(&place.cwd());
        client.prompt("hello");
        client.said(words);
    }
    // What was said by one was not said by all.
    assert!(!clients[1].story().join("\n").contains("wren"));
    let session = clients[0].session.clone();
    clients[1].load(&session, &place.cwd());
    clients[1].prompt("again");
    clients[1].turn_end(2);
    assert!(clients[1].story().iter().filter(|line| line.contains("wren")).count() == 2, "it was in use");
}

#[test]
fn a_rehearsal_that_cannot_be_played_is_refused_at_once() {
    let place = Place::new();
    let broken = place.work.path().join("broken.toml");
    fs::write(&broken, "name = \"x\"\n\n[[turn\n").unwrap();
    let (broken, missing) = (broken.to_str().unwrap(), place.work.path().join("none.toml"));
    let check = || {
        let errors = place.refused(&["acp", "--rehearsal", missing.to_str().unwrap()], &[]);
        assert!(errors.contains("none.toml") && errors.contains("No such file"), "{errors}");
        let errors = place.refused(&["acp", "--rehearsal", broken], &[]);
        assert!(errors.contains("broken.toml") && errors.contains("line 3"), "{errors}");
    };
    check();
    assert!(!place.has_daemon(), "none was started for it");
    let _client = place.shared_client(1);
    check();
}

#[test]
fn why_a_daemon_does_not_start_is_said_at_once() {
    let place = Place::new();
    fs::create_dir(place.data.path().join("sessions.db")).unwrap();
    let errors = place.refused(&["acp"], &[]);
    assert!(errors.contains("the daemon cannot start: cannot open the store"), "{errors}");
    let errors = place.refused(&["acp"], &[("NUDGE_STORE", "ftp://elsewhere")]);
    assert!(errors.contains("the daemon cannot start: cannot open the store"), "{errors}");
}

#[test]
fn what_a_daemon_cannot_do_is_refused() {
    let place = Place::new();
    let errors = place.refused(&["acp", "--on-close", "cancel"], &[]);
    assert!(errors.contains("--no-daemon"), "{errors}");
    for command in ["acp", "lsp"] {
        let errors = place.refused(&[command], &[("NUDGE_DAEMON", "no")]);
        assert!(errors.contains("`on` or `off`"), "{errors}");
        let errors = place.refused(&[command], &[("NUDGE_LINGER", "soon")]);
        assert!(errors.contains("NUDGE_LINGER"), "{errors}");
    }
    assert!(!place.has_daemon());
}

#[test]
fn a_daemon_that_runs_heeds_how_long_it_is_to_stay() {
    let place = Place::new();
    let mut first = Client::new(place.start_with(&["acp"], &[("NUDGE_LINGER", "600")]), 1, &json!({}));
    let pid = first.ask("_nudge/status", &json!({}))["pid"].as_u64().unwrap();
    drop(Client::new(place.start_with(&["acp"], &[("NUDGE_LINGER", "0")]), 1, &json!({})));
    drop(first);
    eventually("the daemon's end", || !is_alive(u32::try_from(pid).unwrap()));
}

#[test]
fn what_is_logged_by_a_daemon_that_runs_is_told() {
    let place = Place::new();
    let _first = place.shared_client(1);
    let second = Client::new(place.start_with(&["acp"], &[("NUDGE_LOG", "debug")]), 1, &json!({}));
    let (_, _, errors) = second.process.finish();
    assert!(errors.contains("logs `warn`") && errors.contains("nudge stop"), "{errors}");
}

#[test]
fn a_store_is_found_from_where_it_is_named() {
    let place = Place::new();
    let start = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nudge"));
        command.args(["acp", "--store", "own.db"]).envs(place.env()).env("NUDGE_DAEMON", "on");
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap()
    };
    assert!(start(place.work.path()).success());
    assert!(place.work.path().join("own.db").exists());
    let store = place.work.path().join("own.db");
    assert_eq!(place.command(&["stop", "--store", store.to_str().unwrap()]), "the daemon has ended");
}

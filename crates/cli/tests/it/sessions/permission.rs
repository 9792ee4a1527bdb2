//! Tools that touch files and start processes, and the questions before them.

use std::fs;

use nudge_testkit::{eventually, is_alive};
use serde_json::json;

use super::{Client, Place, both};

#[test]
fn a_file_is_written_after_the_user_permits_it() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("write new.txt hello");
        let request = client.agent_request();
        assert!(!place.work.path().join("new.txt").exists(), "it is asked first");
        client.permit(&request, "allow_once");
        client.turn_end(1);
        assert_eq!(fs::read_to_string(place.work.path().join("new.txt")).unwrap().trim(), "hello");
        let diff = client.until("a diff", |message| message.to_string().contains("\"type\":\"diff\""));
        assert!(diff.to_string().contains("hello"), "{diff}");
    });
}

#[test]
fn a_process_that_hides_ends_with_its_command() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1);
    // It has no parent, no group, no terminal and no environment in common with the command.
    client.prompt(
        "run (env -i setsid sh -c 'echo $$ >new; mv new pid; exec sleep 1000' >/dev/null 2>&1 &); \
         while ! [ -e pid ]; do sleep 0.01; done",
    );
    let request = client.agent_request();
    client.permit(&request, "allow_once");
    client.turn_end(1);
    let pid = fs::read_to_string(place.work.path().join("pid")).unwrap().trim().parse().unwrap();
    eventually("its end", || !is_alive(pid));
}

#[test]
fn hooks_that_git_is_pointed_to_are_asked_about_in_every_mode() {
    let place = Place::new();
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".gitconfig"), "[core]\nhooksPath = \"sub/of user\" # for all\n").unwrap();
    for folder in [".git", "sub/hooks", "sub/of user"] {
        fs::create_dir_all(place.work.path().join(folder)).unwrap();
    }
    fs::write(place.work.path().join(".git/config"), "[core]\nhooksPath = sub/hooks ; ours\n").unwrap();
    let mut env = place.env();
    env.extend([("NUDGE_DAEMON", "off".to_owned()), ("HOME", home.path().to_str().unwrap().to_owned())]);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for (session, path) in [("sub", "hooks/pre-commit"), ("sub/of user", "pre-commit")] {
        let mut client = Client::new(crate::nudge_with(&["acp"], &env), 1, &json!({}));
        let cwd = format!("{}/{session}", place.cwd());
        client.new_session(&cwd);
        let session = client.session.clone();
        client.ask("session/set_mode", &json!({"sessionId": session, "modeId": "edit"}));
        client.prompt(&format!("write {path} hello"));
        let request = client.agent_request();
        assert!(request.to_string().contains("Git runs this file"), "{request}");
        client.permit(&request, "reject_once");
        client.turn_end(1);
        assert!(!std::path::Path::new(&cwd).join(path).exists());
    }
}

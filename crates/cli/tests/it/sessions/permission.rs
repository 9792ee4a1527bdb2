//! Tools, and the questions before them.

use std::fs;

use nudge_testkit::{eventually, is_alive};
use serde_json::{Value, json};

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
fn what_is_rejected_is_not_done() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("write new.txt hello");
        let request = client.agent_request();
        client.permit(&request, "reject_once");
        client.turn_end(1);
        assert!(!place.work.path().join("new.txt").exists());
    });
}

#[test]
fn always_is_not_asked_again() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("run true");
        let request = client.agent_request();
        client.permit(&request, "allow_always");
        client.turn_end(1);
        client.prompt("run true");
        client.turn_end(2);
        let asked = client.log.iter().filter(|message| message["method"] == "session/request_permission");
        assert_eq!(asked.count(), 1);
    });
}

#[test]
fn modes_decide_what_is_asked() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1);
    let session = client.session.clone();
    client.ask("session/set_mode", &json!({"sessionId": session, "modeId": "edit"}));
    client.until("the mode is told", |message| message["params"]["update"]["currentModeId"] == "edit");
    client.prompt("write new.txt hello");
    client.turn_end(1);
    assert!(place.work.path().join("new.txt").exists());
    client.ask("session/set_mode", &json!({"sessionId": session, "modeId": "read-only"}));
    client.prompt("write other.txt hello");
    client.turn_end(2);
    assert!(!place.work.path().join("other.txt").exists());
    let (code, _) = client.refused("session/set_mode", &json!({"sessionId": session, "modeId": "nope"}));
    assert_eq!(code, -32602);
}

#[test]
fn what_other_programs_run_by_themselves_is_asked_about_in_every_mode() {
    let place = Place::new();
    let file = |name: &str| place.work.path().join(name);
    fs::create_dir_all(file(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(".git", file("link")).unwrap();
    let mut client = Client::with_session(&place, 1);
    let session = client.session.clone();
    client.ask("session/set_mode", &json!({"sessionId": session, "modeId": "edit"}));
    client.prompt("write plain.txt hello");
    client.turn_end(1);
    assert!(file("plain.txt").exists());
    for (at, path) in
        [".git/config", "link/hooks/pre-commit", ".vscode/tasks.json", ".envrc"].iter().enumerate()
    {
        client.prompt(&format!("write {path} hello"));
        let request = client.agent_request();
        let kinds: Vec<&Value> =
            request["params"]["options"].as_array().unwrap().iter().map(|option| &option["kind"]).collect();
        assert_eq!(kinds, ["allow_once", "reject_once"], "{path}");
        client.permit(&request, "reject_once");
        client.turn_end(at + 2);
        assert!(!file(path).exists());
    }
}

#[test]
fn always_is_for_a_subcommand_and_never_for_what_runs_others() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1);
    let mut asked = |at: usize, line: &str, option: &str| {
        client.prompt(&format!("run {line}"));
        let request = client.agent_request();
        client.permit(&request, option);
        client.turn_end(at);
        request["params"]["options"].to_string()
    };
    assert!(asked(1, "git status", "allow_always").contains("Always allow `git status`"));
    assert!(asked(2, "git push --force", "reject_once").contains("reject_once"));
    for (at, line) in
        ["env git status", "git -C x status", "git status; true", "exec git status"].iter().enumerate()
    {
        assert!(!asked(at + 3, line, "reject_once").contains("always"), "{line}");
    }
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
fn nothing_outside_the_folders_is_touched() {
    both(|version| {
        let place = Place::new();
        let secret = tempfile::tempdir().unwrap();
        fs::write(secret.path().join("key"), "sesame").unwrap();
        std::os::unix::fs::symlink(secret.path(), place.work.path().join("link")).unwrap();
        let mut client = Client::with_session(&place, version);
        for (at, path) in
            ["link/key", "../key", secret.path().join("key").to_str().unwrap()].iter().enumerate()
        {
            client.prompt(&format!("read {path}"));
            client.turn_end(at + 1);
        }
        assert!(!client.log.iter().any(|message| message.to_string().contains("sesame")));
    });
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

#[test]
fn an_editor_that_offers_files_is_asked_for_them() {
    let place = Place::new();
    let offers = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut client = Client::new(place.start(&["acp"], "off"), 1, &offers);
    fs::write(place.work.path().join("a.txt"), "on disk").unwrap();
    client.new_session(&place.cwd());
    client.prompt("read a.txt");
    let request = client.agent_request();
    assert_eq!(request["method"], "fs/read_text_file");
    assert_eq!(request["params"]["sessionId"], client.session.as_str());
    client.answer(&request, &json!({"content": "in the editor"}));
    client.turn_end(1);
    let story = client.story().join("\n");
    assert!(story.contains("in the editor") && !story.contains("on disk"), "{story}");
}

#[test]
fn an_editor_that_offers_terminals_runs_the_commands() {
    let place = Place::new();
    let mut client = Client::new(place.start(&["acp"], "off"), 1, &json!({"terminal": true}));
    client.new_session(&place.cwd());
    client.prompt("run true");
    let request = client.agent_request();
    client.permit(&request, "allow_once");
    let mut methods = Vec::new();
    while methods.last().is_none_or(|method| method != "terminal/release") {
        let request = client.agent_request();
        let method = request["method"].as_str().unwrap().to_owned();
        let result = match &*method {
            "terminal/create" => json!({"terminalId": "t1"}),
            "terminal/wait_for_exit" => json!({"exitCode": 0, "signal": null}),
            "terminal/output" => {
                json!({"output": "in the editor", "truncated": false, "exitStatus": {"exitCode": 0}})
            }
            _ => json!({}),
        };
        client.answer(&request, &result);
        methods.push(method);
    }
    client.turn_end(1);
    assert_eq!(methods[0], "terminal/create", "{methods:?}");
    let shown =
        client.log.iter().any(|message| message["params"]["update"]["content"][0]["terminalId"] == "t1");
    assert!(shown, "the tool call refers to the editor's own terminal");
}

#[test]
fn what_is_no_answer_leaves_the_question_open() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("run true");
        client.agent_request();
        let asked = client.ask("_nudge/questions", &json!({}))["questions"][0].clone();
        let answer = |result: &Value| json!({"sessionId": asked["sessionId"], "questionId": asked["questionId"], "result": result});
        let none = [
            json!("garbage"),
            json!({}),
            json!({"outcome": "cancelled"}),
            json!({"outcome": {"outcome": "selected"}}),
            json!({"outcome": {"outcome": "selected", "optionId": "no such option"}}),
        ];
        for result in none {
            assert_eq!(client.refused("_nudge/answer", &answer(&result)).0, -32602, "{result}");
        }
        assert_eq!(client.refused("_nudge/answer", &json!({"sessionId": client.session})).0, -32602);
        let option = &asked["request"]["options"][0]["optionId"];
        let answered = client
            .ask("_nudge/answer", &answer(&json!({"outcome": {"outcome": "selected", "optionId": option}})));
        assert_eq!(answered["answered"], true);
        client.said("ran");
    });
}

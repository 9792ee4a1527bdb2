//! Tools, and the questions before them.

use std::fs;

use serde_json::{Value, json};

use super::{Client, Place, both};

#[tokio::test]
async fn a_file_is_written_after_the_user_permits_it() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("write new.txt hello");
        let request = client.agent_request().await;
        assert!(!place.work.path().join("new.txt").exists(), "it is asked first");
        client.permit(&request, "allow_once");
        client.turn_end(1).await;
        assert_eq!(fs::read_to_string(place.work.path().join("new.txt")).unwrap().trim(), "hello");
        let diff = client.until("a diff", |message| message.to_string().contains("\"type\":\"diff\"")).await;
        assert!(diff.to_string().contains("hello"), "{diff}");
    })
    .await;
}

#[tokio::test]
async fn what_is_rejected_is_not_done() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("write new.txt hello");
        let request = client.agent_request().await;
        client.permit(&request, "reject_once");
        client.turn_end(1).await;
        assert!(!place.work.path().join("new.txt").exists());
    })
    .await;
}

#[tokio::test]
async fn always_is_not_asked_again() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("run true");
        let request = client.agent_request().await;
        client.permit(&request, "allow_always");
        client.turn_end(1).await;
        client.prompt("run true");
        client.turn_end(2).await;
        let asked = client.messages().filter(|message| message["method"] == "session/request_permission");
        assert_eq!(asked.count(), 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn modes_decide_what_is_asked() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1).await;
    let session = client.session.clone();
    client.ask("session/set_mode", &json!({"sessionId": session, "modeId": "edit"})).await;
    client.until("the mode is told", |message| message["params"]["update"]["currentModeId"] == "edit").await;
    client.prompt("write new.txt hello");
    client.turn_end(1).await;
    assert!(place.work.path().join("new.txt").exists());
    client.ask("session/set_mode", &json!({"sessionId": session, "modeId": "read-only"})).await;
    client.prompt("write other.txt hello");
    client.turn_end(2).await;
    assert!(!place.work.path().join("other.txt").exists());
    let (code, _) =
        client.refusal("session/set_mode", &json!({"sessionId": session, "modeId": "nope"})).await;
    assert_eq!(code, -32602);
}

#[tokio::test]
async fn what_other_programs_run_by_themselves_is_asked_about_in_every_mode() {
    let place = Place::new();
    let file = |name: &str| place.work.path().join(name);
    fs::create_dir_all(file(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(".git", file("link")).unwrap();
    let mut client = Client::with_session(&place, 1).await;
    let session = client.session.clone();
    client.ask("session/set_mode", &json!({"sessionId": session, "modeId": "edit"})).await;
    client.prompt("write plain.txt hello");
    client.turn_end(1).await;
    assert!(file("plain.txt").exists());
    for (at, path) in
        [".git/config", "link/hooks/pre-commit", ".vscode/tasks.json", ".envrc"].iter().enumerate()
    {
        client.prompt(&format!("write {path} hello"));
        let request = client.agent_request().await;
        let kinds: Vec<&Value> =
            request["params"]["options"].as_array().unwrap().iter().map(|option| &option["kind"]).collect();
        assert_eq!(kinds, ["allow_once", "reject_once"], "{path}");
        client.permit(&request, "reject_once");
        client.turn_end(at + 2).await;
        assert!(!file(path).exists());
    }
}

#[tokio::test]
async fn always_is_for_a_subcommand_and_never_for_what_runs_others() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1).await;
    let mut asked = async |at: usize, line: &str, option: &str| {
        client.prompt(&format!("run {line}"));
        let request = client.agent_request().await;
        client.permit(&request, option);
        client.turn_end(at).await;
        request["params"]["options"].to_string()
    };
    assert!(asked(1, "git status", "allow_always").await.contains("Always allow `git status`"));
    assert!(asked(2, "git push --force", "reject_once").await.contains("reject_once"));
    for (at, line) in
        ["env git status", "git -C x status", "git status; true", "exec git status"].iter().enumerate()
    {
        assert!(!asked(at + 3, line, "reject_once").await.contains("always"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_outside_the_folders_is_touched() {
    both(async |version| {
        let place = Place::new();
        let secret = tempfile::tempdir().unwrap();
        fs::write(secret.path().join("key"), "sesame").unwrap();
        std::os::unix::fs::symlink(secret.path(), place.work.path().join("link")).unwrap();
        let mut client = Client::with_session(&place, version).await;
        for (at, path) in
            ["link/key", "../key", secret.path().join("key").to_str().unwrap()].iter().enumerate()
        {
            client.prompt(&format!("read {path}"));
            client.turn_end(at + 1).await;
        }
        assert!(!client.messages().any(|message| message.to_string().contains("sesame")));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_offers_files_is_asked_for_them() {
    let place = Place::new();
    let offers = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut client = Client::new(place.connect_alone(None), 1, &offers).await;
    fs::write(place.work.path().join("a.txt"), "on disk").unwrap();
    client.new_session(&place.cwd()).await;
    client.prompt("read a.txt");
    let request = client.agent_request().await;
    assert_eq!(request["method"], "fs/read_text_file");
    assert_eq!(request["params"]["sessionId"], client.session.as_str());
    client.answer(&request, &json!({"content": "in the editor"}));
    client.turn_end(1).await;
    let story = client.story().join("\n");
    assert!(story.contains("in the editor") && !story.contains("on disk"), "{story}");
}

#[tokio::test]
async fn an_editor_that_offers_terminals_runs_the_commands() {
    let place = Place::new();
    let mut client = Client::new(place.connect_alone(None), 1, &json!({"terminal": true})).await;
    client.new_session(&place.cwd()).await;
    client.prompt("run true");
    let request = client.agent_request().await;
    client.permit(&request, "allow_once");
    let mut methods = Vec::new();
    while methods.last().is_none_or(|method| method != "terminal/release") {
        let request = client.agent_request().await;
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
    client.turn_end(1).await;
    assert_eq!(methods[0], "terminal/create", "{methods:?}");
    let shown =
        client.messages().any(|message| message["params"]["update"]["content"][0]["terminalId"] == "t1");
    assert!(shown, "the tool call refers to the editor's own terminal");
}

#[tokio::test]
async fn what_is_no_answer_leaves_the_question_open() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("run true");
        client.agent_request().await;
        let asked = client.ask("_nudge/questions", &json!({})).await["questions"][0].clone();
        let answer = |result: &Value| json!({"sessionId": asked["sessionId"], "questionId": asked["questionId"], "result": result});
        let none = [
            json!("garbage"),
            json!({}),
            json!({"outcome": "cancelled"}),
            json!({"outcome": {"outcome": "selected"}}),
            json!({"outcome": {"outcome": "selected", "optionId": "no such option"}}),
        ];
        for result in none {
            assert_eq!(client.refusal("_nudge/answer", &answer(&result)).await.0, -32602, "{result}");
        }
        assert_eq!(client.refusal("_nudge/answer", &json!({"sessionId": client.session})).await.0, -32602);
        let option = &asked["request"]["options"][0]["optionId"];
        let answered = client
            .ask("_nudge/answer", &answer(&json!({"outcome": {"outcome": "selected", "optionId": option}}))).await;
        assert_eq!(answered["answered"], true);
        client.said("ran").await;
    }).await;
}

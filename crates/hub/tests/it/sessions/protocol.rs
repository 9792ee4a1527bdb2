//! What the pages of the protocol say of sessions, in small: folders, order, whole messages, and what is refused.

use std::fs;

use serde_json::{Value, json};

use super::{Client, Place, both, content};

/// The code of the error that a request gets, its message and its reason.
async fn error(client: &mut Client, method: &str, params: &Value) -> (i64, String, Value) {
    let id = client.send(method, params);
    let error = client.response(id).await["error"].clone();
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("{method} {params} is not refused"));
    (code, error["message"].as_str().unwrap_or_default().to_owned(), error["data"].clone())
}

fn reopen(version: u64) -> &'static str {
    if version == 1 { "session/load" } else { "session/resume" }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_not_there_is_deleted_already() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let session = json!({"sessionId": client.session});
        for _ in 0..2 {
            assert_eq!(client.ask("session/delete", &session).await, json!({}));
        }
        assert_eq!(client.ask("session/delete", &json!({"sessionId": "never"})).await, json!({}));
        assert_eq!(client.refusal("session/delete", &json!({})).await.0, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn commands_are_told_before_a_session_is_opened_again() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("one");
        client.turn_end(1).await;
        let params = json!({"sessionId": client.session, "cwd": place.cwd(), "mcpServers": []});
        client.leave().await;
        for method in [reopen(version), "session/resume"] {
            let mut again = place.client(version).await;
            let id = again.send(method, &params);
            again.response(id).await;
            let commands =
                |message: &Value| message["params"]["update"]["sessionUpdate"] == "available_commands_update";
            assert!(again.messages().any(commands), "{method}: they come ahead of the answer");
            again.leave().await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn version_2_is_shown_whole_messages_of_what_was_said() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 2).await;
    client.prompt("one");
    client.turn_end(1).await;
    let (session, told) = (client.session.clone(), client.story());
    let chunks = client.messages().filter(|message| is_chunk(message)).count();
    assert!(chunks > 1, "live it comes in pieces");
    client.leave().await;
    let mut again = place.client(2).await;
    again.load(&session, &place.cwd()).await;
    assert!(!again.messages().any(is_chunk), "{:#?}", again.log);
    let told: Vec<_> = told.into_iter().filter(|line| line != "idle").collect();
    assert_eq!(again.story(), told);
}

fn is_chunk(message: &Value) -> bool {
    message["params"]["update"]["sessionUpdate"].as_str().is_some_and(|kind| kind.ends_with("_chunk"))
}

#[tokio::test(start_paused = true)]
async fn a_client_that_joins_in_mid_message_has_all_of_it() {
    let place = Place::new();
    let mut client = place.shared_client(2).await;
    client.new_session(&place.cwd()).await;
    client.prompt("talk");
    client.said("word").await;
    let mut other = place.shared_client(2).await;
    other.load(&client.session, &place.cwd()).await;
    client.cancel();
    client.turn_end(1).await;
    other.turn_end(1).await;
    let told = |client: &Client| client.story().into_iter().find(|line| line.starts_with("agent: "));
    assert_eq!(told(&other), told(&client));
}

#[tokio::test]
async fn what_is_asked_of_a_session_that_is_being_closed_is_refused_with_a_reason() {
    let place = Place::new();
    let mut one = place.shared_client(1).await;
    one.new_session(&place.cwd()).await;
    let mut two = place.shared_client(2).await;
    two.load(&one.session, &place.cwd()).await;
    // The agent waits for a command that is slow to end, so the session is being closed for a while.
    one.prompt("run trap '' TERM INT; touch begun; sleep 1; touch ended");
    let request = one.agent_request().await;
    one.permit(&request, "allow_once");
    one.tool("in_progress").await;
    let closed = two.send("session/close", &json!({"sessionId": one.session}));
    // In its order behind the close, which the first client only learns by being refused.
    let prompt = json!({"sessionId": one.session, "prompt": content("more")});
    let (code, data) = loop {
        let id = one.send("session/prompt", &prompt);
        let response = one.response(id).await;
        if let Some(code) = response["error"]["code"].as_i64() {
            break (code, response["error"]["data"].clone());
        }
    };
    let reason = data["reason"].as_str().unwrap_or_default();
    assert!(
        matches!((code, reason), (-32600, "session_closing") | (-32002, "unknown_session")),
        "{code} {data}"
    );
    assert!(two.response(closed).await.get("result").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_working_directory_is_a_folder_that_is_there() {
    both(async |version| {
        let place = Place::new();
        let file = place.work.path().join("file");
        fs::write(&file, "").unwrap();
        let missing = place.work.path().join("missing");
        let mut client = Client::with_session(&place, version).await;
        let cases = [
            (json!(missing), "nothing is"),
            (json!(file), "a file"),
            (json!("."), "absolute"),
            (json!(""), "absolute"),
            (json!("/tmp\0"), "NUL"),
        ];
        for (path, why) in cases {
            let fork = json!({"sessionId": client.session, "cwd": path, "mcpServers": []});
            let beside = json!({"cwd": place.cwd(), "additionalDirectories": [path], "mcpServers": []});
            for (method, params) in [
                ("session/new", json!({"cwd": path, "mcpServers": []})),
                ("session/new", beside),
                ("session/fork", fork),
            ] {
                let (code, message, _) = error(&mut client, method, &params).await;
                assert_eq!(code, -32602, "{method} {params}");
                assert!(message.contains(why) && message.contains('`'), "{method} {params}: {message}");
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_keeps_its_working_directory() {
    both(async |version| {
        let place = Place::new();
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("link");
        std::os::unix::fs::symlink(place.cwd(), &link).unwrap();
        let client = Client::with_session(&place, version).await;
        let session = client.session.clone();
        client.leave().await;
        let mut client = place.client(version).await;
        client.session.clone_from(&session);
        let open = |cwd: &Value| json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
        // The second time it is in use.
        for _ in 0..2 {
            for method in [reopen(version), "session/resume"] {
                for cwd in [json!(other.path()), json!("."), json!("/nowhere\0")] {
                    let (code, _, data) = error(&mut client, method, &open(&cwd)).await;
                    assert_eq!(code, -32602, "{method} {cwd}");
                    if cwd == json!(other.path()) {
                        assert_eq!(data, json!({"reason": "cwd_mismatch", "cwd": place.cwd()}));
                    }
                }
                client.ask(method, &open(&json!(place.cwd()))).await;
                client.ask(method, &open(&json!(link))).await;
            }
        }
        client.leave().await;
        // What was said in a folder that is gone can still be read.
        let cwd = place.cwd();
        fs::remove_dir_all(&cwd).unwrap();
        place.client(version).await.load(&session, &cwd).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn folders_beside_it_take_effect_or_are_refused() {
    both(async |version| {
        let place = Place::new();
        let beside = tempfile::tempdir().unwrap();
        fs::write(beside.path().join("a.txt"), "beside").unwrap();
        let path = fs::canonicalize(beside.path()).unwrap();
        let read = format!("read {}", path.join("a.txt").display());
        let mut one = place.shared_client(version).await;
        one.new_session(&place.cwd()).await;
        let open = json!({
            "sessionId": one.session, "cwd": place.cwd(), "mcpServers": [], "additionalDirectories": [path],
        });
        let mut two = place.shared_client(version).await;
        assert_eq!(two.refusal("session/resume", &open).await, (-32602, "session_in_use".into()));
        let without = json!({"sessionId": one.session, "cwd": place.cwd(), "mcpServers": []});
        two.ask("session/resume", &without).await;
        // Once nobody is there, it comes into use again as it is asked for.
        let session = one.session.clone();
        drop(two);
        one.leave().await;
        let mut three = place.shared_client(version).await;
        three.session = session;
        while place.daemon().status().await.sessions.iter().any(|(_, live)| live.clients == 1) {}
        three.ask("session/resume", &open).await;
        three.prompt(&read);
        three.turn_end(1).await;
        assert!(three.story().join("\n").contains("beside"), "{:#?}", three.story());
        three.ask("session/resume", &open).await;
    })
    .await;
}

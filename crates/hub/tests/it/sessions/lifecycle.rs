//! Load, resume, list, fork, close, delete.

use std::fs;

use serde_json::{Value, json};

use super::{Client, Place, both, content};

#[tokio::test(start_paused = true)]
async fn a_session_is_loaded_with_all_that_was_said() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("one");
        client.turn_end(1).await;
        client.inject("queue", "two").await;
        client.turn_end(2).await;
        let (session, told) = (client.session.clone(), client.story());
        client.leave().await;

        let mut again = place.client(version).await;
        let opened = again.load(&session, &place.cwd()).await;
        assert_eq!(opened["_meta"]["inject"]["pending"], json!([]));
        let told: Vec<_> = told.into_iter().filter(|line| line != "idle").collect();
        let mut replayed = again.story();
        if version == 1 {
            assert_eq!(replayed.remove(0), "user: one", "its own prompt is replayed, and was not echoed");
        }
        assert_eq!(replayed, told);
        again.prompt("three");
        again.turn_end(1).await;
        assert_eq!(again.story().last().map(String::as_str), Some("idle"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_said_right_behind_a_load_waits_for_it() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("one");
        client.turn_end(1).await;
        let session = client.session.clone();
        client.leave().await;

        let mut again = place.client(version).await;
        again.session.clone_from(&session);
        let params = json!({
            "sessionId": session, "cwd": place.cwd(), "mcpServers": [], "replayFrom": {"type": "start"},
        });
        let load = again.send(if version == 1 { "session/load" } else { "session/resume" }, &params);
        let prompt = again.prompt("two");
        again.turn_end(1).await;
        let at = |id: u64| again.messages().position(|message| message["id"] == id).expect("it is answered");
        assert!(at(load) < at(prompt));
        let story = again.story();
        let told = |line: &str| story.iter().position(|told| told == line);
        assert!(told("user: one").is_some() && told("user: one") < told("agent: heard two"), "{story:#?}");
        // What is asked of a session that cannot be opened is refused as well, not left waiting.
        again.session = "none".to_owned();
        let load =
            again.send("session/resume", &json!({"sessionId": "none", "cwd": place.cwd(), "mcpServers": []}));
        let prompt = again.prompt("three");
        assert_eq!(again.response(load).await["error"]["data"]["reason"], "unknown_session");
        assert_eq!(again.response(prompt).await["error"]["data"]["reason"], "unknown_session");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn resuming_replays_nothing_unless_asked() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("one");
        client.turn_end(1).await;
        let session = client.session.clone();
        client.leave().await;
        let mut again = place.client(version).await;
        again.session.clone_from(&session);
        again
            .ask("session/resume", &json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []}))
            .await;
        assert_eq!(again.story(), Vec::<String>::new());
        again.prompt("two");
        again.turn_end(1).await;
        assert!(again.story().contains(&"agent: heard two".to_owned()));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn folders_beside_the_working_directory_are_those_of_the_last_request() {
    both(async |version| {
        let place = Place::new();
        let beside = tempfile::tempdir().unwrap();
        fs::write(beside.path().join("a.txt"), "beside").unwrap();
        let path = fs::canonicalize(beside.path()).unwrap();
        let read = format!("read {}", path.join("a.txt").display());
        let mut client = place.client(version).await;
        let opened = client
            .ask(
                "session/new",
                &json!({"cwd": place.cwd(), "mcpServers": [], "additionalDirectories": [path]}),
            )
            .await;
        opened["sessionId"].as_str().unwrap().clone_into(&mut client.session);
        client.prompt(&read);
        client.said("it says: ").await;
        client.turn_end(1).await;
        assert!(client.story().join("\n").contains("beside"));
        let session = client.session.clone();
        client.leave().await;
        let mut again = place.client(version).await;
        again.session.clone_from(&session);
        again
            .ask("session/resume", &json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []}))
            .await;
        again.prompt(&read);
        again.turn_end(1).await;
        assert!(!again.story().join("\n").contains("beside"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn closing_keeps_what_waits_for_the_next_resume() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let id = client.inject("queue", "later").await;
        let session = client.session.clone();
        client.ask("session/close", &json!({"sessionId": session})).await;
        let prompt = json!({"sessionId": session, "prompt": content("x")});
        assert_eq!(client.refusal("session/prompt", &prompt).await.0, -32002, "it is not in use any more");
        let opened = client.load(&session, &place.cwd()).await;
        assert_eq!(opened["_meta"]["inject"]["pending"][0]["messageId"], id.as_str());
        assert_eq!(client.delivered(&id).await, "later");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_fork_has_the_past_and_nothing_that_waits() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("one");
        client.turn_end(1).await;
        client.prompt("talk");
        client.said("word").await;
        client.inject("queue", "waiting").await;
        let session = client.session.clone();
        let params = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
        let forked = client.ask("session/fork", &params).await;
        let fork = forked["sessionId"].as_str().unwrap().to_owned();
        assert_ne!(fork, session);
        assert_eq!(forked["_meta"]["inject"]["pending"], json!([]));
        let mut other = place.client(version).await;
        let (code, _) =
            other.refusal("session/resume", &json!({"sessionId": fork, "cwd": place.cwd()})).await;
        assert_eq!(code, -32600, "another process holds it");
        client.ask("session/close", &json!({"sessionId": fork})).await;
        other.load(&fork, &place.cwd()).await;
        let story = other.story().join("\n");
        assert!(story.contains("user: one\nagent: heard one"), "{story}");
        assert!(!story.contains("waiting"), "{story}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_is_gone_with_what_waits() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        client.inject("queue", "never").await;
        let session = client.session.clone();
        client.ask("session/delete", &json!({"sessionId": session})).await;
        let load = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
        assert_eq!(client.refusal("session/resume", &load).await, (-32002, "unknown_session".into()));
        client.ask("session/delete", &json!({"sessionId": session})).await;
        assert_eq!(client.ask("session/list", &json!({})).await["sessions"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn sessions_are_listed_newest_first_page_by_page() {
    both(async |version| {
        let place = Place::new();
        let other = fs::canonicalize(tempfile::tempdir().unwrap().keep()).unwrap();
        let mut client = place.client(version).await;
        let mut made = Vec::new();
        for at in 0..5 {
            client.new_session(if at == 2 { other.to_str().unwrap() } else { "/" }).await;
            client.prompt(&format!("Title {at}"));
            client.turn_end(at + 1).await;
            made.push(client.session.clone());
        }
        let ids = |page: &Value| -> Vec<String> {
            let sessions = page["sessions"].as_array().unwrap().iter();
            sessions.map(|session| session["sessionId"].as_str().unwrap().to_owned()).collect()
        };
        let mut listed = Vec::new();
        let mut params = json!({"limit": 2});
        loop {
            let page = client.ask("session/list", &params).await;
            listed.extend(ids(&page));
            match page["nextCursor"].as_str() {
                Some(next) => params["cursor"] = json!(next),
                None => break,
            }
        }
        made.reverse();
        assert_eq!(listed, made);
        let of_other = client.ask("session/list", &json!({"cwd": other})).await;
        assert_eq!(ids(&of_other), [made[2].clone()]);
        assert_eq!(of_other["sessions"][0]["title"], "Title 2");
        assert_eq!(ids(&client.ask("session/list", &json!({"search": "title 3"})).await), [made[1].clone()]);
        assert!(
            ids(&client.ask("session/list", &json!({"createdAfter": "2999-01-01T00:00:00Z"})).await)
                .is_empty()
        );
        assert_eq!(client.refusal("session/list", &json!({"cursor": "?"})).await.0, -32602);
        fs::remove_dir_all(other).unwrap();
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_load_while_the_session_is_being_closed_finds_it_whole() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let session = client.session.clone();
        let open = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
        for round in 1..=20 {
            let closed = client.send("session/close", &json!({"sessionId": session}));
            let opened = client.send("session/resume", &open);
            assert!(client.response(closed).await.get("error").is_none());
            let opened = client.response(opened).await;
            assert!(opened.get("result").is_some(), "{opened}");
            client.prompt("hello");
            assert_eq!(client.turn_end(round).await, "end_turn");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_delete_wins_over_a_close() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let session = json!({"sessionId": client.session});
        let deleted = client.send("session/delete", &session);
        let closed = client.send("session/close", &session);
        assert!(client.response(deleted).await.get("result").is_some());
        client.response(closed).await;
        assert_eq!(client.ask("session/list", &json!({})).await["sessions"], json!([]));
    })
    .await;
}

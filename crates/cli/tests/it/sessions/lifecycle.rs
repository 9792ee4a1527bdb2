//! Load, resume, list, fork, close, delete, and what a crash leaves.

use std::fs;

use serde_json::{Value, json};

use super::{Client, Place, both, content};

/// Ends a client's process without a word.
fn kill(client: Client) {
    drop(client);
}

#[test]
fn a_session_is_loaded_with_all_that_was_said() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("one");
        client.turn_end(1);
        client.inject("queue", "two");
        client.turn_end(2);
        let (session, told) = (client.session.clone(), client.story());
        client.process.finish();

        let mut again = place.client(version);
        let opened = again.load(&session, &place.cwd());
        assert_eq!(opened["_meta"]["inject"]["pending"], json!([]));
        let told: Vec<_> = told.into_iter().filter(|line| line != "idle").collect();
        let mut replayed = again.story();
        if version == 1 {
            assert_eq!(replayed.remove(0), "user: one", "its own prompt is replayed, and was not echoed");
        }
        assert_eq!(replayed, told);
        again.prompt("three");
        again.turn_end(1);
        assert_eq!(again.story().last().map(String::as_str), Some("idle"));
    });
}

#[test]
fn what_is_said_right_behind_a_load_waits_for_it() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("one");
        client.turn_end(1);
        let session = client.session.clone();
        client.process.finish();

        let mut again = place.client(version);
        again.session.clone_from(&session);
        let params = json!({
            "sessionId": session, "cwd": place.cwd(), "mcpServers": [], "replayFrom": {"type": "start"},
        });
        let load = again.send(if version == 1 { "session/load" } else { "session/resume" }, &params);
        let prompt = again.prompt("two");
        again.turn_end(1);
        let at = |id: u64| again.log.iter().position(|message| message["id"] == id).expect("it is answered");
        assert!(at(load) < at(prompt));
        let story = again.story();
        let told = |line: &str| story.iter().position(|told| told == line);
        assert!(told("user: one").is_some() && told("user: one") < told("agent: heard two"), "{story:#?}");
        // What is asked of a session that cannot be opened is refused as well, not left waiting.
        again.session = "none".to_owned();
        let load =
            again.send("session/resume", &json!({"sessionId": "none", "cwd": place.cwd(), "mcpServers": []}));
        let prompt = again.prompt("three");
        assert_eq!(again.response(load)["error"]["data"]["reason"], "unknown_session");
        assert_eq!(again.response(prompt)["error"]["data"]["reason"], "unknown_session");
    });
}

#[test]
fn an_option_that_was_answered_outlives_kill_9() {
    both(|version| {
        for value in ["read-only", "edit", "read-only"] {
            let place = Place::new();
            let mut client = Client::with_session(&place, version);
            let set = json!({"sessionId": client.session, "configId": "mode", "value": value});
            client.ask("session/set_config_option", &set);
            let session = client.session.clone();
            kill(client);
            let mut again = place.client(version);
            let opened = again.load(&session, &place.cwd());
            let options = opened["configOptions"].as_array().expect("options are told");
            let mode =
                options.iter().find(|option| [&option["id"], &option["configId"]].contains(&&json!("mode")));
            assert_eq!(mode.expect("there is a mode")["currentValue"], value);
        }
    });
}

#[test]
fn resuming_replays_nothing_unless_asked() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("one");
        client.turn_end(1);
        let session = client.session.clone();
        client.process.finish();
        let mut again = place.client(version);
        again.session.clone_from(&session);
        again.ask("session/resume", &json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []}));
        assert_eq!(again.story(), Vec::<String>::new());
        again.prompt("two");
        again.turn_end(1);
        assert!(again.story().contains(&"agent: heard two".to_owned()));
    });
}

#[test]
fn folders_beside_the_working_directory_are_those_of_the_last_request() {
    both(|version| {
        let place = Place::new();
        let beside = tempfile::tempdir().unwrap();
        fs::write(beside.path().join("a.txt"), "beside").unwrap();
        let path = fs::canonicalize(beside.path()).unwrap();
        let read = format!("read {}", path.join("a.txt").display());
        let mut client = place.client(version);
        let opened = client.ask(
            "session/new",
            &json!({"cwd": place.cwd(), "mcpServers": [], "additionalDirectories": [path]}),
        );
        opened["sessionId"].as_str().unwrap().clone_into(&mut client.session);
        client.prompt(&read);
        client.said("it says: ");
        client.turn_end(1);
        assert!(client.story().join("\n").contains("beside"));
        let session = client.session.clone();
        client.process.finish();
        let mut again = place.client(version);
        again.session.clone_from(&session);
        again.ask("session/resume", &json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []}));
        again.prompt(&read);
        again.turn_end(1);
        assert!(!again.story().join("\n").contains("beside"));
    });
}

#[test]
fn after_kill_9_what_waits_is_told_and_then_delivered() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let first = client.inject("queue", "first");
        let second = client.inject("queue", "second");
        let gone = client.inject("queue", "gone");
        client.revoke(&gone);
        let session = client.session.clone();
        kill(client);

        let mut again = place.client(version);
        let opened = again.load(&session, &place.cwd());
        let pending = opened["_meta"]["inject"]["pending"].as_array().expect("what waits is told").clone();
        let ids: Vec<&Value> = pending.iter().map(|pending| &pending["messageId"]).collect();
        assert_eq!(ids, [&json!(first), &json!(second)]);
        assert_eq!(pending[0]["content"], content("first"));
        assert_eq!(pending[0]["mode"], "queue");
        let replayed = again.story().join("\n");
        assert!(replayed.contains("The turn was interrupted"), "{replayed}");
        assert!(!replayed.contains("user: first"), "the answer comes first");
        again.delivered(&first);
        again.delivered(&second);
        again.turn_end(2);
        let users = again.users();
        assert_eq!(users.iter().filter(|line| line.contains("first")).count(), 1);
        assert!(!users.iter().any(|line| line.contains("gone")));
    });
}

#[test]
fn closing_keeps_what_waits_for_the_next_resume() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let id = client.inject("queue", "later");
        let session = client.session.clone();
        client.ask("session/close", &json!({"sessionId": session}));
        let prompt = json!({"sessionId": session, "prompt": content("x")});
        assert_eq!(client.refused("session/prompt", &prompt).0, -32002, "it is not in use any more");
        let opened = client.load(&session, &place.cwd());
        assert_eq!(opened["_meta"]["inject"]["pending"][0]["messageId"], id.as_str());
        assert_eq!(client.delivered(&id), "later");
    });
}

#[test]
fn a_fork_has_the_past_and_nothing_that_waits() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("one");
        client.turn_end(1);
        client.prompt("talk");
        client.said("word");
        client.inject("queue", "waiting");
        let session = client.session.clone();
        let params = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
        let forked = client.ask("session/fork", &params);
        let fork = forked["sessionId"].as_str().unwrap().to_owned();
        assert_ne!(fork, session);
        assert_eq!(forked["_meta"]["inject"]["pending"], json!([]));
        let mut other = place.client(version);
        let (code, _) = other.refused("session/resume", &json!({"sessionId": fork, "cwd": place.cwd()}));
        assert_eq!(code, -32600, "another process holds it");
        client.ask("session/close", &json!({"sessionId": fork}));
        other.load(&fork, &place.cwd());
        let story = other.story().join("\n");
        assert!(story.contains("user: one\nagent: heard one"), "{story}");
        assert!(!story.contains("waiting"), "{story}");
    });
}

#[test]
fn what_is_deleted_is_gone_with_what_waits() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        client.inject("queue", "never");
        let session = client.session.clone();
        client.ask("session/delete", &json!({"sessionId": session}));
        let load = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
        assert_eq!(client.refused("session/resume", &load), (-32002, "unknown_session".into()));
        client.ask("session/delete", &json!({"sessionId": session}));
        assert_eq!(client.ask("session/list", &json!({}))["sessions"], json!([]));
    });
}

#[test]
fn sessions_are_listed_newest_first_page_by_page() {
    both(|version| {
        let place = Place::new();
        let other = fs::canonicalize(tempfile::tempdir().unwrap().keep()).unwrap();
        let mut client = place.client(version);
        let mut made = Vec::new();
        for at in 0..5 {
            client.new_session(if at == 2 { other.to_str().unwrap() } else { "/" });
            client.prompt(&format!("Title {at}"));
            client.turn_end(at + 1);
            made.push(client.session.clone());
        }
        let ids = |page: &Value| -> Vec<String> {
            let sessions = page["sessions"].as_array().unwrap().iter();
            sessions.map(|session| session["sessionId"].as_str().unwrap().to_owned()).collect()
        };
        let mut listed = Vec::new();
        let mut params = json!({"limit": 2});
        loop {
            let page = client.ask("session/list", &params);
            listed.extend(ids(&page));
            match page["nextCursor"].as_str() {
                Some(next) => params["cursor"] = json!(next),
                None => break,
            }
        }
        made.reverse();
        assert_eq!(listed, made);
        let of_other = client.ask("session/list", &json!({"cwd": other}));
        assert_eq!(ids(&of_other), [made[2].clone()]);
        assert_eq!(of_other["sessions"][0]["title"], "Title 2");
        assert_eq!(ids(&client.ask("session/list", &json!({"search": "title 3"}))), [made[1].clone()]);
        assert!(
            ids(&client.ask("session/list", &json!({"createdAfter": "2999-01-01T00:00:00Z"}))).is_empty()
        );
        assert_eq!(client.refused("session/list", &json!({"cursor": "?"})).0, -32602);
        fs::remove_dir_all(other).unwrap();
    });
}

#[test]
fn two_processes_never_hold_one_session() {
    both(|version| {
        let place = Place::new();
        let mut one = Client::with_session(&place, version);
        one.prompt("talk");
        one.said("word");
        let mut two = place.client(version);
        let params = json!({"sessionId": one.session, "cwd": place.cwd(), "mcpServers": []});
        assert_eq!(two.refused("session/resume", &params), (-32600, "session_in_use".into()));
        let session = one.session.clone();
        kill(one);
        two.load(&session, &place.cwd());
        assert!(two.story().join("\n").contains("The turn was interrupted"));
    });
}

#[test]
fn the_end_of_input_lets_a_turn_finish_or_not() {
    let place = Place::new();
    let client = Client::running(&place, 1, "run sleep 0.3; touch finished");
    let (status, _, errors) = client.process.finish();
    assert!(status.success(), "{errors}");
    assert!(place.work.path().join("finished").exists());

    let process = place.start(&["acp", "--on-close", "cancel"], "off");
    let mut client = Client::new(process, 1, &json!({}));
    client.new_session(&place.cwd());
    client.prompt("talk");
    client.said("word");
    let (status, _, _) = client.process.finish();
    assert!(status.success());
}

#[test]
fn a_load_while_the_session_is_being_closed_finds_it_whole() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let session = client.session.clone();
        let open = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
        for round in 1..=20 {
            let closed = client.send("session/close", &json!({"sessionId": session}));
            let opened = client.send("session/resume", &open);
            assert!(client.response(closed).get("error").is_none());
            let opened = client.response(opened);
            assert!(opened.get("result").is_some(), "{opened}");
            client.prompt("hello");
            assert_eq!(client.turn_end(round), "end_turn");
        }
    });
}

#[test]
fn a_delete_wins_over_a_close() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let session = json!({"sessionId": client.session});
        let deleted = client.send("session/delete", &session);
        let closed = client.send("session/close", &session);
        assert!(client.response(deleted).get("result").is_some());
        client.response(closed);
        assert_eq!(client.ask("session/list", &json!({}))["sessions"], json!([]));
    });
}

#[test]
fn what_waited_is_shown_to_whoever_comes_after_a_crash() {
    let place = Place::new();
    let mut client = Client::talking(&place, 1);
    client.prompt("mine");
    // An answer to something later shows that the prompt was taken.
    client.inject("queue", "after");
    let session = client.session.clone();
    kill(client);
    let mut again = place.client(1);
    again.load(&session, &place.cwd());
    again.turn_end(2);
    assert_eq!(again.users()[1..], ["user: mine", "user: after"]);
}

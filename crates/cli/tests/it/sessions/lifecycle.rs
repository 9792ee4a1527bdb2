//! Sessions are loaded again, and what a crash or the end of the input leaves.

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

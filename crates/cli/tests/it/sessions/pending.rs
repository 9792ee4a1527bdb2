//! Revoke, replace and retries of what waits.

use serde_json::json;

use super::{Client, Place, both, content};

#[test]
fn what_is_revoked_is_never_delivered() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let gone = client.inject("queue", "gone");
        let kept = client.inject("queue", "kept");
        assert_eq!(client.revoke(&gone), json!({}));
        assert_eq!(client.revoke(&gone), json!({}), "revoking twice succeeds");
        let replace = json!({"sessionId": client.session, "messageId": gone, "content": content("x")});
        let refused = client.refused("session/replace_inject", &replace);
        assert_eq!(refused, (-32002, "unknown_message_id".into()), "it cannot be replaced any more");
        client.cancel();
        client.delivered(&kept);
        client.turn_end(2);
        let users = client.users();
        assert_eq!(users.last().map(String::as_str), Some("user: kept"));
        assert!(!users.iter().any(|line| line.contains("gone")), "{users:?}");
    });
}

#[test]
fn what_is_replaced_says_the_last_thing_at_its_old_place() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let first = client.inject("queue", "old");
        let second = client.inject("queue", "second");
        for words in ["newer", "newest"] {
            let replace = json!({"sessionId": client.session, "messageId": first, "content": content(words)});
            assert_eq!(client.ask("session/replace_inject", &replace)["messageId"], first.as_str());
        }
        client.cancel();
        assert_eq!(client.delivered(&first), "newest");
        client.delivered(&second);
        client.turn_end(3);
        let users = client.users();
        assert_eq!(users[users.len() - 2..], ["user: newest", "user: second"], "{users:?}");
    });
}

#[test]
fn what_is_delivered_can_be_neither_revoked_nor_replaced() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let id = client.inject("queue", "done");
        client.delivered(&id);
        let revoke = json!({"sessionId": client.session, "messageId": id});
        assert_eq!(client.refused("session/revoke_inject", &revoke), (-32010, "already_delivered".into()));
        let replace = json!({"sessionId": client.session, "messageId": id, "content": content("x")});
        assert_eq!(client.refused("session/replace_inject", &replace), (-32010, "already_delivered".into()));
    });
}

#[test]
fn a_race_with_the_delivery_has_one_outcome() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        for round in 0..20 {
            let id = client.inject("queue", &format!("old {round}"));
            client.cancel();
            let session = client.session.clone();
            let (method, params) = if round % 2 == 0 {
                ("session/revoke_inject", json!({"sessionId": session, "messageId": id}))
            } else {
                let content = content(&format!("new {round}"));
                ("session/replace_inject", json!({"sessionId": session, "messageId": id, "content": content}))
            };
            let request = client.send(method, &params);
            let response = client.response(request);
            let succeeded = response.get("result").is_some();
            // A turn that certainly comes after it, so that it is known whether it was delivered.
            let last = client.inject("queue", "talk");
            client.delivered(&last);
            let users = client.users();
            let of_round: Vec<_> = users.iter().filter(|line| line.ends_with(&format!(" {round}"))).collect();
            let expected = match (round % 2, succeeded) {
                (0, true) => None,
                (1, true) => Some(format!("user: new {round}")),
                _ => Some(format!("user: old {round}")),
            };
            assert_eq!(of_round, expected.iter().collect::<Vec<_>>(), "{method} {succeeded} {users:?}");
        }
    });
}

#[test]
fn an_unknown_message_is_not_found() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let revoke = json!({"sessionId": client.session, "messageId": "nope"});
        assert_eq!(client.refused("session/revoke_inject", &revoke), (-32002, "unknown_message_id".into()));
        let params = json!({"sessionId": "nope", "messageId": "nope"});
        assert_eq!(client.refused("session/revoke_inject", &params), (-32002, "unknown_session".into()));
        let params = json!({"sessionId": "nope", "prompt": content("x")});
        assert_eq!(client.refused("session/prompt", &params), (-32002, "unknown_session".into()));
    });
}

#[test]
fn a_retry_with_the_same_key_is_the_same_message() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let params = json!({
            "sessionId": client.session, "mode": "queue", "content": content("once"),
            "_meta": {"idempotencyKey": "k1"},
        });
        let first = client.ask("session/inject", &params)["messageId"].clone();
        assert_eq!(client.ask("session/inject", &params)["messageId"], first);
        client.cancel();
        client.delivered(first.as_str().unwrap());
        client.turn_end(2);
        assert_eq!(client.ask("session/inject", &params)["messageId"], first, "also after the delivery");
        assert_eq!(client.users().iter().filter(|line| line.contains("once")).count(), 1);
    });
}

#[test]
fn what_is_not_on_disk_is_not_told_of() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let pending = |client: &mut Client| {
            client.ask("_nudge/status", &json!({}))["sessions"][0][1]["pending"].clone()
        };
        let held = nudge_testkit::Held::take(&place.data.path().join("sessions.db"));
        let params = json!({"sessionId": client.session, "mode": "queue", "content": content("wait")});
        let inject = client.send("session/inject", &params);
        assert_eq!(pending(&mut client), json!([]));
        drop(held);
        let id = client.response(inject)["result"]["messageId"].clone();
        assert_eq!(pending(&mut client)[0]["messageId"], id);
    });
}

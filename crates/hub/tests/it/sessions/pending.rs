//! Revoke, replace and retries of what waits.

use serde_json::json;

use super::{Client, Place, both, content};

#[tokio::test(start_paused = true)]
async fn what_is_revoked_is_never_delivered() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let gone = client.inject("queue", "gone").await;
        let kept = client.inject("queue", "kept").await;
        assert_eq!(client.revoke(&gone).await, json!({}));
        assert_eq!(client.revoke(&gone).await, json!({}), "revoking twice succeeds");
        let replace = json!({"sessionId": client.session, "messageId": gone, "content": content("x")});
        let refused = client.refusal("session/replace_inject", &replace).await;
        assert_eq!(refused, (-32002, "unknown_message_id".into()), "it cannot be replaced any more");
        client.cancel();
        client.delivered(&kept).await;
        client.turn_end(2).await;
        let users = client.user_lines();
        assert_eq!(users.last().map(String::as_str), Some("user: kept"));
        assert!(!users.iter().any(|line| line.contains("gone")), "{users:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_replaced_says_the_last_thing_at_its_old_place() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let first = client.inject("queue", "old").await;
        let second = client.inject("queue", "second").await;
        for words in ["newer", "newest"] {
            let replace = json!({"sessionId": client.session, "messageId": first, "content": content(words)});
            assert_eq!(client.ask("session/replace_inject", &replace).await["messageId"], first.as_str());
        }
        client.cancel();
        assert_eq!(client.delivered(&first).await, "newest");
        client.delivered(&second).await;
        client.turn_end(3).await;
        let users = client.user_lines();
        assert_eq!(users[users.len() - 2..], ["user: newest", "user: second"], "{users:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_delivered_can_be_neither_revoked_nor_replaced() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let id = client.inject("queue", "done").await;
        client.delivered(&id).await;
        let revoke = json!({"sessionId": client.session, "messageId": id});
        assert_eq!(
            client.refusal("session/revoke_inject", &revoke).await,
            (-32010, "already_delivered".into())
        );
        let replace = json!({"sessionId": client.session, "messageId": id, "content": content("x")});
        assert_eq!(
            client.refusal("session/replace_inject", &replace).await,
            (-32010, "already_delivered".into())
        );
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_race_with_the_delivery_has_one_outcome() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        for round in 0..20 {
            let id = client.inject("queue", &format!("old {round}")).await;
            client.cancel();
            let session = client.session.clone();
            let (method, params) = if round % 2 == 0 {
                ("session/revoke_inject", json!({"sessionId": session, "messageId": id}))
            } else {
                let content = content(&format!("new {round}"));
                ("session/replace_inject", json!({"sessionId": session, "messageId": id, "content": content}))
            };
            let request = client.send(method, &params);
            let response = client.response(request).await;
            let succeeded = response.get("result").is_some();
            // A turn that certainly comes after it, so that it is known whether it was delivered.
            let last = client.inject("queue", "talk").await;
            client.delivered(&last).await;
            let users = client.user_lines();
            let of_round: Vec<_> = users.iter().filter(|line| line.ends_with(&format!(" {round}"))).collect();
            let expected = match (round % 2, succeeded) {
                (0, true) => None,
                (1, true) => Some(format!("user: new {round}")),
                _ => Some(format!("user: old {round}")),
            };
            assert_eq!(of_round, expected.iter().collect::<Vec<_>>(), "{method} {succeeded} {users:?}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_message_is_not_found() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let revoke = json!({"sessionId": client.session, "messageId": "nope"});
        assert_eq!(
            client.refusal("session/revoke_inject", &revoke).await,
            (-32002, "unknown_message_id".into())
        );
        let params = json!({"sessionId": "nope", "messageId": "nope"});
        assert_eq!(
            client.refusal("session/revoke_inject", &params).await,
            (-32002, "unknown_session".into())
        );
        let params = json!({"sessionId": "nope", "prompt": content("x")});
        assert_eq!(client.refusal("session/prompt", &params).await, (-32002, "unknown_session".into()));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_with_the_same_key_is_the_same_message() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let params = json!({
            "sessionId": client.session, "mode": "queue", "content": content("once"),
            "_meta": {"idempotencyKey": "k1"},
        });
        let first = client.ask("session/inject", &params).await["messageId"].clone();
        assert_eq!(client.ask("session/inject", &params).await["messageId"], first);
        client.cancel();
        client.delivered(first.as_str().unwrap()).await;
        client.turn_end(2).await;
        assert_eq!(
            client.ask("session/inject", &params).await["messageId"],
            first,
            "also after the delivery"
        );
        assert_eq!(client.user_lines().iter().filter(|line| line.contains("once")).count(), 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_on_disk_is_not_told_of() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let pending = async |client: &mut Client| {
            client.ask("_nudge/status", &json!({})).await["sessions"][0][1]["pending"].clone()
        };
        place.store.hold();
        let params = json!({"sessionId": client.session, "mode": "queue", "content": content("wait")});
        let inject = client.send("session/inject", &params);
        assert_eq!(pending(&mut client).await, json!([]));
        place.store.go_on();
        let id = client.response(inject).await["result"]["messageId"].clone();
        assert_eq!(pending(&mut client).await[0]["messageId"], id);
    })
    .await;
}

/// A client that wants to be told what waits, in the session of another.
async fn that_hears(place: &Place, version: u64, session: &str) -> Client {
    let wish = json!({"_meta": {"nudge": {"pending": true}}});
    let mut client = place.shared_client_with(version, &wish).await;
    client.load(session, &place.cwd()).await;
    client
}

/// What it is told, the `count`th time: mode and words of each message.
async fn told(client: &mut Client, count: usize) -> Vec<String> {
    let is_told = |message: &serde_json::Value| message["method"] == "_nudge/pending";
    let told = client.nth("what waits", count, is_told).await;
    assert_eq!(told["params"]["sessionId"], client.session.as_str());
    let pending = told["params"]["pending"].as_array().expect("a list").iter();
    let one = |message: &serde_json::Value| {
        assert!(message["messageId"].is_string(), "{message}");
        format!("{}: {}", message["mode"].as_str().unwrap_or_default(), message["content"][0]["text"])
    };
    pending.map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn who_wants_to_know_is_told_what_waits_whoever_said_it() {
    both(async |version| {
        let place = Place::new();
        let mut speaker = place.shared_client(version).await;
        speaker.new_session(&place.cwd()).await;
        speaker.prompt("talk");
        speaker.said("word").await;
        let mut listener = that_hears(&place, version, &speaker.session).await;
        let first = speaker.inject("queue", "one").await;
        assert_eq!(told(&mut listener, 1).await, ["queue: \"one\""]);
        let second = speaker.inject("queue", "two").await;
        assert_eq!(told(&mut listener, 2).await, ["queue: \"one\"", "queue: \"two\""]);
        speaker.revoke(&first).await;
        assert_eq!(told(&mut listener, 3).await, ["queue: \"two\""]);
        let replace = json!({"sessionId": speaker.session, "messageId": second, "content": content("new")});
        speaker.ask("session/replace_inject", &replace).await;
        assert_eq!(told(&mut listener, 4).await, ["queue: \"new\""]);
        listener.cancel();
        assert_eq!(told(&mut listener, 5).await, Vec::<String>::new());
        listener.delivered(&second).await;
        let others = speaker.log.iter().filter(|message| message.value["method"] == "_nudge/pending");
        assert_eq!(others.count(), 0, "who has not asked for it is not told");
    })
    .await;
}

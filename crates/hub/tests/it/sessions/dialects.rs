//! The other ways in which clients say something in mid-turn.

use serde_json::json;

use super::{Client, Place, both, content};

async fn steering(client: &mut Client, words: &str, meta: &serde_json::Value) -> serde_json::Value {
    let params = json!({"sessionId": client.session, "prompt": content(words), "_meta": meta});
    client.ask("_session/steering", &params).await
}

#[tokio::test(start_paused = true)]
async fn session_steering_while_busy_is_a_steer_its_sender_is_not_shown() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        assert_eq!(steering(&mut client, "left", &json!({})).await["outcome"], "injected");
        client.said("steered by left").await;
        client.turn_end(1).await;
        assert!(!client.user_lines().contains(&"user: left".to_owned()));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn session_steering_while_idle_starts_a_turn_or_says_that_it_takes_a_prompt() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let asks = json!({"steering": {"idleBehavior": "promptRequired"}});
        let refused = steering(&mut client, "left", &asks).await;
        assert_eq!(refused, json!({"outcome": "promptRequired", "reason": "noRunningTurn"}));
        assert_eq!(steering(&mut client, "hello", &json!({})).await["outcome"], "startedNewTurn");
        client.said("heard hello").await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_v2_prompt_while_a_turn_runs_is_a_steer_answered_when_it_is_in() {
    let place = Place::new();
    let mut client = Client::talking(&place, 2).await;
    let id = client.prompt("now");
    let message = client.response(id).await["result"]["messageId"].as_str().unwrap().to_owned();
    assert_eq!(client.delivered(&message).await, "now");
    assert_eq!(client.turn_end(1).await, "end_turn");
    let story = client.story();
    assert_eq!(story[story.len() - 3..], ["user: now", "agent: steered by now", "idle"]);
}

#[tokio::test]
async fn a_v2_prompt_that_waits_is_rejected_by_a_cancel_before_idle() {
    let place = Place::new();
    let mut client = Client::running(&place, 2, "run sleep 30").await;
    let id = client.prompt("never");
    client.cancel();
    let response = client.response(id).await;
    assert_eq!(response["error"]["code"], -32800, "{response}");
    client.turn_end(1).await;
    let at = |fits: &dyn Fn(&serde_json::Value) -> bool| client.messages().position(fits);
    let rejected = at(&|message| message["id"] == id && message.get("error").is_some());
    let idle = at(&|message| message["params"]["update"]["state"] == "idle");
    assert!(rejected < idle, "{rejected:?} {idle:?}");
    assert!(!client.user_lines().contains(&"user: never".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_v1_prompt_while_a_turn_runs_is_queued_and_answered_at_the_end_of_its_own() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1).await;
    client.prompt("pause");
    client.said("before").await;
    let second = client.prompt("second");
    assert_eq!(client.response(second).await["result"]["stopReason"], "end_turn");
    let story = client.story();
    assert_eq!(story, ["agent: before after", "idle", "agent: heard second", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn a_v1_prompt_that_waits_is_answered_cancelled_by_a_cancel() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1).await;
    let first = client.prompt("talk");
    client.said("word").await;
    let second = client.prompt("second");
    client.cancel();
    assert_eq!(client.response(second).await["result"]["stopReason"], "cancelled");
    assert_eq!(client.response(first).await["result"]["stopReason"], "cancelled");
    client.prompt("third");
    client.said("heard third").await;
    assert!(!client.story().iter().any(|line| line.contains("second")));
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_request_of_a_v1_prompt_cancels_its_turn() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1).await;
    let id = client.prompt("talk");
    client.said("word").await;
    client.note("$/cancel_request", &json!({"requestId": id}));
    assert_eq!(client.response(id).await["result"]["stopReason"], "cancelled");
}

#[tokio::test]
async fn cancelling_the_request_of_a_prompt_that_waits_takes_it_back_and_nothing_else() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, "run while [ ! -e go ]; do sleep 0.01; done").await;
        let waiting = client.prompt("never");
        client.note("$/cancel_request", &json!({"requestId": waiting}));
        let response = client.response(waiting).await;
        // A request that was not even taken is answered as such in both versions.
        let is_cancelled = response["error"]["code"] == -32800;
        let is_stopped = version == 1 && response["result"]["stopReason"] == "cancelled";
        assert!(is_cancelled || is_stopped, "{response}");
        std::fs::write(place.work.path().join("go"), "").unwrap();
        client.said("ran").await;
        assert!(!client.story().join("\n").contains("never"));
    })
    .await;
}

#[tokio::test]
async fn a_prompt_that_was_dropped_may_be_sent_again_under_its_key() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, "run sleep 30").await;
        let params = json!({
            "sessionId": client.session, "prompt": content("again"), "_meta": {"idempotencyKey": "p"},
        });
        let dropped = client.send("session/prompt", &params);
        client.cancel();
        client.response(dropped).await;
        client.turn_end(1).await;
        client.send("session/prompt", &params);
        client.said("heard again").await;
    })
    .await;
}

//! `session/cancel` ends the turn and nothing else.

use super::{Client, Place, both};

#[tokio::test(start_paused = true)]
async fn what_waits_follows_and_the_client_is_told_how_much() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let first = client.inject("queue", "one").await;
        let second = client.inject("queue", "two").await;
        client.cancel();
        let told = client
            .until("the number of messages", |message| {
                let update = &message["params"]["update"];
                let notice = if version == 1 { &update["_meta"]["notice"] } else { update };
                notice["_meta"]["inject"]["following"] == 2
            })
            .await;
        assert!(told.to_string().contains(&first), "{told}");
        client.delivered(&first).await;
        client.delivered(&second).await;
        assert_eq!(client.turn_end(1).await, "cancelled");
        assert_eq!(client.turn_end(3).await, "end_turn");
    })
    .await;
}

#[tokio::test]
async fn a_steer_between_cancel_and_idle_starts_the_next_turn_before_the_queue() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        // The command does not die at once, so that there is a time between.
        client.prompt("run trap '' TERM; touch ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.02; done");
        let request = client.agent_request().await;
        client.permit(&request, "allow_once");
        client.tool("in_progress").await;
        let queued = client.inject("queue", "later").await;
        client.cancel();
        let params = serde_json::json!({
            "sessionId": client.session, "mode": "steer", "content": super::content("next")
        });
        let id = client.send("session/inject", &params);
        let response = client.response(id).await;
        client.delivered(&queued).await;
        client.turn_end(2).await;
        let users = client.user_lines();
        // The cancel may have been over first; then the steer is refused, and says so.
        if let Some(steer) = response["result"]["messageId"].as_str() {
            client.delivered(steer).await;
            assert_eq!(users[users.len() - 2..], ["user: next", "user: later"], "{users:?}");
        } else {
            assert_eq!(response["error"]["data"]["reason"], "no_running_turn", "{response}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn on_an_idle_session_it_does_nothing() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.cancel();
        client.prompt("hello");
        assert_eq!(client.turn_end(1).await, "end_turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn right_after_a_prompt_it_ends_that_turn() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        for turn in 1..=20 {
            client.prompt("talk");
            client.cancel();
            assert_eq!(client.turn_end(turn).await, "cancelled");
        }
    })
    .await;
}

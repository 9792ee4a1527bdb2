//! `queue`: one turn each, in order, after the session is idle.

use super::{Client, Place, both};

#[tokio::test(start_paused = true)]
async fn queued_while_a_turn_runs_they_follow_one_at_a_time() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version).await;
        let first = client.inject("queue", "one").await;
        let second = client.inject("queue", "two").await;
        client.cancel();
        assert_eq!(client.turn_end(1).await, "cancelled");
        assert_eq!(client.turn_end(3).await, "end_turn");
        assert_eq!(
            (client.delivered(&first).await, client.delivered(&second).await),
            ("one".into(), "two".into())
        );
        let story = client.story();
        let story: Vec<&str> = story.iter().map(String::as_str).skip_while(|line| *line != "idle").collect();
        let told = ["idle", "user: one", "agent: heard one", "idle", "user: two", "agent: heard two", "idle"];
        assert_eq!(story, told, "version {version}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn queued_on_an_idle_session_it_starts_a_turn_at_once() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let id = client.inject("queue", "now").await;
        assert_eq!(client.delivered(&id).await, "now");
        assert_eq!(client.turn_end(1).await, "end_turn");
        assert_eq!(client.story(), ["user: now", "agent: heard now", "idle"]);
        if version == 1 {
            let told = |state: &'static str| {
                move |message: &serde_json::Value| message["params"]["update"]["_meta"]["state"] == state
            };
            client.until("the start is told", told("running")).await;
            client.until("the end is told", told("idle")).await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_answer_comes_before_the_delivery() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let id = client.inject("queue", "now").await;
        client.delivered(&id).await;
        let at = |fits: &dyn Fn(&serde_json::Value) -> bool| client.messages().position(fits);
        let answered = at(&|message| message["result"]["messageId"] == id.as_str());
        let delivered = at(&|message| message["params"]["update"]["messageId"] == id.as_str());
        assert!(answered < delivered, "{answered:?} {delivered:?}");
    })
    .await;
}

//! `queue`: one turn each, in order, after the session is idle.

use super::{Client, Place, both};

#[test]
fn queued_while_a_turn_runs_they_follow_one_at_a_time() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let first = client.inject("queue", "one");
        let second = client.inject("queue", "two");
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        assert_eq!(client.turn_end(3), "end_turn");
        assert_eq!((client.delivered(&first), client.delivered(&second)), ("one".into(), "two".into()));
        let story = client.story();
        let story: Vec<&str> = story.iter().map(String::as_str).skip_while(|line| *line != "idle").collect();
        let told = ["idle", "user: one", "agent: heard one", "idle", "user: two", "agent: heard two", "idle"];
        assert_eq!(story, told, "version {version}");
    });
}

#[test]
fn queued_on_an_idle_session_it_starts_a_turn_at_once() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let id = client.inject("queue", "now");
        assert_eq!(client.delivered(&id), "now");
        assert_eq!(client.turn_end(1), "end_turn");
        assert_eq!(client.story(), ["user: now", "agent: heard now", "idle"]);
        if version == 1 {
            let told = |state: &'static str| {
                move |message: &serde_json::Value| message["params"]["update"]["_meta"]["state"] == state
            };
            client.until("the start is told", told("running"));
            client.until("the end is told", told("idle"));
        }
    });
}

#[test]
fn the_answer_comes_before_the_delivery() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let id = client.inject("queue", "now");
        client.delivered(&id);
        let at = |fits: &dyn Fn(&serde_json::Value) -> bool| client.log.iter().position(fits);
        let answered = at(&|message| message["result"]["messageId"] == id.as_str());
        let delivered = at(&|message| message["params"]["update"]["messageId"] == id.as_str());
        assert!(answered < delivered, "{answered:?} {delivered:?}");
    });
}

//! `session/cancel` ends the turn and nothing else.

use super::{Client, Place, both};

#[test]
fn what_waits_follows_and_the_client_is_told_how_much() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        let first = client.inject("queue", "one");
        let second = client.inject("queue", "two");
        client.cancel();
        let told = client.until("the number of messages", |message| {
            let update = &message["params"]["update"];
            let notice = if version == 1 { &update["_meta"]["notice"] } else { update };
            notice["_meta"]["inject"]["following"] == 2
        });
        assert!(told.to_string().contains(&first), "{told}");
        client.delivered(&first);
        client.delivered(&second);
        assert_eq!(client.turn_end(1), "cancelled");
        assert_eq!(client.turn_end(3), "end_turn");
    });
}

#[test]
fn a_steer_between_cancel_and_idle_starts_the_next_turn_before_the_queue() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        // The command does not die at once, so that there is a time between.
        client.prompt("run trap '' TERM; touch ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.02; done");
        let request = client.agent_request();
        client.permit(&request, "allow_once");
        client.tool("in_progress");
        let queued = client.inject("queue", "later");
        client.cancel();
        let params = serde_json::json!({
            "sessionId": client.session, "mode": "steer", "content": super::content("next")
        });
        let id = client.send("session/inject", &params);
        let response = client.response(id);
        client.delivered(&queued);
        client.turn_end(2);
        let users = client.users();
        // The cancel may have been over first; then the steer is refused, and says so.
        if let Some(steer) = response["result"]["messageId"].as_str() {
            client.delivered(steer);
            assert_eq!(users[users.len() - 2..], ["user: next", "user: later"], "{users:?}");
        } else {
            assert_eq!(response["error"]["data"]["reason"], "no_running_turn", "{response}");
        }
    });
}

#[test]
fn a_running_command_ends_with_everything_it_started() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, "run setsid sleep 987.25 & sleep 987.25");
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        let left = || {
            let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            processes
                .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
                .filter(|line| line.windows(6).any(|part| part == b"987.25") && line.starts_with(b"sleep"))
                .count()
        };
        let patience = std::time::Instant::now() + nudge_testkit::PATIENCE;
        while left() > 0 {
            assert!(std::time::Instant::now() < patience, "{} processes are left", left());
            std::thread::yield_now();
        }
    });
}

#[test]
fn on_an_idle_session_it_does_nothing() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.cancel();
        client.prompt("hello");
        assert_eq!(client.turn_end(1), "end_turn");
    });
}

#[test]
fn right_after_a_prompt_it_ends_that_turn() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        for turn in 1..=20 {
            client.prompt("talk");
            client.cancel();
            assert_eq!(client.turn_end(turn), "cancelled");
        }
    });
}

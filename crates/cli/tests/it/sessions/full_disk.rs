//! A disk that is full: what is asked is refused and says why, nothing is lost, and with room again all goes on. What that
//! means for each kind of request is shown in memory, in `crates/hub/tests/it/adapted/full_store.rs`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{content, small_disk::Small};

fn is_full(error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    message.contains("disk is full") && error["data"]["reason"] == "disk_full"
}

#[test]
fn what_cannot_be_stored_is_refused_and_the_session_goes_on_with_room_again() {
    super::both(|version| {
        let Some(mut small) = Small::new(version) else { return };
        small.client.prompt("first");
        small.client.turn_end(1);
        small.fill();
        let refused = [
            ("session/prompt", json!({"sessionId": small.client.session, "prompt": content("second")})),
            (
                "session/inject",
                json!({"sessionId": small.client.session, "mode": "queue", "content": content("third")}),
            ),
            ("session/new", json!({"cwd": small.place.cwd(), "mcpServers": []})),
        ];
        for (method, params) in refused {
            let id = small.client.send(method, &params);
            let error = small.client.response(id)["error"].clone();
            assert!(is_full(&error), "{method}: {error}");
        }
        small.free();
        let id = small.client.prompt("fourth");
        let answer = small.client.response(id);
        assert!(answer.get("error").is_none(), "{answer}");
        small.client.said("heard fourth");
        let told = small.loaded();
        let told: Vec<_> =
            told.iter().filter(|line| line.starts_with("user") || line.starts_with("agent")).collect();
        assert_eq!(told, ["user: first", "agent: heard first", "user: fourth", "agent: heard fourth"]);
    });
}

#[test]
fn a_turn_that_fills_the_disk_ends_and_what_was_shown_and_accepted_is_kept() {
    super::both(|version| {
        let Some(mut small) = Small::new(version) else { return };
        let prompt = small.client.prompt("talk");
        small.client.said("word");
        let kept = small.client.inject("queue", "kept");
        small.fill();
        if version == 1 {
            let error = small.client.response(prompt)["error"].clone();
            assert!(is_full(&error), "{error}");
        } else {
            let end =
                small.client.until("the end", |message| message["params"]["update"]["stopReason"] == "error");
            assert!(is_full(&end["params"]["update"]["error"]), "{end}");
        }
        let words = |story: &[String]| story.concat().matches("word").count();
        let shown = words(&small.client.story());
        small.free();
        // By itself: nobody asks for anything.
        assert_eq!(small.client.delivered(&kept), "kept");
        small.client.said("heard kept");
        let told = small.loaded();
        assert_eq!(words(&told), shown, "{told:#?}");
        assert!(told.iter().any(|line| line.contains("interrupted")), "{told:#?}");
    });
}

#[test]
fn a_process_ends_whose_session_could_not_be_closed() {
    super::both(|version| {
        for _ in 0..3 {
            let Some(mut small) = Small::new(version) else { return };
            small.fill();
            small.client.send("session/close", &json!({"sessionId": small.client.session}));
            small.client.process.close_input();
            let began = Instant::now();
            while small.client.process.next_line().is_some() {}
            assert!(began.elapsed() < Duration::from_secs(20), "it waited until nobody used the session");
        }
    });
}

#[test]
fn sessions_are_free_at_once_when_a_daemon_ended_that_could_not_say_so() {
    super::both(|version| {
        let Some(mut small) = Small::shared(version) else { return };
        small.client.prompt("first");
        small.client.turn_end(1);
        small.fill();
        let (status, _, errors) = small.nudge(&["stop"]).finish();
        assert!(status.success(), "{errors}");
        small.free();
        let mut again = small.beside(version);
        again.prompt("second");
        again.said("heard second");
    });
}

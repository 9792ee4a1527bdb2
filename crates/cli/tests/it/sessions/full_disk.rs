//! A disk that is full: what is asked is refused and says why, nothing is lost, and with room again all goes on.

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
fn a_session_that_cannot_be_closed_or_deleted_is_loaded_at_once_with_room_again() {
    for (version, method) in [(1, "session/close"), (2, "session/delete")] {
        let Some(mut small) = Small::new(version) else { return };
        small.client.prompt("first");
        small.client.turn_end(1);
        small.fill();
        let params = small.open();
        let load = if version == 1 { "session/load" } else { "session/resume" };
        for method in [method, load] {
            let id = small.client.send(method, &params);
            let error = small.client.response(id)["error"].clone();
            assert!(is_full(&error), "{method}: {error}");
        }
        small.free();
        let told = small.loaded();
        assert!(told.contains(&"user: first".to_owned()), "{told:#?}");
        small.client.prompt("second");
        small.client.said("heard second");
    }
}

/// Asks for something for which there is no room.
fn ask_for_room(small: &mut Small) {
    let params = json!({"sessionId": small.client.session, "mode": "queue", "content": content("say no")});
    check_full(small, "session/inject", &params);
}

fn check_full(small: &mut Small, method: &str, params: &Value) {
    let id = small.client.send(method, params);
    let error = small.client.response(id)["error"].clone();
    assert!(is_full(&error), "{method}: {error}");
}

#[test]
fn a_message_stays_accepted_whose_replacement_is_refused() {
    super::both(|version| {
        let Some(mut small) = Small::with_agent(version, "") else { return };
        small.client.prompt("until go");
        let id = small.client.inject("queue", "say original");
        small.fill();
        let params =
            json!({"sessionId": small.client.session, "messageId": id, "content": content("say other")});
        check_full(&mut small, "session/replace_inject", &params);
        small.free();
        small.place.touch("go");
        assert_eq!(small.client.delivered(&id), "say original");
        small.client.said("original");
    });
}

#[test]
fn a_session_that_cannot_be_closed_goes_on_for_all_who_have_it() {
    super::both(|version| {
        let Some(mut small) = Small::shared(version) else { return };
        small.client.prompt("first");
        small.client.turn_end(1);
        let mut other = small.beside(version);
        small.fill();
        let params = json!({"sessionId": small.client.session});
        check_full(&mut small, "session/close", &params);
        small.free();
        other.prompt("second");
        other.said("heard second");
        small.client.prompt("third");
        small.client.said("heard third");
    });
}

#[test]
fn what_comes_while_a_close_fails_is_answered() {
    super::both(|version| {
        let Some(mut small) = Small::shared(version) else { return };
        small.client.prompt("first");
        small.client.turn_end(1);
        let mut others: Vec<_> = (0..2).map(|_| small.another(version)).collect();
        for _ in 0..6 {
            small.fill();
            let close = small.client.send("session/close", &json!({"sessionId": small.client.session}));
            let params = small.open();
            let mut asked = Vec::new();
            for _ in 0..6 {
                asked.extend(others.iter_mut().map(|other| other.send("session/resume", &params)));
            }
            small.client.response(close);
            for (count, id) in asked.into_iter().enumerate() {
                others[count % 2].response(id);
            }
            small.free();
            small.loaded();
        }
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
fn a_session_that_cannot_be_deleted_is_not_deleted_by_its_agent() {
    for is_closed in [false, true] {
        let Some(mut small) = Small::with_agent(1, "--delete --load --memory MEMORY") else { return };
        small.client.prompt("say one");
        small.client.turn_end(1);
        let params = small.open();
        if is_closed {
            small.client.ask("session/close", &params);
        }
        small.fill();
        check_full(&mut small, "session/delete", &params);
        assert!(!small.agent_log().contains("session/delete"), "closed: {is_closed}");
        small.free();
        small.loaded();
        small.client.prompt("recall");
        small.client.said("say one|recall");
        small.client.ask("session/delete", &params);
        assert!(small.agent_log().contains("session/delete"), "closed: {is_closed}");
    }
}

#[test]
fn a_message_that_waits_is_still_of_the_client_that_sent_it() {
    let Some(mut small) = Small::with_agent(1, "") else { return };
    let mut other = small.beside(1);
    small.client.prompt("until go");
    small.client.inject("queue", "say hello");
    other.inject("queue", "read notes");
    small.fill();
    ask_for_room(&mut small);
    small.free();
    small.place.touch("go");
    let request = other.agent_request();
    assert_eq!(request["method"], "fs/read_text_file");
    other.answer(&request, &json!({"content": "a wren"}));
    other.said("a wren");
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

#[test]
fn a_session_whose_first_prompt_was_refused_is_called_after_the_next() {
    super::both(|version| {
        let Some(mut small) = Small::new(version) else { return };
        small.fill();
        let params = json!({"sessionId": small.client.session, "prompt": content("wren")});
        check_full(&mut small, "session/prompt", &params);
        small.free();
        small.client.prompt("finch");
        small.client.said("heard finch");
        let listed = small.client.ask("session/list", &json!({}));
        assert_eq!(listed["sessions"][0]["title"], "finch", "{listed}");
    });
}

#[test]
fn a_prompt_that_was_refused_may_be_sent_again_under_its_key() {
    let Some(mut small) = Small::with_agent(1, "") else { return };
    let meta = json!({"idempotencyKey": "k"});
    let text = content("until go; say heard");
    let params = json!({"sessionId": small.client.session, "prompt": text, "_meta": meta});
    let prompt = small.client.send("session/prompt", &params);
    small.client.inject("queue", "say next");
    small.fill();
    ask_for_room(&mut small);
    assert!(is_full(&small.client.response(prompt)["error"]));
    small.free();
    small.client.said("next");
    small.place.touch("go");
    small.client.send("session/prompt", &params);
    small.client.said("heard");
}

#[test]
fn a_tool_call_that_is_interrupted_is_not_told_as_another() {
    for (options, version) in [("", 1), ("--v2", 1), ("", 2), ("--v2", 2)] {
        let Some(mut small) = Small::with_agent(version, options) else { return };
        small.client.prompt("tool t go; say after");
        small.client.tool("in_progress");
        small.fill();
        ask_for_room(&mut small);
        small.free();
        let ended = if version == 1 || options.is_empty() { "failed" } else { "cancelled" };
        let told = small.client.tool(ended);
        assert!(told["params"]["update"].get("title").is_none(), "{options} {version}: {told}");
        let is_begun = |message: &&Value| message["params"]["update"]["sessionUpdate"] == "tool_call";
        let begun = small.client.log.iter().filter(is_begun).count();
        assert_eq!(begun, usize::from(version == 1), "{options} {version}");
    }
}

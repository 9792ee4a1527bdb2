//! The other ways in which clients say something in mid-turn.

use serde_json::json;

use super::{Client, Place, both, content};

fn steering(client: &mut Client, words: &str, meta: &serde_json::Value) -> serde_json::Value {
    let params = json!({"sessionId": client.session, "prompt": content(words), "_meta": meta});
    client.ask("_session/steering", &params)
}

#[test]
fn session_steering_while_busy_is_a_steer_its_sender_is_not_shown() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::talking(&place, version);
        assert_eq!(steering(&mut client, "left", &json!({}))["outcome"], "injected");
        client.said("steered by left");
        client.turn_end(1);
        assert!(!client.users().contains(&"user: left".to_owned()));
    });
}

#[test]
fn session_steering_while_idle_starts_a_turn_or_says_that_it_takes_a_prompt() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let asks = json!({"steering": {"idleBehavior": "promptRequired"}});
        let refused = steering(&mut client, "left", &asks);
        assert_eq!(refused, json!({"outcome": "promptRequired", "reason": "noRunningTurn"}));
        assert_eq!(steering(&mut client, "hello", &json!({}))["outcome"], "startedNewTurn");
        client.said("heard hello");
    });
}

#[test]
fn a_v2_prompt_while_a_turn_runs_is_a_steer_answered_when_it_is_in() {
    let place = Place::new();
    let mut client = Client::talking(&place, 2);
    let id = client.prompt("now");
    let message = client.response(id)["result"]["messageId"].as_str().unwrap().to_owned();
    assert_eq!(client.delivered(&message), "now");
    assert_eq!(client.turn_end(1), "end_turn");
    let story = client.story();
    assert_eq!(story[story.len() - 3..], ["user: now", "agent: steered by now", "idle"]);
}

#[test]
fn a_v2_prompt_that_waits_is_rejected_by_a_cancel_before_idle() {
    let place = Place::new();
    let mut client = Client::running(&place, 2, "run sleep 30");
    let id = client.prompt("never");
    client.cancel();
    let response = client.response(id);
    assert_eq!(response["error"]["code"], -32800, "{response}");
    client.turn_end(1);
    let at = |fits: &dyn Fn(&serde_json::Value) -> bool| client.log.iter().position(fits);
    let rejected = at(&|message| message["id"] == id && message.get("error").is_some());
    let idle = at(&|message| message["params"]["update"]["state"] == "idle");
    assert!(rejected < idle, "{rejected:?} {idle:?}");
    assert!(!client.users().contains(&"user: never".to_owned()));
}

#[test]
fn a_v1_prompt_while_a_turn_runs_is_queued_and_answered_at_the_end_of_its_own() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1);
    client.prompt("pause");
    client.said("before");
    let second = client.prompt("second");
    assert_eq!(client.response(second)["result"]["stopReason"], "end_turn");
    let story = client.story();
    assert_eq!(story, ["agent: before after", "idle", "agent: heard second", "idle"]);
}

#[test]
fn a_v1_prompt_that_waits_is_answered_cancelled_by_a_cancel() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1);
    let first = client.prompt("talk");
    client.said("word");
    let second = client.prompt("second");
    client.cancel();
    assert_eq!(client.response(second)["result"]["stopReason"], "cancelled");
    assert_eq!(client.response(first)["result"]["stopReason"], "cancelled");
    client.prompt("third");
    client.said("heard third");
    assert!(!client.story().iter().any(|line| line.contains("second")));
}

#[test]
fn cancelling_the_request_of_a_v1_prompt_cancels_its_turn() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1);
    let id = client.prompt("talk");
    client.said("word");
    client.note("$/cancel_request", &json!({"requestId": id}));
    assert_eq!(client.response(id)["result"]["stopReason"], "cancelled");
}

#[test]
fn cancelling_the_request_of_a_prompt_that_waits_takes_it_back_and_nothing_else() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, "run while [ ! -e go ]; do sleep 0.01; done");
        let waiting = client.prompt("never");
        client.note("$/cancel_request", &json!({"requestId": waiting}));
        let response = client.response(waiting);
        // A request that was not even taken is answered as such in both versions.
        let is_cancelled = response["error"]["code"] == -32800;
        let is_stopped = version == 1 && response["result"]["stopReason"] == "cancelled";
        assert!(is_cancelled || is_stopped, "{response}");
        std::fs::write(place.work.path().join("go"), "").unwrap();
        client.said("ran");
        assert!(!client.story().join("\n").contains("never"));
    });
}

#[test]
fn a_prompt_that_was_dropped_may_be_sent_again_under_its_key() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, "run sleep 30");
        let params = json!({
            "sessionId": client.session, "prompt": content("again"), "_meta": {"idempotencyKey": "p"},
        });
        let dropped = client.send("session/prompt", &params);
        client.cancel();
        client.response(dropped);
        client.turn_end(1);
        client.send("session/prompt", &params);
        client.said("heard again");
    });
}

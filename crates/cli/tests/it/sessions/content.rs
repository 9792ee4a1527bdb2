//! What a message may say, and what is offered.

use serde_json::json;

use super::{Client, Place, both, content};

#[test]
fn what_cannot_be_taken_is_refused_with_its_reason() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        let session = client.session.clone();
        let inject = |mode: &str, content: serde_json::Value| json!({"sessionId": session, "mode": mode, "content": content});
        let image = json!([{"type": "image", "data": "", "mimeType": "image/png"}]);
        let cases = [
            (inject("queue", json!([])), "empty_content"),
            (inject("_later", content("x")), "mode_not_supported"),
            (inject("queue", image.clone()), "content_not_supported"),
        ];
        for (params, reason) in cases {
            assert_eq!(client.refused("session/inject", &params), (-32602, reason.into()), "{params}");
        }
        let prompt = json!({"sessionId": session, "prompt": image});
        assert_eq!(client.refused("session/prompt", &prompt), (-32602, "content_not_supported".into()));
        let (code, _) = client.refused("session/inject", &json!({"sessionId": session}));
        assert_eq!(code, -32602);
    });
}

#[test]
fn what_is_offered_is_said_in_both_places() {
    both(|version| {
        let place = Place::new();
        let client = place.client(version);
        let init = &client.initialized;
        let capabilities = if version == 1 { &init["agentCapabilities"] } else { &init["capabilities"] };
        let inject = &capabilities["session"]["inject"];
        assert_eq!(inject["modes"], json!(["queue", "steer"]));
        assert_eq!(inject["steer_in_stream"], json!(["interrupt", "finish"]));
        assert_eq!(inject["steerInStream"], json!(["interrupt", "finish"]));
        assert_eq!(inject["pending"]["replace"], true);
        assert_eq!(&capabilities["_meta"]["inject"], inject);
        assert_eq!(init["_meta"]["steering"]["supported"], true);
    });
}

#[test]
fn plans_thoughts_and_usage_are_told() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("plan");
        client.turn_end(1);
        let kinds: Vec<&str> = client
            .log
            .iter()
            .filter_map(|message| message["params"]["update"]["sessionUpdate"].as_str())
            .collect();
        let plan = if version == 1 { "plan" } else { "plan_update" };
        for kind in
            [plan, "agent_thought_chunk", "usage_update", "available_commands_update", "session_info_update"]
        {
            assert!(kinds.contains(&kind), "{kind} {kinds:?}");
        }
    });
}

#[test]
fn a_model_that_fails_is_told() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1);
    let id = client.prompt("fail");
    let response = client.response(id);
    assert!(response["error"]["message"].as_str().unwrap().contains("the provider is down"), "{response}");
    client.prompt("hello");
    assert_eq!(client.turn_end(1), "end_turn");

    let mut client = Client::with_session(&place, 2);
    client.prompt("fail");
    let idle = client.until("idle", |message| message["params"]["update"]["state"] == "idle");
    assert_eq!(idle["params"]["update"]["stopReason"], "error", "{idle}");
}

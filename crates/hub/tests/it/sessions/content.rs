//! What a message may say, and what is offered.

use serde_json::json;

use super::{Client, Place, both, content};

#[tokio::test(start_paused = true)]
async fn what_cannot_be_taken_is_refused_with_its_reason() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        let session = client.session.clone();
        let inject = |mode: &str, content: serde_json::Value| json!({"sessionId": session, "mode": mode, "content": content});
        let image = json!([{"type": "image", "data": "", "mimeType": "image/png"}]);
        let cases = [
            (inject("queue", json!([])), "empty_content"),
            (inject("_later", content("x")), "mode_not_supported"),
            (inject("queue", image.clone()), "content_not_supported"),
        ];
        for (params, reason) in cases {
            assert_eq!(client.refusal("session/inject", &params).await, (-32602, reason.into()), "{params}");
        }
        let prompt = json!({"sessionId": session, "prompt": image});
        assert_eq!(client.refusal("session/prompt", &prompt).await, (-32602, "content_not_supported".into()));
        let (code, _) = client.refusal("session/inject", &json!({"sessionId": session})).await;
        assert_eq!(code, -32602);
    }).await;
}

#[tokio::test(start_paused = true)]
async fn plans_thoughts_and_usage_are_told() {
    both(async |version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version).await;
        client.prompt("plan");
        client.turn_end(1).await;
        let kinds: Vec<&str> = client
            .messages()
            .filter_map(|message| message["params"]["update"]["sessionUpdate"].as_str())
            .collect();
        let plan = if version == 1 { "plan" } else { "plan_update" };
        for kind in
            [plan, "agent_thought_chunk", "usage_update", "available_commands_update", "session_info_update"]
        {
            assert!(kinds.contains(&kind), "{kind} {kinds:?}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_is_told() {
    let place = Place::new();
    let mut client = Client::with_session(&place, 1).await;
    let id = client.prompt("fail");
    let response = client.response(id).await;
    assert!(response["error"]["message"].as_str().unwrap().contains("the provider is down"), "{response}");
    client.prompt("hello");
    assert_eq!(client.turn_end(1).await, "end_turn");

    let mut client = Client::with_session(&place, 2).await;
    client.prompt("fail");
    let idle = client.until("idle", |message| message["params"]["update"]["state"] == "idle").await;
    assert_eq!(idle["params"]["update"]["stopReason"], "error", "{idle}");
}

//! Anthropic messages.

use nudge_stage::{FinishReason, MessageRole, ModelReply, StageProvider};
use serde_json::{Value, json};

use crate::{
    client::{events, names, post, post_json, read},
    dialogue::Dialogue,
};

const PATH: &str = "/v1/messages";

const ANTHROPIC: Dialogue = Dialogue {
    path: |_| PATH,
    ask,
    follow_up,
    said,
    error: ("/error/message", "/error/type"),
    too_many: "rate_limit_error",
    call_id: "call_7",
};

#[tokio::test]
async fn speaks_messages() {
    ANTHROPIC.check_all().await;
}

fn ask(text: &str, is_stream: bool) -> Value {
    json!({
        "model": "m", "max_tokens": 100, "stream": is_stream,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>You said: nothing</system-reminder>"},
            {"type": "text", "text": text},
        ]}],
        "tools": [{"name": "read_file", "input_schema": {"type": "object"}}],
    })
}

fn follow_up(id: &str, is_stream: bool) -> Value {
    let mut body = ask("look", is_stream);
    let call = json!({"type": "tool_use", "id": id, "name": "read_file", "input": {"path": "a.rs"}});
    let text = json!([{"type": "text", "text": "fn main"}]);
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    let messages = body["messages"].as_array_mut().expect("a list");
    messages.push(json!({"role": "assistant", "content": [call]}));
    messages.push(json!({"role": "user", "content": [result]}));
    body
}

fn said(answer: &str, is_stream: bool) -> String {
    if !is_stream {
        let answer: Value = serde_json::from_str(answer).expect("the answer is JSON");
        return answer["content"][0]["text"].as_str().expect("a text").to_owned();
    }
    events(answer).iter().filter_map(|(_, data)| data["delta"]["text"].as_str()).collect()
}

async fn stream(reply: ModelReply) -> String {
    let provider = StageProvider::start().await;
    provider.on_any().reply(reply);
    let response = post(&provider, PATH, &ask("hi", true)).await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    read(response.into_body()).await.0
}

#[tokio::test]
async fn events_come_in_order() {
    let reply = ModelReply::thinking("Hm. Hm.")
        .and_text("I look.")
        .and_call("read_file", json!({"path": "a.rs", "limit": 20}))
        .usage(20, 9);
    let events = events(&stream(reply).await);
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected =
        [&["message_start", "ping"][..], &block, &block, &block, &["message_delta", "message_stop"]];
    assert_eq!(names(&events), expected.concat());
    assert!(events.iter().all(|(name, data)| name.as_deref() == data["type"].as_str()));

    let starts = events.iter().filter(|(_, data)| data["type"] == "content_block_start");
    let kinds: Vec<_> =
        starts.map(|(_, data)| (data["index"].as_u64(), &data["content_block"]["type"])).collect();
    let [thinking, text, tool] = [&json!("thinking"), &json!("text"), &json!("tool_use")];
    assert_eq!(kinds, [(Some(0), thinking), (Some(1), text), (Some(2), tool)]);
    let input: String =
        events.iter().filter_map(|(_, data)| data["delta"]["partial_json"].as_str()).collect();
    assert_eq!(input, r#"{"path":"a.rs","limit":20}"#);
    let delta = &events[events.len() - 2].1;
    assert_eq!(
        (&delta["delta"]["stop_reason"], &delta["usage"]["output_tokens"]),
        (&json!("tool_use"), &json!(9))
    );
}

#[tokio::test]
async fn calls_come_whole() {
    let provider = StageProvider::start().await;
    let reply =
        ModelReply::thinking("Hm.").and_text("I look.").and_call("read_file", json!({"path": "a.rs"}));
    provider.on_any().reply(reply);
    let (_, answer) = post_json(&provider, PATH, &ask("hi", false)).await;
    assert_eq!(answer["stop_reason"], "tool_use");
    let kinds: Vec<_> =
        answer["content"].as_array().expect("a list").iter().map(|part| &part["type"]).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert_eq!(answer["content"][2]["input"], json!({"path": "a.rs"}));
}

#[tokio::test]
async fn streams_stop_for_other_reasons() {
    let cases = [
        (ModelReply::empty(), r#""stop_reason":"end_turn""#),
        (ModelReply::text("a").finish(FinishReason::Length), r#""stop_reason":"max_tokens""#),
        (ModelReply::text("a").finish(FinishReason::Refusal), r#""stop_reason":"refusal""#),
        (
            ModelReply::text("a").and_error(529, "Busy."),
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overl",
        ),
    ];
    for (reply, expected) in cases {
        let answer = stream(reply).await;
        assert!(answer.contains(expected), "{expected}: {answer}");
    }
}

#[tokio::test]
async fn what_is_said_beside_a_result_is_a_message_unless_it_is_a_note() {
    let cases = [
        ("<system-reminder>Mind the gap.</system-reminder>", "look", true),
        ("No, write it.", "No, write it.", false),
    ];
    for (text, last_user, is_after_result) in cases {
        let provider = StageProvider::start().await;
        let mut body = follow_up("call_7", false);
        let parts = body["messages"][2]["content"].as_array_mut().expect("a list");
        parts.push(json!({"type": "text", "text": text}));
        post_json(&provider, PATH, &body).await;
        let seen = &provider.requests()[0];
        assert_eq!((seen.last_user().as_str(), seen.is_after_tool_result()), (last_user, is_after_result));
        let last: Vec<_> = seen.messages().iter().map(|message| message.role).skip(3).collect();
        assert_eq!(last, [MessageRole::Tool, MessageRole::User]);
    }
}

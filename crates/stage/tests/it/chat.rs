//! `OpenAI` chat completions.

use nudge_stage::{FinishReason, ModelReply, StageProvider};
use serde_json::{Value, json};

use crate::{
    client::{events, post, post_json, read},
    dialogue::Dialogue,
};

const PATH: &str = "/v1/chat/completions";

const CHAT: Dialogue = Dialogue {
    path: |_| PATH,
    ask,
    follow_up,
    said,
    error: ("/error/message", "/error/type"),
    too_many: "rate_limit_error",
    call_id: "call_7",
};

#[tokio::test]
async fn speaks_chat_completions() {
    CHAT.check_all().await;
}

fn ask(text: &str, is_stream: bool) -> Value {
    let function = json!({"name": "read_file", "parameters": {"type": "object"}});
    json!({
        "model": "m", "stream": is_stream,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": text}]},
        ],
        "tools": [{"type": "function", "function": function}],
    })
}

fn follow_up(id: &str, is_stream: bool) -> Value {
    let mut body = ask("look", is_stream);
    let function = json!({"name": "read_file", "arguments": "{\"path\":\"a.rs\"}"});
    let call = json!({"id": id, "type": "function", "function": function});
    let messages = body["messages"].as_array_mut().expect("a list");
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": id, "content": "fn main"}));
    body
}

fn said(answer: &str, is_stream: bool) -> String {
    if !is_stream {
        let answer: Value = serde_json::from_str(answer).expect("the answer is JSON");
        return answer["choices"][0]["message"]["content"].as_str().expect("a text").to_owned();
    }
    deltas(answer).iter().filter_map(|delta| delta["content"].as_str()).collect()
}

fn deltas(stream: &str) -> Vec<Value> {
    events(stream).iter().map(|(_, data)| data["choices"][0]["delta"].clone()).collect()
}

async fn stream(reply: ModelReply, body: &Value) -> String {
    let provider = StageProvider::start().await;
    provider.on_any().reply(reply);
    let response = post(&provider, PATH, body).await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    read(response.into_body()).await.0
}

#[tokio::test]
async fn a_stream_begins_with_the_role_and_ends_with_a_reason() {
    let mut body = ask("hi", true);
    body["stream_options"] = json!({"include_usage": true});
    let events = events(&stream(ModelReply::text("a b").usage(20, 2), &body).await);
    let reasons: Vec<_> =
        events.iter().filter_map(|(_, data)| data["choices"][0]["finish_reason"].as_str()).collect();
    assert_eq!(events[0].1["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(reasons, ["stop"]);
    let [.., (_, usage), (_, done)] = &events[..] else { panic!("too few events") };
    assert_eq!((usage["choices"].clone(), usage["usage"]["total_tokens"].clone()), (json!([]), json!(22)));
    assert_eq!(done, "[DONE]");
}

#[tokio::test]
async fn calls_come_in_fragments() {
    let reply = ModelReply::thinking("Hm.")
        .and_text("I look.")
        .and_call("read_.*", json!({"path": "a.rs", "limit": 20}))
        .and_call("read_file", json!({}));
    let answer = stream(reply, &ask("hi", true)).await;
    assert!(answer.contains(r#""reasoning_content":"Hm.""#), "{answer}");
    assert_eq!(said(&answer, true), "I look.");
    let calls: Vec<_> = deltas(&answer).iter().map(|delta| delta["tool_calls"][0].clone()).collect();
    let of = |index: usize| calls.iter().filter(move |call| call["index"] == index);
    let arguments =
        |index| of(index).filter_map(|call| call["function"]["arguments"].as_str()).collect::<String>();
    assert_eq!(arguments(0), r#"{"path":"a.rs","limit":20}"#);
    assert_eq!(arguments(1), "{}");
    assert!(of(0).count() > 2, "{answer}");
    let begun: Vec<_> = calls.iter().filter(|call| call["id"].is_string()).collect();
    assert_eq!(
        begun.iter().map(|call| &call["function"]["name"]).collect::<Vec<_>>(),
        ["read_file", "read_file"]
    );
    assert_ne!(begun[0]["id"], begun[1]["id"]);
    assert!(answer.contains(r#""finish_reason":"tool_calls""#), "{answer}");
}

#[tokio::test]
async fn calls_come_whole() {
    let provider = StageProvider::start().await;
    provider.on_any().reply(ModelReply::call("read_file", json!({"path": "a.rs"})));
    let (_, answer) = post_json(&provider, PATH, &ask("hi", false)).await;
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], Value::Null);
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], r#"{"path":"a.rs"}"#);
}

#[tokio::test]
async fn streams_stop_for_other_reasons() {
    let cases = [
        (ModelReply::empty(), r#""finish_reason":"stop""#),
        (ModelReply::text("a").finish(FinishReason::Length), r#""finish_reason":"length""#),
        (ModelReply::text("a").finish(FinishReason::Refusal), r#""finish_reason":"content_filter""#),
        (ModelReply::text("a").and_error(500, "Broken."), r#"data: {"error":{"message":"Broken.""#),
    ];
    for (reply, expected) in cases {
        let answer = stream(reply, &ask("hi", true)).await;
        assert!(answer.contains(expected), "{expected}: {answer}");
    }
}

//! Ollama's own chat.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use nudge_stage::{FinishReason, ModelReply, OfferedModel, StageProvider};
use serde_json::{Value, json};

use crate::{
    client::{post, post_json, read, send},
    dialogue::Dialogue,
};

const PATH: &str = "/api/chat";

const OLLAMA: Dialogue = Dialogue {
    path: |_| PATH,
    ask,
    follow_up,
    said,
    error: ("/error", "/error"),
    too_many: "Too much.",
    call_id: "call_7",
};

#[tokio::test]
async fn speaks_chat() {
    OLLAMA.check_all().await;
}

fn ask(text: &str, is_stream: bool) -> Value {
    let function = json!({"name": "read_file", "parameters": {"type": "object"}});
    let mut body = json!({
        "model": "m", "tools": [{"type": "function", "function": function}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
    });
    // It streams unless told not to.
    if !is_stream {
        body["stream"] = json!(false);
    }
    body
}

fn follow_up(id: &str, is_stream: bool) -> Value {
    let mut body = ask("look", is_stream);
    let function = json!({"name": "read_file", "arguments": {"path": "a.rs"}});
    let messages = body["messages"].as_array_mut().expect("a list");
    messages
        .push(json!({"role": "assistant", "content": "", "tool_calls": [{"id": id, "function": function}]}));
    messages.push(json!({"role": "tool", "content": "fn main", "tool_call_id": id}));
    body
}

fn lines(answer: &str) -> Vec<Value> {
    answer.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn said(answer: &str, _: bool) -> String {
    lines(answer).iter().filter_map(|line| line["message"]["content"].as_str()).collect()
}

async fn stream(reply: ModelReply) -> Vec<Value> {
    let provider = StageProvider::start().await;
    provider.on_any().reply(reply);
    let response = post(&provider, PATH, &ask("hi", true)).await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    lines(&read(response.into_body()).await.0)
}

#[tokio::test]
async fn lines_come_in_order() {
    let reply = ModelReply::thinking("Hm.").and_text("a").and_call("read_file", json!({"path": "a.rs"}));
    let lines = stream(reply.usage(20, 9)).await;
    assert_eq!(lines[0]["message"]["thinking"], "Hm.");
    assert_eq!(lines[1]["message"]["content"], "a");
    let function = json!({"index": 0, "name": "read_file", "arguments": {"path": "a.rs"}});
    assert_eq!(lines[2]["message"]["tool_calls"], json!([{ "function": function }]));
    let last = &lines[3];
    assert_eq!((&last["done"], &last["done_reason"]), (&json!(true), &json!("stop")));
    assert_eq!((&last["prompt_eval_count"], &last["eval_count"]), (&json!(20), &json!(9)));
}

#[tokio::test]
async fn streams_stop_for_other_reasons() {
    let lines = stream(ModelReply::text("a").finish(FinishReason::Length)).await;
    assert_eq!(lines[1]["done_reason"], "length");
    let lines = stream(ModelReply::text("a").and_error(500, "It broke.")).await;
    assert_eq!(lines[1], json!({"error": "It broke."}));
}

#[tokio::test]
async fn models_are_listed_and_shown() {
    let provider = StageProvider::start().await;
    provider.offer([OfferedModel::new("a:1b").bytes(7), OfferedModel::new("b:2b").can(["vision"])]);
    let tags = Request::get("/api/tags").body(Full::<Bytes>::default()).expect("a request");
    let (text, _) = read(send(&provider, tags).await.expect("an answer").into_body()).await;
    let tags: Value = serde_json::from_str(&text).expect("the list is JSON");
    assert_eq!((&tags["models"][0]["name"], &tags["models"][0]["size"]), (&json!("a:1b"), &json!(7)));
    let (_, shown) = post_json(&provider, "/api/show", &json!({"model": "b:2b"})).await;
    assert_eq!(shown["capabilities"], json!(["completion", "vision"]));
    let (status, _) = post_json(&provider, "/api/show", &json!({"model": "c"})).await;
    assert_eq!(status, 404);
}

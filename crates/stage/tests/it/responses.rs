//! `OpenAI` responses.

use nudge_stage::{FinishReason, ModelReply, StageProvider};
use serde_json::{Value, json};

use crate::{
    client::{Event, events, names, post, post_json, read},
    dialogue::Dialogue,
};

const PATH: &str = "/v1/responses";

const RESPONSES: Dialogue = Dialogue {
    path: |_| PATH,
    ask,
    follow_up,
    said,
    error: ("/error/message", "/error/type"),
    too_many: "rate_limit_error",
    call_id: "call_7",
};

#[tokio::test]
async fn speaks_responses() {
    RESPONSES.check_all().await;
}

fn ask(text: &str, is_stream: bool) -> Value {
    let content = json!([{"type": "input_text", "text": text}]);
    let write = json!({"type": "function", "name": "write", "parameters": {"type": "object"}});
    json!({
        "model": "m", "stream": is_stream, "instructions": "Be brief.",
        "input": [{"type": "message", "role": "user", "content": content}],
        "tools": [
            {"type": "function", "name": "read_file", "parameters": {"type": "object"}},
            {"type": "custom", "name": "apply_patch", "format": {"type": "text"}},
            {"type": "namespace", "name": "mcp__notes__", "tools": [write]},
            {"type": "web_search"},
        ],
    })
}

fn follow_up(id: &str, is_stream: bool) -> Value {
    let mut body = ask("look", is_stream);
    let arguments = r#"{"path":"a.rs"}"#;
    let input = body["input"].as_array_mut().expect("a list");
    input.push(json!({"type": "reasoning", "id": "rs_1", "summary": []}));
    input.push(json!({"type": "function_call", "call_id": id, "name": "read_file", "arguments": arguments}));
    input.push(json!({"type": "function_call_output", "call_id": id, "output": "fn main"}));
    body
}

fn said(answer: &str, is_stream: bool) -> String {
    if !is_stream {
        let answer: Value = serde_json::from_str(answer).expect("the answer is JSON");
        return answer["output"][0]["content"][0]["text"].as_str().expect("a text").to_owned();
    }
    let events = events(answer);
    let deltas = events.iter().filter(|(name, _)| name.as_deref() == Some("response.output_text.delta"));
    deltas.filter_map(|(_, data)| data["delta"].as_str()).collect()
}

async fn stream(reply: ModelReply) -> Vec<Event> {
    let provider = StageProvider::start().await;
    provider.on_any().reply(reply);
    let response = post(&provider, PATH, &ask("hi", true)).await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let events = events(&read(response.into_body()).await.0);
    for (place, (name, data)) in events.iter().enumerate() {
        assert_eq!(data["sequence_number"], place);
        assert_eq!(name.as_deref(), data["type"].as_str());
    }
    events
}

#[tokio::test]
async fn events_of_a_text_come_in_order() {
    let events = stream(ModelReply::text("a b c").usage(20, 9)).await;
    assert_eq!(
        names(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let response = &events.last().expect("an end").1["response"];
    assert_eq!(response["output"][0]["content"][0]["text"], "a b c");
    assert_eq!((&response["status"], &response["usage"]["total_tokens"]), (&json!("completed"), &json!(29)));
}

#[tokio::test]
async fn events_of_thoughts_and_calls_come_in_order() {
    let arguments = json!({"path": "a.rs", "limit": 20});
    let events = stream(ModelReply::thinking("Hm.").and_call("read_file", arguments)).await;
    assert_eq!(
        names(&events)[2..],
        [
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let fragments =
        events.iter().filter(|(_, data)| data["type"] == "response.function_call_arguments.delta");
    let input: String = fragments.filter_map(|(_, data)| data["delta"].as_str()).collect();
    assert_eq!(input, r#"{"path":"a.rs","limit":20}"#);
    let done = &events[events.len() - 2].1;
    assert_eq!((&done["output_index"], &done["item"]["type"]), (&json!(1), &json!("function_call")));
    assert_eq!((&done["item"]["name"], &done["item"]["arguments"]), (&json!("read_file"), &json!(input)));
}

#[tokio::test]
async fn other_kinds_of_tools_are_called_their_way() {
    let patch = "*** Begin Patch";
    let cases = [
        (ModelReply::call("apply_patch", json!(patch)), "custom_tool_call", "input", patch, Value::Null),
        (ModelReply::call("write", json!({})), "function_call", "arguments", "{}", json!("mcp__notes__")),
        (
            ModelReply::call("mcp__notes__write", json!({})),
            "function_call",
            "arguments",
            "{}",
            json!("mcp__notes__"),
        ),
    ];
    for (reply, kind, member, input, namespace) in cases {
        let events = stream(reply.clone()).await;
        let provider = StageProvider::start().await;
        provider.on_any().reply(reply);
        let (_, whole) = post_json(&provider, PATH, &ask("hi", false)).await;
        for item in [&events.last().expect("an end").1["response"]["output"][0], &whole["output"][0]] {
            assert_eq!((&item["type"], &item[member]), (&json!(kind), &json!(input)));
            assert_eq!(item["namespace"], namespace);
        }
    }
}

#[tokio::test]
async fn streams_stop_for_other_reasons() {
    let cases = [
        (ModelReply::empty(), "response.completed", "/response/status", "completed"),
        (
            ModelReply::text("a").finish(FinishReason::Length),
            "response.incomplete",
            "/response/incomplete_details/reason",
            "max_output_tokens",
        ),
        (
            ModelReply::text("a").and_error(500, "Broken."),
            "response.failed",
            "/response/error/message",
            "Broken.",
        ),
    ];
    for (reply, name, place, expected) in cases {
        let events = stream(reply).await;
        let (last, data) = events.last().expect("an end");
        assert_eq!((last.as_deref(), data.pointer(place)), (Some(name), Some(&json!(expected))));
    }
}

#[tokio::test]
async fn reasoning_is_encrypted_for_who_wants_it() {
    for (include, expected) in
        [(json!([]), Value::Null), (json!(["reasoning.encrypted_content"]), json!("ZmFrZQ=="))]
    {
        let provider = StageProvider::start().await;
        provider.on_any().reply(ModelReply::thinking("Hm.").and_text("a"));
        let mut body = ask("hi", false);
        body["include"] = include;
        let (_, answer) = post_json(&provider, PATH, &body).await;
        assert_eq!(answer["output"][0]["encrypted_content"], expected);
    }
}

#[tokio::test]
async fn what_is_in_no_dialect_is_sent_as_it_is() {
    let provider = StageProvider::start().await;
    provider.on_any().reply(ModelReply::empty().and_raw("data: {oops").and_cut());
    let response = post(&provider, PATH, &ask("hi", true)).await.expect("an answer");
    let (text, is_complete) = read(response.into_body()).await;
    assert!(text.ends_with("data: {oops") && !is_complete, "{text}");
}

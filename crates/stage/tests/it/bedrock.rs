//! Converse of Amazon Bedrock.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use nudge_stage::{FinishReason, ModelReply, StageProvider};
use serde_json::{Value, json};

use crate::client::{post, post_json, read_bytes, send};

const STREAM: &str = "/model/a.b-v1%3A0/converse-stream";
const WHOLE: &str = "/model/a.b-v1%3A0/converse";

fn ask(text: &str) -> Value {
    let spec = json!({"name": "read_file", "inputSchema": {"json": {"type": "object"}}});
    json!({
        "system": [{"text": "Be brief."}], "messages": [{"role": "user", "content": [{ "text": text }]}],
        "toolConfig": {"tools": [{ "toolSpec": spec }]},
    })
}

/// The kinds and payloads of the messages of an event stream. The vendor's library checks their form, `crates/interop`.
fn messages(mut body: &[u8]) -> Vec<(String, Value)> {
    let mut messages = Vec::new();
    while !body.is_empty() {
        let number = |at: usize| {
            let bytes = body[at..at + 4].try_into().expect("four bytes");
            usize::try_from(u32::from_be_bytes(bytes)).expect("a short message")
        };
        let (length, headers) = (number(0), number(4));
        let kind = String::from_utf8_lossy(&body[12..12 + headers]).into_owned();
        let payload = serde_json::from_slice(&body[12 + headers..length - 4]).expect("a payload is JSON");
        messages.push((kind, payload));
        body = &body[length..];
    }
    messages
}

async fn stream(reply: ModelReply) -> Vec<(String, Value)> {
    let provider = StageProvider::start().await;
    provider.on_any().reply(reply);
    let response = post(&provider, STREAM, &ask("hi")).await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "application/vnd.amazon.eventstream");
    assert_eq!(provider.requests()[0].model(), "a.b-v1%3A0");
    messages(&read_bytes(response.into_body()).await)
}

#[tokio::test]
async fn messages_come_in_order() {
    let reply = ModelReply::thinking("Hm.").and_text("a").and_call("read_file", json!({"path": "a.rs"}));
    let messages = stream(reply.usage(20, 9)).await;
    let kinds = ["messageStart", "contentBlock", "messageStop", "metadata"];
    let kind = |text: &str| kinds.iter().find(|kind| text.contains(**kind)).copied();
    let mut seen: Vec<_> = messages.iter().filter_map(|(text, _)| kind(text)).collect();
    seen.dedup();
    assert_eq!(seen, kinds);
    let deltas: Vec<String> = messages.iter().map(|(_, data)| data["delta"].to_string()).collect();
    for expected in [
        r#"{"reasoningContent":{"text":"Hm."}}"#,
        r#"{"reasoningContent":{"signature":"ZmFrZQ=="}}"#,
        r#"{"text":"a"}"#,
        r#"{"toolUse":{"input":"{\"path\":\"a.r"}}"#,
    ] {
        assert!(deltas.iter().any(|delta| delta == expected), "{expected}: {deltas:?}");
    }
    let (_, last) = messages.last().expect("messages");
    assert_eq!(last["usage"]["totalTokens"], 29);
}

#[tokio::test]
async fn streams_stop_for_other_reasons() {
    for (reply, expected) in [
        (ModelReply::text("a"), "end_turn"),
        (ModelReply::call("read_file", json!({})), "tool_use"),
        (ModelReply::text("a").finish(FinishReason::Length), "max_tokens"),
        (ModelReply::text("a").finish(FinishReason::Refusal), "content_filtered"),
    ] {
        let messages = stream(reply).await;
        let (_, stop) = &messages[messages.len() - 2];
        assert_eq!(stop["stopReason"], expected);
    }
    let messages = stream(ModelReply::text("a").and_error(429, "Slow down.")).await;
    let (headers, error) = messages.last().expect("messages");
    assert!(headers.contains("throttlingException"), "{headers}");
    assert_eq!(error["message"], "Slow down.");
}

#[tokio::test]
async fn answers_come_whole_and_errors_with_their_type() {
    let provider = StageProvider::start().await;
    provider.on("busy").reply(ModelReply::error(429, "Slow down."));
    provider.on_any().reply(ModelReply::chunks(["I look."]).and_call("read_file", json!({"path": "a.rs"})));
    let (_, answer) = post_json(&provider, WHOLE, &ask("hi")).await;
    let call = json!({"toolUse": {"toolUseId": "call_0", "name": "read_file", "input": {"path": "a.rs"}}});
    assert_eq!(answer["output"]["message"]["content"], json!([{"text": "I look."}, call]));
    assert_eq!(answer["stopReason"], "tool_use");
    let (status, error) = post_json(&provider, WHOLE, &ask("busy")).await;
    assert_eq!((status.as_u16(), &error["__type"]), (429, &json!("ThrottlingException")));
}

#[tokio::test]
async fn results_belong_to_calls() {
    let provider = StageProvider::start().await;
    let mut body = ask("look");
    let call = json!({"toolUse": {"toolUseId": "c", "name": "read_file", "input": {}}});
    body["messages"].as_array_mut().expect("a list").push(json!({"role": "assistant", "content": [call]}));
    assert_eq!(post_json(&provider, WHOLE, &body).await.0, 400);
    let result =
        json!({"toolResult": {"toolUseId": "c", "content": [{"text": "fn main"}], "status": "error"}});
    let last = json!({"role": "user", "content": [result, {"text": "and now"}]});
    body["messages"].as_array_mut().expect("a list").push(last);
    assert_eq!(post_json(&provider, WHOLE, &body).await.0, 200);
    let seen = &provider.requests()[1];
    assert_eq!((seen.last_user().as_str(), seen.last_results()), ("and now", vec!["fn main"]));
    assert!(seen.messages().iter().flat_map(|message| &message.results).all(|result| result.is_error));
}

#[tokio::test]
async fn who_does_not_sign_is_refused() {
    let provider = StageProvider::start().await;
    provider.sign_with("secret");
    let signed = "AWS4-HMAC-SHA256 Credential=id/20150830/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00";
    for (authorization, status) in
        [(None, 403), (Some("Basic x"), 403), (Some(signed), 403), (Some("Bearer x"), 200)]
    {
        let mut request =
            Request::post(WHOLE).header("host", "localhost").header("x-amz-date", "20150830T123600Z");
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let request = request.body(Full::<Bytes>::from(ask("hi").to_string())).expect("a request");
        let response = send(&provider, request).await.expect("an answer");
        assert_eq!(response.status().as_u16(), status, "{authorization:?}");
    }
}

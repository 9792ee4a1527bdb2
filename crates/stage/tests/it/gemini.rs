//! Gemini `generateContent`.

use nudge_stage::{FinishReason, ModelReply, StageProvider};
use serde_json::{Value, json};

use crate::{
    client::{events, post, post_json, read},
    dialogue::Dialogue,
};

const WHOLE: &str = "/v1beta/models/m:generateContent";
const STREAM: &str = "/v1beta/models/m:streamGenerateContent?alt=sse&key=not-to-be-kept";
const ARRAY: &str = "/v1beta/models/m:streamGenerateContent";

const GEMINI: Dialogue = Dialogue {
    path: |is_stream| if is_stream { STREAM } else { WHOLE },
    ask,
    follow_up,
    said,
    error: ("/error/message", "/error/status"),
    too_many: "RESOURCE_EXHAUSTED",
    call_id: "read_file",
};

#[tokio::test]
async fn speaks_generate_content() {
    GEMINI.check_all().await;
}

fn ask(text: &str, _: bool) -> Value {
    json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": text}]}],
        "tools": [{"functionDeclarations": [{"name": "read_file", "parametersJsonSchema": {"type": "object"}}]}],
    })
}

fn follow_up(id: &str, is_stream: bool) -> Value {
    let mut body = ask("look", is_stream);
    let call = json!({"id": id, "name": "read_file", "args": {"path": "a.rs"}});
    let result = json!({"id": id, "name": "read_file", "response": {"output": "fn main"}});
    let contents = body["contents"].as_array_mut().expect("a list");
    contents.push(json!({"role": "model", "parts": [{"functionCall": call}]}));
    contents.push(json!({"role": "user", "parts": [{"functionResponse": result}]}));
    body
}

fn said(answer: &str, is_stream: bool) -> String {
    let responses = if is_stream {
        events(answer).into_iter().map(|(_, data)| data).collect()
    } else {
        vec![serde_json::from_str(answer).expect("the answer is JSON")]
    };
    texts(&responses)
}

fn texts(responses: &[Value]) -> String {
    let parts = responses
        .iter()
        .flat_map(|response| response["candidates"][0]["content"]["parts"].as_array().into_iter().flatten());
    parts.filter_map(|part| part["text"].as_str()).collect()
}

async fn stream(path: &str, reply: ModelReply) -> String {
    let provider = StageProvider::start().await;
    provider.on_any().reply(reply);
    let response = post(&provider, path, &ask("hi", true)).await.expect("an answer");
    let kind = if path == ARRAY { "application/json" } else { "text/event-stream" };
    assert_eq!(response.headers()["content-type"], kind);
    assert!(!format!("{provider:?}").contains("not-to-be-kept"));
    read(response.into_body()).await.0
}

#[tokio::test]
async fn a_stream_ends_with_a_reason() {
    let reply = ModelReply::thinking("Hm.").and_call("read_file", json!({"path": "a.rs"})).usage(20, 9);
    let events: Vec<_> = events(&stream(STREAM, reply).await).into_iter().map(|(_, data)| data).collect();
    let reasons: Vec<_> = events.iter().map(|data| data["candidates"][0]["finishReason"].as_str()).collect();
    assert_eq!(reasons, [None, None, Some("STOP")]);
    let part = |index: usize| &events[index]["candidates"][0]["content"]["parts"][0];
    assert_eq!(part(0), &json!({"text": "Hm.", "thought": true}));
    assert_eq!(part(1)["functionCall"]["args"], json!({"path": "a.rs"}));
    assert_eq!(events[2]["usageMetadata"]["totalTokenCount"], 29);
}

#[tokio::test]
async fn a_stream_without_events_is_an_array() {
    for (reply, expected) in [(ModelReply::text("a b c"), "a b c"), (ModelReply::empty(), "")] {
        let answer = stream(ARRAY, reply).await;
        let responses: Vec<Value> = serde_json::from_str(&answer).expect("the stream is one array");
        assert_eq!(texts(&responses), expected);
    }
}

#[tokio::test]
async fn calls_come_whole() {
    let provider = StageProvider::start().await;
    provider.on_any().reply(ModelReply::text("I look.").and_call("read_file", json!({"path": "a.rs"})));
    let (_, answer) = post_json(&provider, WHOLE, &ask("hi", false)).await;
    let parts = &answer["candidates"][0]["content"]["parts"];
    assert_eq!(
        (&parts[0]["text"], &parts[1]["functionCall"]["name"]),
        (&json!("I look."), &json!("read_file"))
    );
}

#[tokio::test]
async fn thoughts_are_signed_and_the_third_generation_wants_that_back() {
    let signed = |answer: &str| {
        let parts =
            events(answer).into_iter().map(|(_, data)| data["candidates"][0]["content"]["parts"][0].clone());
        parts.filter(|part| part["thoughtSignature"] == "ZmFrZQ==").collect::<Vec<_>>()
    };
    let call = || ModelReply::call("read_file", json!({}));
    let thinking = ModelReply::thinking("Hm.");
    let reply = thinking.clone().and_call("read_file", json!({})).and_call("read_file", json!({}));
    let parts = signed(&stream(STREAM, reply).await);
    assert!(matches!(&parts[..], [part] if part["functionCall"]["name"] == "read_file"), "{parts:?}");
    let parts = signed(&stream(STREAM, thinking.and_text("So.")).await);
    assert!(matches!(&parts[..], [part] if part["text"] == ""), "{parts:?}");
    assert_eq!(signed(&stream(STREAM, call()).await), Vec::<Value>::new());
    let provider = StageProvider::start().await;
    for (model, signature, status) in [
        ("gemini-2.5-pro", None, 200),
        ("gemini-3-pro", None, 400),
        ("gemini-3-pro", Some("another"), 400),
        ("gemini-3-pro", Some("ZmFrZQ=="), 200),
        ("gemini-3-pro", Some("skip_thought_signature_validator"), 200),
    ] {
        let mut body = follow_up("c", false);
        if let Some(signature) = signature {
            body["contents"][1]["parts"][0]["thoughtSignature"] = json!(signature);
        }
        let path = format!("/v1beta/models/{model}:generateContent");
        let (answered, body) = post_json(&provider, &path, &body).await;
        assert_eq!(answered, status, "{model} {signature:?} {body}");
    }
}

#[tokio::test]
async fn streams_stop_for_other_reasons() {
    let cases = [
        (ModelReply::empty(), r#""finishReason":"STOP""#),
        (ModelReply::text("a").finish(FinishReason::Length), r#""finishReason":"MAX_TOKENS""#),
        (ModelReply::text("a").finish(FinishReason::Refusal), r#""finishReason":"SAFETY""#),
        (ModelReply::text("a").and_error(503, "Busy."), r#""status":"UNAVAILABLE""#),
    ];
    for (reply, expected) in cases {
        let answer = stream(STREAM, reply).await;
        assert!(answer.contains(expected), "{expected}: {answer}");
    }
}

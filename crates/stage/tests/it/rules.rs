//! Which rule is taken, what is kept of a request, and what is answered beside the models.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode};
use nudge_stage::{ExchangeOutcome, ModelReply, SeenHeader, StageProvider};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::client::{post, post_json, read, send};

const PATH: &str = "/openai/v1/chat/completions";

fn body(user: &[&str], tools: &[&str]) -> Value {
    let messages: Vec<_> = user.iter().map(|text| json!({"role": "user", "content": text})).collect();
    let tools: Vec<_> =
        tools.iter().map(|name| json!({"type": "function", "function": {"name": name}})).collect();
    json!({"model": "m", "messages": messages, "tools": tools})
}

/// The text of the answer, or the name of the tool that it calls and its arguments.
async fn answer(provider: &StageProvider, body: &Value) -> String {
    let (status, answer) = post_json(provider, PATH, body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let message = &answer["choices"][0]["message"];
    let function = &message["tool_calls"][0]["function"];
    match message["content"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{}{}", function["name"].as_str().unwrap(), function["arguments"].as_str().unwrap()),
    }
}

#[tokio::test]
async fn the_first_rule_that_fits_answers() {
    let provider = StageProvider::start().await;
    provider.on("title").without_tools().reply(ModelReply::text("A title"));
    provider.on("early").anywhere().reply(ModelReply::text("Seen before"));
    provider.on("twice").times(2).reply(ModelReply::text("Counted"));
    provider.on("list").reply(
        ModelReply::call("ls|list_.*", json!({"path": "."})).or_call("Bash", json!({"command": "ls"})),
    );
    provider.on_any().when(|seen| seen.has_tool("odd")).with_tools().reply(ModelReply::text("Odd"));
    provider.on("who").reply_with(|seen| ModelReply::text(format!("You are {}.", seen.model())));
    let rest = "All right.";
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&["a title, please"], &[], "A title"),
        (&["a title, please"], &["ls"], rest),
        (&["title", "and now this"], &[], rest),
        (&["early", "and now this"], &[], "Seen before"),
        (&["twice"], &[], "Counted"),
        (&["twice"], &[], "Counted"),
        (&["twice"], &[], rest),
        (&["list it"], &["Read", "list_files"], r#"list_files{"path":"."}"#),
        (&["list it"], &["Read", "Bash"], r#"Bash{"command":"ls"}"#),
        (&["list it"], &["Bash", "ls"], r#"ls{"path":"."}"#),
        (&["list it"], &["Basher"], rest),
        (&["list it"], &[], rest),
        (&["whatever"], &["odd"], "Odd"),
        (&["who am I"], &[], "You are m."),
    ];
    for (user, tools, expected) in cases {
        assert_eq!(&answer(&provider, &body(user, tools)).await, expected, "{user:?} {tools:?}");
    }
    let rules: Vec<_> = provider.requests().into_iter().map(|seen| seen.rule).collect();
    assert_eq!(rules[..2], [Some("title".to_owned()), None]);
    provider.otherwise(ModelReply::text("Pardon?"));
    assert_eq!(answer(&provider, &body(&["list it"], &[])).await, "Pardon?");
}

#[tokio::test]
async fn an_answer_that_has_to_be_json_is_json() {
    let provider = StageProvider::start().await;
    let mut body = body(&["hi"], &[]);
    let properties =
        json!({"title": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "tags": {"type": "array"}});
    let schema = json!({"type": "object", "properties": properties});
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    assert_eq!(answer(&provider, &body).await, r#"{"title":"ok","kind":"a","tags":[]}"#);
    body["response_format"] = json!({"type": "text"});
    assert_eq!(answer(&provider, &body).await, "You said: hi");
}

#[tokio::test]
async fn notes_of_agents_are_not_what_the_user_said() {
    let cases: &[(&[&str], &str)] = &[
        (&["<session_context>\nToday\n</session_context>\nhi"], "hi"),
        (&["hi", "<environment_context><cwd>.</cwd></environment_context>"], "hi"),
        (&["a <system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>"], "a b"),
        (&["hi", "<system-reminder>has no end"], "<system-reminder>has no end"),
        (&[], ""),
    ];
    let provider = StageProvider::start().await;
    for (user, expected) in cases {
        assert_eq!(answer(&provider, &body(user, &[])).await, format!("You said: {expected}"));
    }
}

#[tokio::test]
async fn chunks_take_their_time() {
    let provider = StageProvider::start().await;
    provider.on_any().reply(ModelReply::chunks(["a", "b", "c"]).every(Duration::from_millis(20)));
    for is_stream in [false, true] {
        let mut body = body(&["hi"], &[]);
        body["stream"] = json!(is_stream);
        let began = Instant::now();
        read(post(&provider, PATH, &body).await.expect("an answer").into_body()).await;
        assert!(began.elapsed() >= Duration::from_millis(40));
    }
}

#[tokio::test]
async fn secrets_are_not_kept() {
    let provider = StageProvider::start().await;
    answer(&provider, &body(&["hi"], &[])).await;
    let seen =
        provider.wait_for(|seen| seen.outcome == ExchangeOutcome::Answered, Duration::from_secs(9)).await;
    assert_eq!(seen.headers["authorization"], SeenHeader::Present);
    assert_eq!(seen.headers["user-agent"], SeenHeader::Value("test".to_owned()));
    assert!(seen.has_header("authorization") && !seen.has_header("x-api-key"));
    assert!(!format!("{seen:?}").contains("not-to-be-kept"));
    assert_eq!(seen.path, PATH);
}

#[tokio::test]
#[should_panic(expected = "last user \"hello\"")]
async fn what_does_not_come_is_told_with_what_came() {
    let provider = StageProvider::start().await;
    answer(&provider, &body(&["hello"], &[])).await;
    provider.wait_for(|seen| seen.last_user() == "bye", Duration::ZERO).await;
}

#[tokio::test]
async fn side_requests_are_answered_and_kept_apart() {
    let provider = StageProvider::start().await;
    let cases = [
        ("HEAD", "/", 200, ""),
        ("GET", "/v1/models", 200, r#""id":"fake-model""#),
        ("GET", "/v1beta/models/m", 200, r#""name":"models/m""#),
        ("POST", "/v1/messages/count_tokens", 200, r#"{"input_tokens":10}"#),
        ("POST", "/v1beta/models/m:countTokens", 200, r#"{"totalTokens":10}"#),
        ("POST", "/api/event_logging/batch", 200, "{}"),
    ];
    for (method, path, status, expected) in cases {
        let request = Request::builder().method(method).uri(path).body(Full::from("{}")).expect("a request");
        let response = send(&provider, request).await.expect("an answer");
        assert_eq!(response.status(), status);
        let (text, _) = read(response.into_body()).await;
        assert!(text.contains(expected), "{path}: {text}");
    }
    let socket = Request::get("/v1/responses").header("upgrade", "websocket").body(Full::<Bytes>::default());
    let response = send(&provider, socket.expect("a request")).await.expect("an answer");
    assert_eq!(response.status(), StatusCode::UPGRADE_REQUIRED);
    assert!(provider.requests().is_empty());
    assert_eq!(provider.asides()[..2], ["HEAD /", "GET /v1/models"]);
}

#[tokio::test]
async fn what_is_no_json_is_refused() {
    let provider = StageProvider::start().await;
    let request = Request::post(PATH).body(Full::from("{")).expect("a request");
    let response = send(&provider, request).await.expect("an answer");
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(provider.requests()[0].body, Value::Null);
}

#[test]
fn a_dropped_provider_is_gone() {
    let provider = StageProvider::start_blocking();
    let address = provider.address();
    drop(provider);
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[tokio::test]
async fn a_tool_that_nobody_offers_can_be_called() {
    let provider = StageProvider::start().await;
    let call = |reply: ModelReply, name| reply.and_call_as("same", name, json!({"path": 7}));
    provider.on("twice").reply(call(call(ModelReply::empty(), "ls"), "never"));
    let (status, answer) = post_json(&provider, PATH, &body(&["twice"], &["ls"])).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let calls = answer["choices"][0]["message"]["tool_calls"].as_array().unwrap();
    let said = |call: &Value| (call["id"].clone(), call["function"]["name"].clone());
    assert_eq!(
        calls.iter().map(said).collect::<Vec<_>>(),
        [(json!("same"), json!("ls")), (json!("same"), json!("never"))]
    );
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn it_goes_away_and_comes_back() {
    let mut provider = StageProvider::start().await;
    assert_eq!(answer(&provider, &body(&["before"], &[])).await, "You said: before");
    provider.on("stay").reply(ModelReply::stall("Half ", "never"));
    let stays = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "stay"}]});
    let under_way = post(&provider, PATH, &stays).await.expect("it is there");
    provider.gate("never").reached().await;
    for _ in 0..2 {
        provider.vanish().expect("it keeps its address");
        assert!(TcpStream::connect(provider.address()).await.is_err(), "nobody is to be there");
    }
    let (_, is_complete) = read(under_way.into_body()).await;
    assert!(!is_complete, "what was under way breaks off");
    for _ in 0..2 {
        provider.come_back().expect("its address is its own");
        assert_eq!(answer(&provider, &body(&["after"], &[])).await, "All right.");
    }
    assert_eq!(provider.requests().len(), 4, "what came before it went away is kept");
}

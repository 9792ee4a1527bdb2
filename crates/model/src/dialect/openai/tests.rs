//! What is sent and how answers are read.

use serde_json::{Value, json};

use super::OpenAiDialect;
use crate::{
    AnswerOptions, ThinkingLevel,
    dialect::{
        ApiDialect, ProviderFault,
        sample::{self, check_any_bytes, events, everything, told},
    },
};

fn own() -> Value {
    json!({"reasoning_content": "Hm."})
}

#[test]
fn everything_is_sent() {
    let mut request = everything(&OpenAiDialect, &own());
    let sent = OpenAiDialect.chat("m", &request);
    assert_eq!((sent.path.as_str(), sent.headers.len()), ("/chat/completions", 0));
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = |name: &str| {
        let function = json!({"name": name, "description": format!("Does {name}."), "parameters": schema});
        json!({"type": "function", "function": function})
    };
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls = [call("c1", "read", r#"{"path":"a.rs"}"#), call("c1_2", "no_such_tool", "{}")];
    let expected = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true}, "reasoning_effort": "low",
        "tools": [tool("read"), tool("write")],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aW1n"}},
                {"type": "input_audio", "input_audio": {"data": "c25k", "format": "wav"}},
                {"type": "text", "text": "at it."},
            ]},
            {"role": "assistant", "content": "I look.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "fn main"},
            {"role": "tool", "tool_call_id": "c1_2", "content": "There is none."},
            {"role": "user", "content": "Hurry."},
        ],
    });
    let body: Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(body, expected);

    // While tools are run what was thought goes back.
    request.messages.pop();
    let body = sample::sent(&OpenAiDialect, "m", &request);
    let answer =
        json!({"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": calls});
    assert_eq!(body["messages"][2], answer);
    request.options = AnswerOptions { must_call: true, without_reasoning: true, ..request.options };
    let body = sample::sent(&OpenAiDialect, "m", &request);
    assert_eq!((&body["tool_choice"], &body["reasoning_effort"]), (&json!("required"), &Value::Null));
    assert_eq!(body["messages"][2]["reasoning_content"], Value::Null);
}

#[test]
fn a_level_is_told_as_the_model_takes_it() {
    let told =
        |model: &str, thinking| super::effort(model, &AnswerOptions { thinking, ..AnswerOptions::default() });
    assert_eq!(told("gpt-5", None), None);
    assert_eq!(told("m", Some(ThinkingLevel::High)), Some("high"));
    for (model, expected) in [
        ("gpt-5", "minimal"),
        ("openai/gpt-5-mini", "minimal"),
        ("gpt-5-codex", "low"),
        ("gpt-5.2", "none"),
        ("o3-mini", "low"),
        ("openai/gpt-oss-20b", "low"),
        ("olmo", "none"),
    ] {
        assert_eq!(told(model, Some(ThinkingLevel::Off)), Some(expected), "{model}");
    }
}

fn chunk(delta: &Value) -> Value {
    json!({"id": "chat-1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn calls(calls: &Value) -> Value {
    chunk(&json!({"tool_calls": calls}))
}

fn finish(reason: &str) -> Value {
    json!({"id": "chat-1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    let usage = json!({
        "prompt_tokens": 30, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 2},
    });
    json!({"id": "chat-1", "choices": [], "usage": usage})
}

/// An answer with everything in it, without its end.
fn answer() -> Vec<Value> {
    vec![
        chunk(&json!({"role": "assistant", "content": "", "refusal": null})),
        chunk(&json!({"reasoning_content": "Hm, "})),
        chunk(&json!({"reasoning_content": "hé."})),
        chunk(&json!({"content": "I "})),
        chunk(&json!({"content": "look."})),
        calls(
            &json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": ""}}]),
        ),
        calls(
            &json!([{"index": 1, "id": "b", "type": "function", "function": {"name": "list", "arguments": ""}}]),
        ),
        calls(&json!([{"index": 0, "function": {"arguments": "{\"path\": "}}])),
        calls(
            &json!([{"index": 1, "function": {"arguments": "{}"}}, {"index": 0, "function": {"arguments": "1}"}}]),
        ),
    ]
}

const READ: &str = r#"(Hm, )(hé.)<openai/m {"reasoning_content":"Hm, hé."}>I look."#;
const CALLED: &str = r#"[a read {"path": 1}][b list {}]"#;

#[test]
fn an_answer_is_read_however_it_is_cut() {
    for (reason, stop) in [
        ("stop", "EndTurn"),
        ("tool_calls", "EndTurn"),
        ("function_call", "EndTurn"),
        ("length", "MaxTokens"),
        ("content_filter", "Refusal"),
    ] {
        let mut all = answer();
        all.push(finish(reason));
        let expected = |usage: &str| format!("{READ}{CALLED}{usage} {stop}");
        // Not all who end their answer say that they are done.
        assert_eq!(told(&OpenAiDialect, &events(&all)), expected(""));
        all.push(usage());
        let body = events(&all) + "data: [DONE]\n\ndata: {\"choices\":[]}\n\n";
        assert_eq!(told(&OpenAiDialect, &body), expected("{30 7 20 0 2}"));
    }
    let done = events(&answer()) + "data: [DONE]";
    assert_eq!(told(&OpenAiDialect, &done), format!("{READ}{CALLED} EndTurn"));
}

#[test]
fn half_an_answer_is_cut_off() {
    for end in 0..9 {
        let half = sample::read(&OpenAiDialect, &[events(&answer()[..end]).as_bytes()]);
        assert!(half.ends_with("!CutOff") && !half.contains('['), "{half}");
    }
}

#[test]
fn servers_stream_calls_in_their_own_way() {
    let function = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let whole = json!({"function": function("x", json!({"a": 1}))});
    for (chunks, expected) in [
        // Neither index nor id, and the arguments as an object.
        (vec![calls(&json!([whole, whole]))], r#"[chat-1_0 x {"a":1}][chat-1_1 x {"a":1}]"#),
        (vec![calls(&json!([whole])), calls(&json!([whole]))], r#"[chat-1_0 x {"a":1}][chat-1_1 x {"a":1}]"#),
        // No index, in fragments.
        (
            vec![
                calls(&json!([{"id": "a", "function": function("x", json!("{"))}])),
                calls(&json!([{"function": {"arguments": "}"}}])),
                calls(&json!([{"id": "b", "function": function("y", json!(""))}])),
            ],
            "[a x {}][b y {}]",
        ),
        // The same index for two.
        (
            vec![
                calls(&json!([{"index": 0, "id": "a", "function": function("x", json!("{}"))}])),
                calls(&json!([{"index": 0, "id": "b", "function": function("y", json!("{}"))}])),
            ],
            "[a x {}][b y {}]",
        ),
        // Id and name with every fragment.
        (
            vec![
                calls(&json!([{"index": 0, "id": "a", "function": function("x", json!("{"))}])),
                calls(&json!([{"index": 0, "id": "a", "function": function("x", json!("}"))}])),
            ],
            "[a x {}]",
        ),
        (vec![chunk(&json!({"function_call": function("x", json!("{}"))}))], "[chat-1_0 x {}]"),
        (
            vec![calls(&json!([{"index": 0, "id": "a", "function": function("x", json!("{\"a"))}]))],
            r#"[a x "{\"a"]"#,
        ),
    ] {
        let all: Vec<Value> = chunks.into_iter().chain([finish("tool_calls")]).collect();
        assert_eq!(told(&OpenAiDialect, &events(&all)), format!("{expected} EndTurn"));
    }
    let half = calls(&json!([{"index": 0, "id": "a", "function": function("x", json!("{\"a"))}]));
    assert_eq!(told(&OpenAiDialect, &events(&[half, finish("length")])), " MaxTokens");
}

#[test]
fn servers_say_things_in_their_own_way() {
    let parts = json!([{"type": "thinking", "thinking": [{"text": "Hm."}]}, {"type": "text", "text": "a"}]);
    for (delta, expected) in [
        (json!({"reasoning": "Hm."}), "(Hm.) EndTurn"),
        (json!({"content": parts}), "(Hm.)a EndTurn"),
        (json!({"refusal": "No."}), "No. Refusal"),
        (json!({"content": null, "reasoning_content": null, "tool_calls": null}), " EndTurn"),
    ] {
        assert_eq!(told(&OpenAiDialect, &events(&[chunk(&delta), finish("stop")])), expected);
    }
}

#[test]
fn an_answer_may_come_at_once() {
    let calls = json!([{"id": "a", "function": {"name": "x", "arguments": "{}"}}]);
    let message = json!({"role": "assistant", "content": "a", "tool_calls": calls});
    let whole = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    assert_eq!(told(&OpenAiDialect, &events(&[whole])), "a[a x {}] EndTurn");
}

#[test]
fn errors_come_in_the_middle() {
    for (error, expected) in [
        (json!({"message": "Secret.", "type": "server_error"}), "Failed"),
        (json!({"message": "Secret.", "code": 429}), "RateLimited"),
        (json!({"message": "Secret.", "code": "rate_limit_exceeded"}), "RateLimited"),
        (json!({"message": "Secret.", "code": "insufficient_quota"}), "Quota"),
        (json!({"message": "This model's maximum context length is 7."}), "ContextOverflow"),
        (json!("broken"), "Failed"),
    ] {
        let all = [chunk(&json!({"content": "a"})), json!({"error": error})];
        assert_eq!(told(&OpenAiDialect, &events(&all)), format!("a !{expected}"));
    }
    assert_eq!(told(&OpenAiDialect, "data: {\n\n"), r#" !Malformed("events of JSON")"#);
    assert_eq!(told(&OpenAiDialect, "<html>\n\nGo away\n\n"), " !CutOff");
}

#[test]
fn any_bytes_are_read() {
    let mut all = answer();
    all.extend([finish("length"), usage()]);
    check_any_bytes(&OpenAiDialect, &events(&all));
}

#[test]
fn too_many_calls_are_given_up() {
    let open =
        |index| calls(&json!([{"index": index, "id": format!("c{index}"), "function": {"name": "x"}}]));
    let all: Vec<Value> = (0..1000).map(open).collect();
    let read = sample::read(&OpenAiDialect, &[events(&all).as_bytes()]);
    assert!(read.contains("!Malformed"), "{read}");
    let long = calls(&json!([{"index": 0, "function": {"arguments": "x".repeat(1024 * 1024)}}]));
    let read = sample::read(&OpenAiDialect, &[events(&vec![long; 20]).as_bytes()]);
    assert!(read.contains("!Malformed"), "{read}");
}

#[test]
fn faults_are_told_apart() {
    let fault = |status: u16, code: &str, message: &str| {
        let body =
            json!({"error": {"message": message, "type": "x", "param": null, "code": code}}).to_string();
        OpenAiDialect.fault(status, body.as_bytes())
    };
    let reasoning = "Unsupported value: 'reasoning_effort' does not support 'none' with this model.";
    for (status, code, message, expected) in [
        (401, "invalid_api_key", "Incorrect API key provided: sk-1", ProviderFault::Auth),
        (403, "", "Country not supported", ProviderFault::Auth),
        (403, "model_not_found", "Project has no access to model", ProviderFault::UnknownModel),
        (404, "model_not_found", "The model `x` does not exist", ProviderFault::UnknownModel),
        (400, "", "x is not a valid model ID", ProviderFault::UnknownModel),
        (400, "context_length_exceeded", "Too long.", ProviderFault::ContextOverflow),
        (400, "", "This model's maximum context length is 8192 tokens.", ProviderFault::ContextOverflow),
        (400, "", "the request exceeds the available context size", ProviderFault::ContextOverflow),
        (
            429,
            "rate_limit_exceeded",
            "Request too large for gpt-x on tokens per min",
            ProviderFault::ContextOverflow,
        ),
        (413, "", "Please reduce the length of the messages or completion.", ProviderFault::ContextOverflow),
        (429, "insufficient_quota", "You exceeded your current quota", ProviderFault::Quota),
        (402, "", "Insufficient Balance", ProviderFault::Quota),
        (429, "rate_limit_exceeded", "Rate limit reached", ProviderFault::RateLimited),
        (500, "server_error", "Oh.", ProviderFault::Failed),
        (503, "", "The model is overloaded", ProviderFault::Failed),
        (408, "", "", ProviderFault::Failed),
        (400, "unsupported_value", reasoning, ProviderFault::Reasoning),
        (400, "invalid_encrypted_content", "It could not be verified.", ProviderFault::Reasoning),
        (404, "", "Item 'rs_1' not found. Items are not persisted.", ProviderFault::Reasoning),
        (404, "", "Not here.", ProviderFault::Rejected("there is no such API at its address")),
        (400, "", "Invalid image.", ProviderFault::Rejected("it takes no image of this kind")),
        (422, "", "Oh.", ProviderFault::Rejected("it says that the request is not valid")),
    ] {
        assert_eq!(fault(status, code, message), expected, "{status} {message}");
    }
    for (body, expected) in [
        (&br#"{"detail": "model not found"}"#[..], ProviderFault::UnknownModel),
        (br#"{"error": "model 'x' not found"}"#, ProviderFault::UnknownModel),
        (br#"{"message": "no such model"}"#, ProviderFault::UnknownModel),
        (b"model not found", ProviderFault::UnknownModel),
        (b"\xff\xfe", ProviderFault::Rejected("there is no such API at its address")),
    ] {
        assert_eq!(OpenAiDialect.fault(404, body), expected);
    }
}

//! What is sent and how answers are read.

use serde_json::{Value, json};

use super::AnthropicDialect;
use crate::{
    AnswerOptions,
    dialect::{
        ApiDialect, ProviderFault,
        sample::{self, check_any_bytes, events, everything, told},
    },
};

fn own() -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": "sig"})
}

fn result(id: &str, output: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": output})
}

#[test]
fn everything_is_sent() {
    let request = everything(&AnthropicDialect, &own());
    let sent = AnthropicDialect.chat("m", &request);
    assert_eq!(sent.path, "/v1/messages");
    assert_eq!(sent.headers, [("anthropic-version", "2023-06-01".to_owned())]);
    let kept = json!({"type": "ephemeral"});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let expected = json!({
        "model": "m", "max_tokens": 8192, "stream": true,
        "thinking": {"type": "enabled", "budget_tokens": 4096},
        "tools": [
            {"name": "read", "description": "Does read.", "input_schema": schema},
            {"name": "write", "description": "Does write.", "input_schema": schema, "cache_control": kept},
        ],
        "system": [{"type": "text", "text": "Be brief.", "cache_control": kept}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aW1n"}},
                {"type": "text", "text": "[a sound, which this model cannot hear]"},
                {"type": "text", "text": "at it.", "cache_control": kept},
            ]},
            {"role": "assistant", "content": [
                own(),
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.rs"}},
                {"type": "tool_use", "id": "c1_2", "name": "no_such_tool", "input": {}},
            ]},
            {"role": "user", "content": [
                result("c1", "fn main"),
                {"type": "tool_result", "tool_use_id": "c1_2", "content": "There is none.", "is_error": true},
                {"type": "text", "text": "Hurry.", "cache_control": kept},
            ]},
        ],
    });
    let body: Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(body, expected);
}

#[test]
fn without_reasoning_nothing_is_said_of_it() {
    let mut request = everything(&AnthropicDialect, &own());
    request.options.without_reasoning = true;
    let body = sample::sent(&AnthropicDialect, "m", &request);
    assert_eq!(body["thinking"], Value::Null);
    assert_eq!(body["messages"][1]["content"][0]["type"], "text");
    // Another model cannot read it either, and has then called tools without having thought.
    request.options.without_reasoning = false;
    let body = sample::sent(&AnthropicDialect, "n", &request);
    assert_eq!(body["thinking"], Value::Null);
    assert_eq!(body["messages"][1]["content"][0]["type"], "text");
}

#[test]
fn a_call_can_be_demanded() {
    let mut request = everything(&AnthropicDialect, &own());
    request.options = AnswerOptions { must_call: true, ..request.options };
    let body = sample::sent(&AnthropicDialect, "m", &request);
    assert_eq!((&body["tool_choice"], &body["thinking"]), (&json!({"type": "any"}), &Value::Null));
    let body = sample::sent(&AnthropicDialect, "claude-opus-5-5", &request);
    assert_eq!(body["tool_choice"], Value::Null);
    assert_eq!(body["output_config"], json!({"effort": "low"}));
    request.tools.clear();
    let body = sample::sent(&AnthropicDialect, "m", &request);
    assert_eq!((&body["tool_choice"], &body["tools"]), (&Value::Null, &Value::Null));
}

fn start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn input(index: u64, json: &str) -> Value {
    delta(index, &json!({"type": "input_json_delta", "partial_json": json}))
}

/// An answer with everything in it, and how it ends.
fn answer(reason: &str) -> Vec<Value> {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1});
    vec![
        json!({"type": "message_start", "message": {"id": "msg", "content": [], "usage": usage}}),
        start(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Hm, "})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "hé."})),
        delta(0, &json!({"type": "signature_delta", "signature": "s1"})),
        delta(0, &json!({"type": "signature_delta", "signature": "s2"})),
        stop(0),
        start(1, &json!({"type": "redacted_thinking", "data": "xyz"})),
        stop(1),
        start(2, &json!({"type": "text", "text": ""})),
        delta(2, &json!({"type": "text_delta", "text": "I "})),
        delta(2, &json!({"type": "text_delta", "text": "look."})),
        stop(2),
        start(3, &json!({"type": "tool_use", "id": "t1", "name": "read", "input": {}})),
        start(4, &json!({"type": "tool_use", "id": "t2", "name": "list", "input": {}})),
        input(3, ""),
        input(3, "{\"path\": "),
        input(4, ""),
        stop(4),
        input(3, "\"a.rs\"}"),
        stop(3),
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
        json!({"type": "content_block_start", "index": 9, "content_block": {"type": "text", "text": "late"}}),
    ]
}

const READ: &str = concat!(
    "{123 1 100 20 0}(Hm, )(hé.)",
    r#"<anthropic/m {"type":"thinking","thinking":"Hm, hé.","signature":"s1s2"}>"#,
    r#"<anthropic/m {"type":"redacted_thinking","data":"xyz"}>"#,
    r#"I look.[t2 list {}][t1 read {"path": "a.rs"}]"#,
);

#[test]
fn an_answer_is_read_however_it_is_cut() {
    for (reason, stop) in [
        ("tool_use", "EndTurn"),
        ("end_turn", "EndTurn"),
        ("pause_turn", "EndTurn"),
        ("max_tokens", "MaxTokens"),
        ("model_context_window_exceeded", "MaxTokens"),
        ("refusal", "Refusal"),
    ] {
        let expected = format!("{READ}{{123 9 100 20 0}} {stop}");
        assert_eq!(told(&AnthropicDialect, &events(&answer(reason))), expected);
    }
    let without_stop = &answer("end_turn")[..23];
    assert_eq!(told(&AnthropicDialect, &events(without_stop)), format!("{READ}{{123 9 100 20 0}} EndTurn"));
}

#[test]
fn half_an_answer_is_cut_off() {
    let all = answer("tool_use");
    for end in 0..22 {
        let half = sample::read(&AnthropicDialect, &[events(&all[..end]).as_bytes()]);
        assert!(half.ends_with("!CutOff"), "{half}");
        assert_eq!(half.contains("[t1"), end == 22, "{half}");
    }
}

#[test]
fn calls_that_cannot_be_read() {
    let usage = |reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}});
    let tool = start(0, &json!({"type": "tool_use", "id": "t", "name": "x", "input": {}}));
    let given = start(0, &json!({"type": "tool_use", "id": "t", "name": "x", "input": {"a": 1}}));
    let unsigned = start(0, &json!({"type": "thinking", "thinking": "Hm."}));
    let over = json!({"type": "message_stop"});
    for (events_of, expected) in [
        (
            vec![tool.clone(), input(0, "{\"a"), stop(0), usage("tool_use"), over.clone()],
            r#"[t x "{\"a"] EndTurn"#,
        ),
        (vec![tool.clone(), input(0, "{\"a"), stop(0), usage("max_tokens"), over.clone()], " MaxTokens"),
        (vec![tool.clone(), input(0, "{}"), usage("tool_use"), over.clone()], " !CutOff"),
        (vec![given, stop(0), usage("tool_use"), over.clone()], r#"[t x {"a":1}] EndTurn"#),
        (vec![unsigned, stop(0), over], "(Hm.) EndTurn"),
    ] {
        assert_eq!(told(&AnthropicDialect, &events(&events_of)), expected);
    }
}

#[test]
fn errors_come_in_the_middle() {
    for (kind, expected) in [
        ("overloaded_error", "Failed"),
        ("api_error", "Failed"),
        ("rate_limit_error", "RateLimited"),
        ("authentication_error", "Auth"),
        ("billing_error", "Quota"),
        ("invalid_request_error", "Rejected"),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "Secret."}});
        let text = delta(0, &json!({"type": "text_delta", "text": "a"}));
        assert_eq!(told(&AnthropicDialect, &events(&[text, error])), format!("a !{expected}"));
    }
}

#[test]
fn any_bytes_are_read() {
    check_any_bytes(&AnthropicDialect, &events(&answer("tool_use")));
    check_any_bytes(&AnthropicDialect, &events(&answer("max_tokens")));
}

#[test]
fn too_many_blocks_are_given_up() {
    let block = json!({"type": "tool_use", "id": "t", "name": "x"});
    let all: Vec<Value> = (0..1000).map(|index| start(index, &block)).collect();
    let read = sample::read(&AnthropicDialect, &[events(&all).as_bytes()]);
    assert!(read.contains("!Malformed"), "{read}");
    let long = input(0, &"x".repeat(1024 * 1024));
    let all: Vec<Value> = std::iter::once(start(0, &block)).chain(vec![long; 20]).collect();
    let read = sample::read(&AnthropicDialect, &[events(&all).as_bytes()]);
    assert!(read.contains("!Malformed"), "{read}");
}

#[test]
fn models_are_listed() {
    let body = br#"{"data": [
        {"type": "model", "id": "claude-x", "display_name": "Claude X", "max_input_tokens": 1000000},
        {"type": "model", "id": "claude-y"}, {"type": "model"}
    ], "has_more": false}"#;
    let models = AnthropicDialect.read_models(body);
    let told: Vec<_> =
        models.iter().map(|model| (model.id.as_str(), model.name.as_deref(), model.context)).collect();
    assert_eq!(told, [("claude-x", Some("Claude X"), Some(1_000_000)), ("claude-y", None, None)]);
    assert!(AnthropicDialect.read_models(b"").is_empty());
}

#[test]
fn faults_are_told_apart() {
    let fault = |status: u16, kind: &str, message: &str| {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}}).to_string();
        AnthropicDialect.fault(status, body.as_bytes())
    };
    let invalid = "invalid_request_error";
    for (status, kind, message, expected) in [
        (401, "authentication_error", "invalid x-api-key", ProviderFault::Auth),
        (403, "permission_error", "Not yours.", ProviderFault::Auth),
        (404, "not_found_error", "model: claude-0", ProviderFault::UnknownModel),
        (400, invalid, "prompt is too long: 210000 tokens > 200000 maximum", ProviderFault::ContextOverflow),
        (
            400,
            invalid,
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
            ProviderFault::ContextOverflow,
        ),
        (413, "request_too_large", "Too large.", ProviderFault::ContextOverflow),
        (400, invalid, "Your credit balance is too low to access the API.", ProviderFault::Quota),
        (429, "rate_limit_error", "Slow down.", ProviderFault::RateLimited),
        (500, "api_error", "Internal server error", ProviderFault::Failed),
        (529, "overloaded_error", "Overloaded", ProviderFault::Failed),
        (
            400,
            invalid,
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            ProviderFault::Reasoning,
        ),
        (
            400,
            invalid,
            "\"thinking.type.enabled\" is not supported for this model.",
            ProviderFault::Reasoning,
        ),
    ] {
        assert_eq!(fault(status, kind, message), expected, "{status} {message}");
    }
    assert!(matches!(fault(400, invalid, "messages: required"), ProviderFault::Rejected(_)));
    assert_eq!(AnthropicDialect.fault(502, b"<html>Bad gateway</html>"), ProviderFault::Failed);
}

#[test]
fn the_larger_of_two_contexts_is_asked_for() {
    let headers = |model: &str, size: u64| {
        let options = crate::AnswerOptions { context_size: Some(size), ..Default::default() };
        let request = crate::ModelRequest { options, ..crate::ModelRequest::default() };
        let headers = AnthropicDialect.chat(model, &request).headers.into_iter();
        headers.map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(headers("claude-sonnet-4-5", 1_000_000), ["anthropic-version", "anthropic-beta"]);
    assert_eq!(headers("claude-sonnet-4-5", 200_000), ["anthropic-version"]);
    assert_eq!(headers("claude-opus-4-5", 1_000_000), ["anthropic-version"]);
}

//! What is sent and how answers are read.

use serde_json::{Value, json};

use super::ResponsesDialect;
use crate::{
    AnswerOptions,
    dialect::{
        ApiDialect,
        sample::{self, check_any_bytes, events, everything, told},
    },
};

fn own() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"})
}

#[test]
fn everything_is_sent() {
    let mut request = everything(&ResponsesDialect, &own());
    let sent = ResponsesDialect.chat("m", &request);
    assert_eq!((sent.path.as_str(), sent.headers.len()), ("/responses", 0));
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = |name: &str| {
        let description = format!("Does {name}.");
        json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
    };
    let expected = json!({
        "model": "m", "stream": true, "store": false,
        "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [tool("read"), tool("write")],
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "Look"},
                {"type": "input_image", "image_url": "data:image/png;base64,aW1n"},
                {"type": "input_audio", "input_audio": {"data": "c25k", "format": "wav"}},
                {"type": "input_text", "text": "at it."},
            ]},
            own(),
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": r#"{"path":"a.rs"}"#},
            {"type": "function_call", "call_id": "c1_2", "name": "no_such_tool", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "fn main"},
            {"type": "function_call_output", "call_id": "c1_2", "output": "There is none."},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hurry."}]},
        ],
    });
    let body: Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(body, expected);

    request.options = AnswerOptions { must_call: true, without_reasoning: true, ..request.options };
    let body = sample::sent(&ResponsesDialect, "m", &request);
    assert_eq!(body["tool_choice"], "required");
    assert_eq!((&body["include"], &body["reasoning"]), (&Value::Null, &Value::Null));
    assert_eq!(body["input"][1]["role"], "assistant");
}

#[test]
fn reasoning_is_asked_of_those_who_reason() {
    for (model, expected) in [
        ("gpt-4.1", Value::Null),
        ("gpt-5.2", json!({"summary": "auto"})),
        ("o1", json!({"summary": "auto"})),
    ] {
        let body = sample::sent(&ResponsesDialect, model, &crate::ModelRequest::default());
        assert_eq!(body["reasoning"], expected, "{model}");
        assert_eq!(body["include"].is_null(), expected.is_null());
    }
}

fn event(kind: &str, members: Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}")});
    let Value::Object(members) = members else { panic!("members are an object") };
    event.as_object_mut().expect("an event is one").extend(members);
    event
}

fn done(item: &Value) -> Value {
    event("output_item.done", json!({"output_index": 0, "item": item}))
}

fn call(status: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "x", "arguments": arguments, "status": status})
}

fn over(kind: &str, reason: &Value) -> Value {
    let usage = json!({
        "input_tokens": 30, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
    });
    event(kind, json!({"response": {"status": kind, "incomplete_details": reason, "usage": usage}}))
}

/// An answer with everything in it, without its end.
fn answer() -> Vec<Value> {
    let reasoning = json!({
        "type": "reasoning", "id": "rs", "status": null, "encrypted_content": "gA",
        "summary": [{"type": "summary_text", "text": "Hm.hé"}],
    });
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "I look."}]});
    vec![
        event("created", json!({"response": {"id": "resp"}})),
        event("output_item.added", json!({"item": {"type": "reasoning", "id": "rs", "summary": []}})),
        event("reasoning_summary_part.added", json!({"summary_index": 0})),
        event("reasoning_summary_text.delta", json!({"delta": "Hm."})),
        event("reasoning_summary_part.added", json!({"summary_index": 1})),
        event("reasoning_summary_text.delta", json!({"delta": "hé"})),
        done(&reasoning),
        event("output_text.delta", json!({"delta": "I "})),
        event("output_text.delta", json!({"delta": "look."})),
        done(&message),
        event("output_item.added", json!({"item": call("in_progress", "")})),
        event("function_call_arguments.delta", json!({"delta": "{\"a\":"})),
        done(&call("completed", "{\"a\": 1}")),
        done(&call("completed", "")),
    ]
}

const READ: &str = concat!(
    "(Hm.)(\n\n)(hé)",
    r#"<openai-responses/m {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hm.hé"}],"encrypted_content":"gA"}>"#,
    r#"I look.[c x {"a": 1}][c x {}]"#,
);

#[test]
fn an_answer_is_read_however_it_is_cut() {
    for (kind, reason, stop) in [
        ("completed", Value::Null, "EndTurn"),
        ("incomplete", json!({"reason": "max_output_tokens"}), "MaxTokens"),
        ("incomplete", json!({"reason": "content_filter"}), "Refusal"),
    ] {
        let mut all = answer();
        all.push(over(kind, &reason));
        all.push(event("output_text.delta", json!({"delta": "late"})));
        assert_eq!(told(&ResponsesDialect, &events(&all)), format!("{READ}{{30 7 20 0 2}} {stop}"));
    }
}

#[test]
fn half_an_answer_is_cut_off() {
    for end in 0..=14 {
        let half = sample::read(&ResponsesDialect, &[events(&answer()[..end]).as_bytes()]);
        assert!(half.ends_with("!CutOff"), "{half}");
        assert_eq!(half.contains("[c x"), end > 12, "{half}");
    }
}

#[test]
fn items_come_whole() {
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "a"}]});
    let not_kept = json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": null});
    for (item, expected) in [
        (message, "a"),
        (not_kept, ""),
        (call("incomplete", "{\"a"), ""),
        (call("completed", "{\"a"), r#"[c x "{\"a"]"#),
        (json!({"type": "web_search_call"}), ""),
    ] {
        let all = [done(&item), over("completed", &Value::Null)];
        assert_eq!(told(&ResponsesDialect, &events(&all)), format!("{expected}{{30 7 20 0 2}} EndTurn"));
    }
    let refusal = [event("refusal.delta", json!({"delta": "No."})), over("completed", &Value::Null)];
    assert_eq!(told(&ResponsesDialect, &events(&refusal)), "No.{30 7 20 0 2} Refusal");
}

#[test]
fn errors_come_in_the_middle() {
    for (error, expected) in [
        (json!({"code": "server_error", "message": "Secret."}), "Failed"),
        (json!({"code": "rate_limit_exceeded", "message": "Secret."}), "RateLimited"),
        (json!({"code": "insufficient_quota", "message": "Secret."}), "Quota"),
        (json!({"code": "context_length_exceeded", "message": "Secret."}), "ContextOverflow"),
        (json!({"code": "invalid_prompt", "message": "Secret."}), "Rejected"),
    ] {
        let mut bare = error.clone();
        bare["type"] = json!("error");
        let nested = json!({"type": "error", "error": error});
        for event in [event("failed", json!({"response": {"error": error}})), bare, nested] {
            assert_eq!(told(&ResponsesDialect, &events(&[event])), format!(" !{expected}"));
        }
    }
}

#[test]
fn any_bytes_are_read() {
    let mut all = answer();
    all.push(over("completed", &Value::Null));
    check_any_bytes(&ResponsesDialect, &events(&all));
}

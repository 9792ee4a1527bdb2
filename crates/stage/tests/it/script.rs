//! Rules from files.

use hyper::StatusCode;
use nudge_stage::{ScriptError, StageProvider};
use serde_json::json;

use crate::client::post_json;

const TOML: &str = r#"
[[rule]]
text = "busy"
times = 1
reply = [{ pause_ms = 1 }, { error = { status = 503, message = "Busy.", retry_after = 1 } }]

[[rule]]
text = "look"
with_tools = true
reply = [
  { think = "Hm." },
  { call = [{ tool = "Read", arguments = { path = "a" } }, { tool = "cat", arguments = {} }] },
]

[[rule]]
after = "any"
reply = [{ text = "Something" }]
"#;

const JSON: &str = r#"{"rule": [{"text": "look", "reply": [{"text": "I "}, {"text": "see."}]}]}"#;

#[tokio::test]
async fn scripts_are_rules() {
    let cat = json!([{"type": "function", "function": {"name": "cat"}}]);
    let cases = [
        (TOML, "busy", json!([]), 503, "/error/message", "Busy."),
        (TOML, "look", cat, 200, "/choices/0/message/tool_calls/0/function/name", "cat"),
        (TOML, "look", json!([]), 200, "/choices/0/message/content", "Something"),
        (JSON, "look", json!([]), 200, "/choices/0/message/content", "I see."),
    ];
    for (script, text, tools, status, place, expected) in cases {
        let provider = StageProvider::start().await;
        provider.add_script(script).expect("a good script");
        let body = json!({"model": "m", "messages": [{"role": "user", "content": text}], "tools": tools});
        let (got, answer) = post_json(&provider, "/v1/chat/completions", &body).await;
        assert_eq!(got, StatusCode::from_u16(status).expect("a status"));
        assert_eq!(answer.pointer(place), Some(&json!(expected)), "{answer}");
    }
}

#[tokio::test]
async fn scripts_with_mistakes_add_nothing() {
    let provider = StageProvider::start().await;
    let call = |calls: &str| {
        format!(r#"{{"rule": [{{"reply": [{{"text": "a"}}]}}, {{"reply": [{{"call": {calls}}}]}}]}}"#)
    };
    let cases = [
        ("[[rule]]\nreply = [{ say = 1 }]".to_owned(), "TOML"),
        (r#"{"rules": []}"#.to_owned(), "JSON"),
        (call("[]"), "rule 2 has one with none"),
        (call(r#"[{"tool": "(", "arguments": {}}]"#), "rule 2 has one that is not"),
    ];
    for (script, expected) in cases {
        let error: ScriptError = provider.add_script(&script).expect_err("a mistake");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let body = json!({"messages": [{"role": "user", "content": "hi"}]});
    let (_, answer) = post_json(&provider, "/v1/chat/completions", &body).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "You said: hi");
}

//! The stand-in for model providers against the vendors' own Python libraries: what it says is no echo of our own reading.

use nudge_stage::{ModelReply, StageProvider};
use serde_json::json;

use crate::python::python_with;

/// A library asks with a tool, sends what came of it, and is refused; what it makes of that is always the same.
fn check(dialect: &str, refused: &str) {
    check_address(dialect, refused, ("", ""));
}

/// The same, and what the path and a header of each request are.
fn check_address(dialect: &str, refused: &str, (path, header): (&str, &str)) {
    let provider = StageProvider::start_blocking();
    provider.sign_with("secret");
    let look = ModelReply::thinking("Hm. Hm.").and_text("I look.").and_call("read", json!({"path": "ä.rs"}));
    provider.on("look").reply(look.usage(20, 9));
    provider.on("look").after_tool_result().reply(ModelReply::text("All done.").usage(30, 2));
    provider.on("busy").reply(ModelReply::error(429, "Slow down."));
    let Some(outcome) = python_with("vendors.py", &[dialect, &provider.url()], &[]) else { return };
    let first = json!({"thoughts": "Hm. Hm.", "text": "I look.", "calls": [["read", {"path": "ä.rs"}]], "tokens": [20, 9]});
    let second = json!({"thoughts": "", "text": "All done.", "calls": [], "tokens": [30, 2]});
    let expected = json!({"first": first, "second": second, "refused": refused});
    assert_eq!(outcome.ok().json(), [expected]);
    let requests = provider.requests();
    assert_eq!(requests[0].system(), "Be brief.");
    assert_eq!(requests[1].last_results(), ["fn main"]);
    for seen in &requests {
        assert!(seen.path.starts_with(path), "{}", seen.summary());
        assert!(header.is_empty() || seen.has_header(header), "{:?}", seen.headers);
    }
}

#[test]
fn anthropic_messages() {
    check("anthropic", "RateLimitError");
}

#[test]
fn openai_chat_completions() {
    check("chat", "RateLimitError");
}

#[test]
fn openai_responses() {
    check("responses", "RateLimitError");
}

#[test]
fn azure_deployments() {
    check_address("azure", "RateLimitError", ("/openai/deployments/gpt-x/chat/completions", "api-key"));
}

#[test]
fn azure_v1() {
    check_address("azure_v1", "RateLimitError", ("/openai/v1/chat/completions", "api-key"));
}

#[test]
fn vertex() {
    let path = "/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3-x:";
    check_address("vertex", "ClientError", (path, "authorization"));
}

#[test]
fn gemini() {
    check("gemini", "ClientError");
}

#[test]
fn ollama() {
    check("ollama", "ResponseError");
}

#[test]
fn bedrock() {
    check("bedrock", "ThrottlingException");
}

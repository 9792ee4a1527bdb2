//! `nudge acp` asks the model that a client made with the official TypeScript SDK has set over the wire.

use nudge_stage::{ModelReply, StageProvider};
use serde_json::{Value, json};

use crate::{programs::nudge, typescript::node_with};

/// What came of it, and the provider, which has seen what was asked.
fn report(version: &str) -> Option<(Value, StageProvider)> {
    let provider = StageProvider::start_blocking();
    provider.on("who are you").reply(ModelReply::chunks(["a model ", "that was ", "set"]));
    let base = format!("{}/v1", provider.url());
    let args = [version, &base, "who are you", nudge(), "acp", "--no-daemon", "--data", ""];
    // No model of this machine is to be found instead.
    let env = [("OLLAMA_HOST", "127.0.0.1:9"), ("NUDGE_MODEL", ""), ("NUDGE_PROVIDER", "")];
    Some((node_with("providers.mjs", &args, &env)?.ok().json().swap_remove(0), provider))
}

fn check(version: &str) -> Option<Value> {
    let (report, provider) = report(version)?;
    let current = json!({ "apiType": "openai", "baseUrl": format!("{}/v1", provider.url()) });
    assert_eq!((&report["set"], &report["refused"]), (&json!({}), &json!(-32602)));
    assert_eq!(report["current"], current);
    assert_eq!(report["text"], "a model that was set");
    let asked = provider.requests();
    let [asked] = &asked[..] else { panic!("one question: {provider:?}") };
    assert_eq!(asked.last_user(), "who are you");
    assert!(asked.has_header("authorization"), "{provider:?}");
    Some(report)
}

#[test]
fn a_model_is_set_and_asked() {
    let Some(report) = check("1") else { return };
    assert_eq!(report["stopReason"], "end_turn");
    // The SDK's version 2 leaves out what it does not know of capabilities.
    assert_eq!(report["offered"], json!({}));
}

#[test]
fn a_model_is_set_and_asked_in_version_2() {
    check("2");
}

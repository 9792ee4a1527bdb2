//! `nudge acp` suggests edits to an editor made with the NES client of the official TypeScript SDK.

use serde_json::json;

use crate::{programs::nudge, typescript::node};

const TEXT: &str = "\
fn sum(items: &[u32]) -> u32 {
    let mut foo_count = 0; // 😀
    for item in items {
        foo_count += item;
    }
    foo_count
}
";

#[test]
fn it_takes_our_suggestions() {
    let Some(outcome) = node("nes_session.mjs", &[TEXT, "foo_count", "total", nudge(), "acp", "--data", ""])
    else {
        return;
    };
    let report = outcome.ok().json().swap_remove(0);
    let capabilities = &report["initialized"]["agentCapabilities"];
    assert_eq!(capabilities["nes"]["events"]["document"]["didChange"]["syncKind"], "incremental");
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    assert_eq!(report["unknown"], json!({"code": -32002, "data": {"reason": "unknown_session"}}));
    assert_eq!(report["text"], TEXT.replace("foo_count", "total"), "{report:#}");
    let accepted = report["accepted"].as_array().expect("a list");
    assert!(!accepted.is_empty());
    for suggestion in accepted {
        assert!(suggestion["_meta"]["nudge"]["reason"].is_string(), "{suggestion}");
    }
    assert_eq!(report["closed"], json!({}));
}

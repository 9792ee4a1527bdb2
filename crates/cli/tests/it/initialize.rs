//! Versions, capabilities, and what is refused.

use serde_json::{Value, json};

use crate::{error_of, nudge};

fn initialize(params: &Value) -> Value {
    let mut nudge = nudge(&["acp"]);
    nudge.line(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string());
    let response = nudge.next_json().expect("an answer");
    assert_eq!(response["id"], 0);
    let (status, rest, errors) = nudge.finish();
    assert!(status.success() && rest.is_empty() && errors.is_empty(), "{status} {rest:?} {errors}");
    response
}

#[test]
fn the_version_is_negotiated() {
    let cases = [
        (json!(1), 1),
        (json!(2), 2),
        (json!(3), 2),
        (json!(65_535), 2),
        (json!(100_000), 2),
        (json!(0), 2),
        (json!("2025-11-25"), 2),
        (json!(null), 2),
    ];
    for (asked, answered) in cases {
        let response =
            initialize(&json!({"protocolVersion": asked, "clientCapabilities": {}, "capabilities": {}}));
        assert_eq!(response["result"]["protocolVersion"], answered, "{asked}");
    }
    assert_eq!(initialize(&json!({}))["result"]["protocolVersion"], 2);
}

#[test]
fn each_version_has_its_own_shape() {
    let v1 = &initialize(&json!({"protocolVersion": 1}))["result"];
    assert_eq!(v1["agentInfo"]["name"], "nudge");
    assert!(v1["agentCapabilities"].is_object() && v1.get("capabilities").is_none());
    let v2 = &initialize(&json!({"protocolVersion": 2}))["result"];
    assert_eq!(v2["info"]["name"], "nudge");
    assert!(v2["capabilities"].is_object() && v2.get("agentCapabilities").is_none());
}

#[test]
fn only_what_works_is_advertised() {
    let v1 = &initialize(&json!({"protocolVersion": 1}))["result"];
    assert_eq!(v1["agentCapabilities"]["loadSession"], true);
    assert_eq!(names(&v1["agentCapabilities"]["_meta"]), ["inject", "nes", "positionEncoding"]);
    assert_eq!(v1["authMethods"], json!([]));
    let v2 = &initialize(&json!({"protocolVersion": 2}))["result"];
    assert_eq!(
        names(&v2["capabilities"]),
        ["session", "providers", "auth", "_meta", "nes", "positionEncoding"]
    );
}

fn names(object: &Value) -> Vec<&String> {
    object.as_object().expect("an object").keys().collect()
}

#[test]
fn other_requests_are_refused_by_name_and_notifications_ignored() {
    let mut nudge = nudge(&["acp"]);
    nudge.line(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
    nudge.line(r#"{"jsonrpc":"2.0","method":"_vendor/anything"}"#);
    nudge.line(r#"{"jsonrpc":"2.0","id":"x","method":"providers/list","params":{}}"#);
    let response = nudge.next_json().expect("an answer");
    assert_eq!(error_of(&response), (-32601, json!("x")));
    assert!(response["error"]["message"].as_str().unwrap().contains("providers/list"));
    nudge.line(r#"{"jsonrpc":"2.0","id":"y","method":"session/new","params":{"cwd":"/"}}"#);
    let response = nudge.next_json().expect("an answer");
    assert_eq!(error_of(&response), (-32600, json!("y")), "`initialize` comes first");
}

#[test]
fn params_that_are_no_object_are_invalid() {
    let mut nudge = nudge(&["acp"]);
    nudge.line(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":[1]}"#);
    assert_eq!(error_of(&nudge.next_json().unwrap()), (-32602, json!(1)));
}

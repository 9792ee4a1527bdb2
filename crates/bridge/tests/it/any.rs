//! The bridge takes any JSON, forgets what it must, and leaves alone what it does not know.

use nudge_bridge::{
    CALL_CONTENT, SESSION_CONTENT, TERMINAL_TAIL, ToV1, ToV2, V1Client, agent_to_v1, agent_to_v2,
    prompt_answer, request_to_v1, request_to_v2, turn_ended, turn_failed,
};
use nudge_wire::RawJson;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Names and words that mean something to the bridge.
const WORDS: &[&str] = &[
    "sessionUpdate",
    "agent_message_chunk",
    "agent_message",
    "user_message",
    "tool_call",
    "tool_call_update",
    "tool_call_content_chunk",
    "terminal_update",
    "terminal_output_chunk",
    "plan",
    "plan_update",
    "plan_removed",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "state_update",
    "notice",
    "session_info_update",
    "compaction_update",
    "messageId",
    "toolCallId",
    "terminalId",
    "planId",
    "content",
    "type",
    "text",
    "diff",
    "terminal",
    "changes",
    "patch",
    "format",
    "git_patch",
    "operation",
    "path",
    "oldPath",
    "oldText",
    "newText",
    "_meta",
    "nudge",
    "status",
    "cancelled",
    "title",
    "kind",
    "locations",
    "line",
    "cleared",
    "entries",
    "items",
    "markdown",
    "file",
    "uri",
    "configOptions",
    "modes",
    "currentModeId",
    "availableModes",
    "availableCommands",
    "input",
    "category",
    "mode",
    "select",
    "boolean",
    "options",
    "currentValue",
    "id",
    "configId",
    "value",
    "subject",
    "toolCall",
    "command",
    "cwd",
    "outcome",
    "replayFrom",
    "mcpServers",
    "capabilities",
    "session",
    "prompt",
    "auth",
    "authMethods",
    "env",
    "requestedSchema",
    "data",
    "output",
    "exitStatus",
    "hunk",
    "change",
    "replaces",
    "state",
    "idle",
    "stopReason",
    "error",
    "x",
    "diff --git /a /b\n--- /a\n+++ /b\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n",
    "aGk=",
];

const METHODS: &[&str] = &[
    "initialize",
    "authenticate",
    "auth/login",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/prompt",
    "session/set_config_option",
    "elicitation/create",
    "_x",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![9 => prop::sample::select(WORDS).prop_map(str::to_owned), 1 => ".*"]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => word().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            3 => prop::collection::vec((word(), inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// An update of a kind the bridge knows, with members of any kind.
fn any_update() -> impl Strategy<Value = Value> {
    let members = prop::collection::vec((word(), any_json()), 0..6);
    (prop::sample::select(&WORDS[1..19]), members, 0..2_u8).prop_map(|(kind, members, id)| {
        let mut update: Value = members.into_iter().collect();
        update["sessionUpdate"] = kind.into();
        for name in ["messageId", "toolCallId", "terminalId"] {
            update[name] = id.to_string().into();
        }
        update
    })
}

fn check(given: &RawJson) {
    serde_json::from_str::<&serde_json::value::RawValue>(given.as_str()).expect("the bridge makes JSON");
}

fn everything(raw: &RawJson, to_v1: &mut ToV1, to_v2: &mut ToV2) {
    to_v1.update(raw).iter().for_each(check);
    to_v2.update(raw).iter().for_each(check);
    check(&to_v1.permission(raw));
    check(&to_v2.permission(raw));
    check(&ToV1::permission_answer(raw));
    check(&ToV2::permission_answer(raw));
    check(&to_v1.setup(raw).result);
    check(&to_v2.setup(raw).result);
    check(&to_v1.set_config_option(raw));
    check(&to_v1.config_result(raw));
    if let Some(params) = to_v1.set_mode(raw) {
        check(&params);
    }
    let call = to_v2.set_config_option(raw);
    check(&call.params);
    check(&to_v2.config_result(&call, raw));
    check(&turn_ended(raw));
    check(&turn_failed(raw));
    match prompt_answer(raw) {
        Ok(given) | Err(given) => check(&given),
    }
    check(&agent_to_v1(raw));
    check(&agent_to_v2(raw));
    for method in METHODS {
        check(&request_to_v1(method, raw).params);
        check(&request_to_v2(method, raw).params);
    }
}

proptest! {
    #[test]
    fn any_json_gives_json(values in prop::collection::vec(prop_oneof![any_json(), any_update()], 1..8)) {
        let mut to_v1 = ToV1::new(V1Client::default());
        let mut to_v2 = ToV2::new("m-").with_cwd("/w");
        for value in values {
            everything(&RawJson::of(&value).expect("JSON"), &mut to_v1, &mut to_v2);
        }
    }
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).expect("test JSON is valid")
}

#[test]
fn what_is_not_known_keeps_its_bytes() {
    let same = [
        r#"{ "sessionUpdate": "_weather", "degrees": 1.50, "x": 1e400 }"#,
        r#"{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"\u0061"}}"#,
        r#"{ "sessionUpdate":"usage_update", "used":1.0e0 }"#,
        "[1e400]",
        "null",
    ];
    for text in same {
        assert_eq!(ToV1::new(V1Client::default()).update(&raw(text)), [raw(text)]);
        assert_eq!(ToV2::new("m-").update(&raw(text)), [raw(text)]);
    }
    let call = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","rawInput":{ "n": 1e400 },"x":[ 1.50 ]}"#;
    let given = ToV1::new(V1Client::default()).update(&raw(call));
    assert_eq!(given, [raw(&call.replace("tool_call_update", "tool_call"))]);
}

#[test]
fn deep_nesting_is_no_trouble() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let text = format!(
        r#"{{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{deep},"_meta":{deep}}}"#
    );
    everything(&raw(&text), &mut ToV1::new(V1Client::default()), &mut ToV2::new("m-"));
}

#[test]
fn content_of_tool_calls_is_bounded() {
    let mut bridge = ToV1::new(V1Client::default());
    let text = "x".repeat(10_000);
    let chunk = |call: usize| {
        let item = json!({ "type": "content", "content": { "type": "text", "text": text } });
        let update = json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": format!("c{call}"), "content": item });
        RawJson::of(&update).expect("JSON")
    };
    let mut told = |update: &RawJson| -> Vec<RawJson> {
        let given = bridge.update(update);
        given.into_iter().chain(bridge.flush()).collect()
    };
    for _ in 0..100 {
        let given = told(&chunk(0));
        assert!(given[0].as_str().len() < CALL_CONTENT + 1000);
    }
    let last: Value = told(&chunk(0))[0].to().expect("JSON");
    assert_eq!(last["content"][0]["_meta"]["nudge"]["omitted"], json!(101 - (CALL_CONTENT / 10_080)));
    // What other calls say pushes out what this one said.
    for call in 1..=(SESSION_CONTENT / 10_000) {
        told(&chunk(call));
    }
    let last: Value = told(&chunk(0))[0].to().expect("JSON");
    assert_eq!(last["content"].as_array().map(Vec::len), Some(2));
}

#[test]
fn output_of_terminals_is_bounded() {
    let mut bridge = ToV1::new(V1Client::default());
    let call = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]}"#;
    bridge.update(&raw(call));
    let chunk =
        json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "eHh4".repeat(4096) });
    for _ in 0..3 {
        let given = bridge.update(&RawJson::of(&chunk).expect("JSON"));
        let given: Vec<RawJson> = given.into_iter().chain(bridge.flush()).collect();
        assert!(given[0].as_str().len() < TERMINAL_TAIL + 1000, "{}", given[0].as_str().len());
    }
}

#[test]
fn a_message_that_changes_for_ever_is_shown_each_time() {
    let mut bridge = ToV1::new(V1Client::default());
    for round in 0..5_u32 {
        let update = json!({
            "sessionUpdate": "agent_message",
            "messageId": "m",
            "content": [{ "type": "text", "text": round.to_string() }],
        });
        let given: Value = bridge.update(&RawJson::of(&update).expect("JSON"))[0].to().expect("JSON");
        let id = if round == 0 { "m".to_owned() } else { format!("m~{round}") };
        assert_eq!(given["messageId"], json!(id));
        assert!(
            bridge.update(&RawJson::of(&update).expect("JSON")).is_empty(),
            "the same again is nothing new"
        );
    }
}

//! What is found in an update, and how it passes on.

use nudge_bridge::{CallProgress, IndexedUpdate, UpdateKind, update_params};
use nudge_wire::{Message, RawJson, Version, message::ParsedFrame};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The same, found by a parser.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(rename = "sessionId")]
    _session_id: String,
    #[serde(borrow)]
    update: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(rename = "sessionUpdate")]
    kind: String,
    message_id: Option<String>,
    tool_call_id: Option<String>,
    #[serde(rename = "status", borrow)]
    _status: Option<&'a RawValue>,
}

fn notification(params: &str) -> Message {
    let frame = format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#);
    match ParsedFrame::from_frame(frame.into()) {
        ParsedFrame::Single(Ok(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn heard(params: &str) -> Option<IndexedUpdate> {
    IndexedUpdate::from_message(&notification(params), Version::V1)
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).expect("test JSON is valid")
}

/// One line of what is found.
fn found(params: &str) -> String {
    let Some(update) = heard(params) else { return "nothing".to_owned() };
    let id = |id: &Option<std::sync::Arc<str>>| id.as_deref().unwrap_or("-").to_owned();
    let progress = update.call_progress.map_or("-".to_owned(), |progress| format!("{progress:?}"));
    let session = update.session_id().expect("it came in a message");
    let (message, call) = (id(&update.message_id), id(&update.tool_call_id));
    format!("{session} {} {message} {call} {progress} {:?}", update.kind.name(), update.raw)
}

#[test]
fn what_is_looked_at_is_found() {
    let check = |params: &str, expected: &str| assert_eq!(found(params), expected, "{params}");
    let chunk = r#"{"sessionUpdate":"agent_message_chunk","content":{"update":{"sessionId":1}}}"#;
    check(
        &format!(r#"{{"sessionId":"s","update":{chunk}}}"#),
        &format!("s agent_message_chunk - - - {chunk}"),
    );
    check(
        r#" { "update" : { "messageId":"m\u0021", "sessionUpdate":"plan","x":[ ] } , "_meta":{}, "sessionId":"a\"b" }"#,
        r#"a"b plan m! - - { "messageId":"m\u0021", "sessionUpdate":"plan","x":[ ] }"#,
    );
    let own = r#"{"sessionUpdate":"_nudge/permission_answer","messageId":null}"#;
    check(&format!(r#"{{"sessionId":"s","update":{own}}}"#), &format!("s _foreign - - - {own}"));
    let last = r#"{"sessionUpdate":"plan","messageId":"m"}"#;
    check(
        &format!(r#"{{"sessionId":"s","update":{{"toolCallId":"t"}},"update":{last}}}"#),
        &format!("s plan m - - {last}"),
    );
}

#[test]
fn what_is_no_update_is_not_taken_for_one() {
    for params in [
        "[]",
        "{}",
        r#"{"sessionId":"s"}"#,
        r#"{"update":{"sessionUpdate":"plan"}}"#,
        r#"{"sessionId":1,"update":{"sessionUpdate":"plan"}}"#,
        r#"{"sessionId":"s","sessionId":"s","update":{"sessionUpdate":"plan"}}"#,
        r#"{"sessionId":"s","update":1}"#,
        r#"{"sessionId":"s","update":{"sessionUpdate":1}}"#,
        r#"{"sessionId":"s","update":{"sessionUpdate":"plan","sessionUpdate":"plan"}}"#,
        r#"{"sessionId":"s","update":{"sessionUpdate":"plan","messageId":1}}"#,
        r#"{"sessionId":"s","update":{"sessionUpdate":"plan"},"update":null}"#,
    ] {
        assert_eq!(found(params), "nothing", "{params}");
    }
}

#[test]
fn how_far_a_tool_call_has_come_is_told_by_its_status() {
    let progress = |kind: &str, status: &str| {
        let update = format!(r#"{{"sessionUpdate":"{kind}","toolCallId":"t"{status}}}"#);
        IndexedUpdate::read(&raw(&update)).expect("an update").call_progress
    };
    let (open, over) = (Some(CallProgress::Open), Some(CallProgress::Over));
    for (kind, status, expected) in [
        ("tool_call", "", open),
        ("tool_call", r#","status":null"#, open),
        ("tool_call", r#","status":"pending""#, open),
        ("tool_call_update", r#","status":"in_progress""#, open),
        ("tool_call_update", r#","status":"completed""#, over),
        ("tool_call_update", r#","status":"cancelled""#, over),
        ("tool_call_update", "", None),
        ("tool_call_update", r#","status":null"#, None),
        ("plan", r#","status":"completed""#, None),
    ] {
        assert_eq!(progress(kind, status), expected, "{kind} {status}");
    }
}

#[test]
fn what_came_beside_an_update_stays() {
    let other = raw(r#"{"sessionUpdate":"notice"}"#);
    let check = |params: &str, session: &str, expected: &str| {
        let update = heard(params).expect("an update");
        assert_eq!(update.params_with(session, &other).as_str(), expected, "{params}");
    };
    let plan = r#"{"sessionUpdate":"plan"}"#;
    let bare = r#"{"sessionId":"s","update":{"sessionUpdate":"notice"}}"#;
    check(&format!(r#"{{"update":{plan},"sessionId":"s"}}"#), "s", bare);
    check(&format!(r#"{{"sessionId":"agents","update":{plan}}}"#), "s", bare);
    let more = |session: &str| {
        format!(r#"{{"_meta":{{}},"sessionId":"{session}","update":{{"sessionUpdate":"notice"}}}}"#)
    };
    let came = format!(r#"{{"_meta":{{}},"sessionId":"s","update":{plan}}}"#);
    check(&came, "s", &more("s"));
    check(&came, "t", &more("t"));
    let own = IndexedUpdate::new(UpdateKind::Plan, raw(plan));
    assert_eq!(own.params_with("s", &other), update_params("s", &other));
}

#[test]
fn the_message_passes_to_those_who_know_the_session_by_its_name() {
    let update = heard(r#"{"sessionId":"s","update":{"sessionUpdate":"plan"}}"#).expect("an update");
    let frame = update.message().expect("it came in a message").frame().clone();
    assert_eq!(update.size(), frame.len());
    assert_eq!(update.message_for("s").map(Message::frame), Some(&frame));
    assert!(update.message_for("t").is_none());
    let kept = update.without_message();
    assert_eq!(kept.size(), kept.raw.as_str().len());
    assert!(kept.message_for("s").is_none());
}

/// An object of members that mean something, in any order, some of them twice.
fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    const NAMES: &[&str] =
        &["sessionId", "sessionUpdate", "messageId", "toolCallId", "status", "content", "\\u0073tatus"];
    let name = prop::sample::select(NAMES);
    prop::collection::vec((name, inner), 0..6).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\" :{value}")).collect();
        format!("{{{}}}", members.join(" , "))
    })
}

fn leaf() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "null",
        "1.50",
        "\"s\"",
        "\"plan\"",
        "\"a\\\"}\"",
        "\"\\ud800\"",
        "{\"update\":{ }}",
        "[]",
        "[{},\"]\"]",
    ];
    prop_oneof![3 => Just("\"plan\"".to_owned()), 2 => prop::sample::select(WORDS).prop_map(str::to_owned)]
}

proptest! {
    #[test]
    fn what_is_found_is_what_a_parser_finds(update in object(leaf()), more in object(leaf()), is_named: bool) {
        let named = if is_named { "\"sessionId\":\"s\"," } else { "" };
        let more = more.replacen('{', if more == "{}" { "" } else { "," }, 1);
        let params = format!("{{{named}\"update\": {update} {more}");
        let raw = serde_json::from_str::<Params<'_>>(&params).ok().map(|params| params.update);
        let parsed = raw.and_then(|raw| Some((raw, serde_json::from_str::<Update<'_>>(raw.get()).ok()?)));
        let heard = heard(&params);
        prop_assert_eq!(heard.is_some(), parsed.is_some(), "{}", params);
        if let (Some(heard), Some((raw, parsed))) = (heard, parsed) {
            prop_assert_eq!(heard.raw.as_str(), raw.get());
            prop_assert_eq!(heard.kind.name(), parsed.kind);
            prop_assert_eq!(heard.message_id.as_deref(), parsed.message_id.as_deref());
            prop_assert_eq!(heard.tool_call_id.as_deref(), parsed.tool_call_id.as_deref());
        }
    }
}

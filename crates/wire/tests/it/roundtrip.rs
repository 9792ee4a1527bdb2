//! Nothing is lost between reading a message and writing it again.

use nudge_wire::{Error, document::ContentChange, inject, nes};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::golden::{VERSIONS, goldens, shape_of, shapes};

#[test]
fn goldens_come_back_as_they_were() {
    for version in VERSIONS {
        let shapes = shapes(version);
        for golden in goldens(version) {
            let again = (shape_of(&golden.name, &shapes).recode)(golden.payload());
            let again = again.unwrap_or_else(|error| panic!("{version:?} {}: {error}", golden.name));
            assert_eq!(&again, golden.payload(), "{version:?} {}", golden.name);
        }
    }
}

#[test]
fn goldens_are_of_the_method_of_their_type() {
    for version in VERSIONS {
        let shapes = shapes(version);
        for golden in goldens(version) {
            let shape = shape_of(&golden.name, &shapes);
            let method = golden.message.get("method").and_then(Value::as_str);
            assert_eq!(method, shape.methods.first().copied(), "{version:?} {}", golden.name);
        }
    }
}

#[test]
fn every_message_has_a_golden() {
    for version in VERSIONS {
        let shapes = shapes(version);
        let goldens = goldens(version);
        for shape in &shapes {
            let found = goldens.iter().any(|golden| shape_of(&golden.name, &shapes).name == shape.name);
            assert!(found, "{version:?}: no golden file for {}", shape.name);
        }
    }
}

#[test]
fn methods_are_also_accepted_with_an_underscore() {
    for shape in VERSIONS.into_iter().flat_map(shapes) {
        match shape.methods.as_slice() {
            [] | ["initialize" | "_session/steering"] => {}
            [method, alias] => assert_eq!(*alias, format!("_{method}")),
            other => panic!("{}: {other:?}", shape.name),
        }
    }
}

#[test]
fn error_goldens_are_what_their_reasons_say() {
    for version in VERSIONS {
        for golden in goldens(version) {
            let message_id = golden.payload()["data"]["messageId"].as_str();
            let expected: Error = match golden.name.split_once(".error.") {
                Some(("nes", "cancelled")) => Error::cancelled(),
                Some(("nes", reason)) => nes::ErrorReason::from(reason).error(),
                Some(("inject", reason)) => inject::ErrorReason::from(reason).error(message_id),
                _ => continue,
            };
            assert_eq!(&json!(expected), golden.payload(), "{version:?} {}", golden.name);
        }
    }
}

fn check<T: Serialize + DeserializeOwned>(read: &Value, written: &Value) {
    let value: T = serde_json::from_str(&read.to_string()).unwrap_or_else(|error| panic!("{read}: {error}"));
    assert_eq!(&json!(value), written);
}

fn refuses<T: DeserializeOwned>(value: &Value) {
    assert!(serde_json::from_str::<T>(&value.to_string()).is_err(), "{value}");
}

#[test]
fn unknown_members_and_meta_survive_at_every_depth() {
    let same = |value: &Value| check::<nes::v1::SuggestRequest>(value, value);
    same(&json!({
        "sessionId": "s", "uri": "u", "version": -3, "triggerKind": "_hover", "_meta": { "a": [1.5, null] },
        "position": { "line": 1, "character": 2, "column": 3, "_meta": {} },
        "context": {
            "_weather": "rain",
            "diagnostics": [{
                "uri": "u", "severity": "_fatal", "message": "m", "code": 7,
                "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 }, "x": {} },
            }],
        },
    }));
}

#[test]
fn unknown_suggestions_survive_and_malformed_ones_do_not_pass_for_them() {
    let other =
        json!({ "kind": "_fold", "suggestionId": "s", "_meta": { "a": 1 }, "lines": [3, 9], "to": null });
    check::<nes::v2::Suggestion>(&other, &other);
    check::<nes::v1::Suggestion>(
        &json!({ "kind": "_fold", "id": "s" }),
        &json!({ "kind": "_fold", "id": "s" }),
    );
    refuses::<nes::v2::Suggestion>(&json!({ "kind": "jump", "suggestionId": "s", "uri": "u" }));
    refuses::<nes::v2::Suggestion>(&json!({ "kind": "_fold" }));
    refuses::<nes::v2::Suggestion>(&json!({ "kind": 5, "suggestionId": "s" }));
    refuses::<nes::v2::Suggestion>(&json!({ "suggestionId": "s" }));
}

#[test]
fn the_versions_do_not_take_each_others_ids() {
    refuses::<nes::v1::AcceptNotification>(&json!({ "sessionId": "s", "suggestionId": "x" }));
    refuses::<nes::v2::AcceptNotification>(&json!({ "sessionId": "s", "id": "x" }));
}

#[test]
fn null_is_nothing_except_where_it_says_more() {
    check::<nes::StartRequest>(
        &json!({ "workspaceUri": null, "workspaceFolders": null, "repository": null, "_meta": null }),
        &json!({}),
    );
    let file = json!({ "uri": "u", "languageId": "l", "visibleRange": null, "lastFocusedMs": null });
    check::<nes::OpenFile>(&file, &file);
    check::<nes::OpenFile>(
        &json!({ "uri": "u", "languageId": "l" }),
        &json!({ "uri": "u", "languageId": "l" }),
    );
}

#[test]
fn malformed_members_are_dropped_only_where_the_proposal_says_so() {
    check::<nes::v1::RejectNotification>(
        &json!({ "sessionId": "s", "id": "x", "reason": 5, "_meta": "no" }),
        &json!({ "sessionId": "s", "id": "x" }),
    );
    check::<nes::NesCapabilities>(
        &json!({ "events": { "document": { "didOpen": 1, "didChange": {}, "didSave": {} } }, "context": [] }),
        &json!({ "events": { "document": { "didSave": {} } } }),
    );
    // The range is what makes a change a small one.
    refuses::<ContentChange>(&json!({ "text": "t", "range": { "start": 1 } }));
    refuses::<nes::SuggestContext>(&json!({ "recentFiles": [{}] }));
}

#[test]
fn the_inject_capability_is_read_in_either_spelling_and_written_in_both() {
    let both = json!({
        "modes": ["queue", "steer", "_later"], "steer_in_stream": ["finish"], "steerInStream": ["finish"],
        "pending": { "replace": true, "_reorder": true }, "_meta": { "a": 1 }, "x": 2,
    });
    check::<inject::InjectCapability>(&both, &both);
    for spelling in ["steer_in_stream", "steerInStream"] {
        let mut one = both.clone();
        one.as_object_mut()
            .expect("an object")
            .retain(|name, _| name == spelling || !name.starts_with("steer"));
        check::<inject::InjectCapability>(&one, &both);
    }
    let queue_only = json!({ "modes": ["queue"] });
    check::<inject::InjectCapability>(&queue_only, &queue_only);
}

#[test]
fn content_blocks_are_kept_to_the_letter() {
    let text = r#"{"sessionId":"s","mode":"steer","content":[{ "type":"text", "n":1.50 }],"_meta":{"idempotencyKey":"k"}}"#;
    let request: inject::InjectRequest = serde_json::from_str(text).expect("well-formed");
    assert_eq!(request.idempotency_key(), Some("k"));
    assert_eq!(serde_json::to_string(&request).expect("writable"), text);
}

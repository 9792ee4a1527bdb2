//! Suggestions of the agent's own, or of Nudge in front of it.

use nudge_testkit::eventually;
use serde_json::{Value, json};

use super::{Place, client::Client, for_same, raw};

const URI: &str = "file:///w/a.rs";

fn client(place: &Place, by: &str, options: &str, version: u64) -> Client {
    let own: &[&str] = &["--nes", by];
    Client::new(place.start(own, &format!("--nes {options}"), "off"), version, &json!({}))
}

/// Params with members that only survive if nobody reads and writes them again.
fn odd(members: &str) -> String {
    format!(r#"{{ "odd":{},{members} }}"#, raw::ODD)
}

fn capabilities(client: &Client, version: u64) -> &Value {
    &client.initialized[if version == 1 { "agentCapabilities" } else { "capabilities" }]
}

#[test]
fn an_agent_with_suggestions_is_asked_for_them() {
    for_same(|options, version| {
        let place = Place::new();
        let mut client = client(&place, "agent", options, version);
        let told = capabilities(&client, version);
        assert_eq!(told["nes"]["events"]["document"], json!({"didOpen": {}, "didFocus": {}}), "{told}");
        assert_eq!(told["positionEncoding"], "utf-32");
        let position = r#""position":{"line":0,"character":3}"#;
        let requests = [
            ("nes/start", odd(r#""workspaceUri":null"#)),
            (
                "nes/suggest",
                odd(&format!(
                    r#""sessionId":"own","uri":"{URI}","version":2,{position},"triggerKind":"manual""#
                )),
            ),
            ("nes/close", odd(r#""sessionId":"own""#)),
        ];
        let range = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}"#;
        let about = format!(r#""sessionId":"own","uri":"{URI}""#);
        let id = if version == 1 { "id" } else { "suggestionId" };
        let notes = [
            (
                "document/didOpen",
                odd(&format!(r#"{about},"languageId":"rust","version":1,"text":"fn a() {{}}""#)),
            ),
            (
                "document/didChange",
                odd(&format!(r#"{about},"version":2,"contentChanges":[{{"range":{range},"text":"x"}}]"#)),
            ),
            ("document/didFocus", odd(&format!(r#"{about},"version":2,{position},"visibleRange":{range}"#))),
            ("document/didSave", odd(&about)),
            ("document/didClose", odd(&about)),
            ("nes/accept", odd(&format!(r#""sessionId":"own","{id}":"own-1""#))),
            ("nes/reject", odd(&format!(r#""sessionId":"own","{id}":"own-1","reason":"ignored""#))),
        ];
        for (method, params) in &notes {
            client.note(method, params);
        }
        for (method, params) in &requests {
            let id = client.send_raw(method, params);
            let result = raw::member(&client.response_line(id), "result").unwrap();
            let log = place.log();
            assert_eq!(raw::member(&log.heard(method)[0], "params").unwrap(), *params, "{method}");
            assert_eq!(result, log.answer(method, "result"), "{method}");
            if *method == "nes/suggest" {
                let result: Value = serde_json::from_str(&result).unwrap();
                assert_eq!(
                    result["suggestions"][0][if version == 1 { "id" } else { "suggestionId" }],
                    "own-1"
                );
            }
        }
        for (method, params) in &notes {
            eventually(method, || !place.log().heard(method).is_empty());
            assert_eq!(raw::member(&place.log().heard(method)[0], "params").unwrap(), *params, "{method}");
        }
    });
}

#[test]
fn with_suggestions_by_nudge_the_agent_hears_of_none() {
    for_same(|options, version| {
        let place = Place::new();
        let mut client = client(&place, "nudge", options, version);
        let told = capabilities(&client, version);
        assert!(told["nes"]["events"]["document"]["didChange"].is_object(), "{told}");
        assert_eq!(told["positionEncoding"], "utf-16");
        let session = client.ask("nes/start", &json!({}))["sessionId"].as_str().unwrap().to_owned();
        let open = json!({"sessionId": session, "uri": URI, "languageId": "rust", "version": 1, "text": "fn a() {}"});
        client.note("document/didOpen", &open.to_string());
        let place_of = json!({"line": 0, "character": 3});
        let answer = client.ask(
            "nes/suggest",
            &json!({"sessionId": session, "uri": URI, "version": 1, "position": place_of, "triggerKind": "manual"}),
        );
        assert!(answer["suggestions"].is_array(), "{answer}");
        client.ask("_test/echo", &json!({}));
        let log = place.log();
        for method in ["nes/start", "document/didOpen", "nes/suggest"] {
            assert_eq!(log.heard(method), [""; 0], "{method}");
        }
    });
}

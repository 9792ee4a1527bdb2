//! Capabilities, sessions, settings, names of methods.

use serde_json::{Value, json};

use super::{Editor, URI, failure, position};
use crate::{error_of, nudge};

const VERSIONS: [u64; 2] = [1, 2];

fn capabilities(editor: &Editor) -> &Value {
    &editor.initialized[if editor.version == 1 { "agentCapabilities" } else { "capabilities" }]
}

#[test]
fn everything_is_advertised_twice() {
    for version in VERSIONS {
        let editor = Editor::new(version);
        let ours = capabilities(&editor);
        let nes = &ours["nes"];
        assert_eq!(nes["events"]["document"]["didChange"], json!({"syncKind": "incremental"}));
        for event in ["didOpen", "didClose", "didSave", "didFocus"] {
            assert_eq!(nes["events"]["document"][event], json!({}));
        }
        for kind in ["recentFiles", "editHistory", "userActions"] {
            assert!(nes["context"][kind]["maxCount"].is_u64(), "{kind}: {nes}");
        }
        for kind in ["relatedSnippets", "openFiles", "diagnostics"] {
            assert_eq!(nes["context"][kind], json!({}), "{kind}");
        }
        assert_eq!(ours["positionEncoding"], "utf-16");
        assert_eq!((&ours["_meta"]["nes"], &ours["_meta"]["positionEncoding"]), (nes, &json!("utf-16")));
        editor.finish();
    }
}

#[test]
fn the_first_encoding_that_is_known_is_chosen() {
    let cases = [
        (json!(["utf-32", "utf-8"]), "utf-32"),
        (json!(["utf-7", "utf-8", "utf-16"]), "utf-8"),
        (json!(["utf-7"]), "utf-16"),
        (json!([]), "utf-16"),
        (json!("utf-8"), "utf-16"),
    ];
    for version in VERSIONS {
        for (offered, chosen) in &cases {
            let editor = Editor::with(version, &json!({"positionEncodings": offered}), &json!({}));
            assert_eq!(capabilities(&editor)["positionEncoding"], *chosen, "{offered}");
            // Some SDKs let only `_meta` through.
            let mirrored = json!({"_meta": {"positionEncodings": offered, "nes": {"jump": {}}}});
            let editor = Editor::with(version, &mirrored, &json!({}));
            assert_eq!(capabilities(&editor)["positionEncoding"], *chosen, "{offered}");
        }
    }
}

#[test]
fn sessions_begin_and_end() {
    for version in VERSIONS {
        let mut editor = Editor::new(version);
        let start = json!({
            "workspaceUri": "file:///no/such/folder",
            "workspaceFolders": [{"uri": "file:///no/such/folder", "name": "none"}],
            "repository": {"name": "r", "owner": "o", "remoteUrl": "https://git.example.org/o/r.git"},
        });
        let other = editor.start(&start);
        assert_ne!(editor.session, other);
        assert_eq!(editor.request("nes/close", &json!({"sessionId": other}))["result"], json!({}));
        let again = editor.request("nes/close", &json!({"sessionId": other}));
        assert_eq!(failure(&again), (-32002, "unknown_session"));
        let mut ask = editor.ask(URI, 1, &position(0, 0));
        ask["sessionId"] = json!(other);
        assert_eq!(failure(&editor.request("nes/suggest", &ask)), (-32002, "unknown_session"));
        editor.open(URI, 1, "fn a() {}\n");
        assert!(editor.suggest(URI, 1, &position(0, 0)).is_empty());
        editor.finish();
    }
}

#[test]
fn initialize_comes_first() {
    let mut nudge = nudge(&["acp"]);
    nudge.line(r#"{"jsonrpc":"2.0","method":"document/didSave","params":{"sessionId":"s","uri":"u"}}"#);
    nudge.line(r#"{"jsonrpc":"2.0","id":1,"method":"nes/start","params":{}}"#);
    assert_eq!(error_of(&nudge.next_json().unwrap()), (-32600, json!(1)));
}

#[test]
fn methods_are_known_with_an_underscore_too() {
    for version in VERSIONS {
        let mut editor = Editor::new(version);
        let session = editor.request("_nes/start", &json!({}))["result"]["sessionId"].clone();
        let document = |members: Value| {
            let mut params = json!({"sessionId": session, "uri": URI});
            params.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            params
        };
        let range = json!({"start": position(0, 0), "end": position(0, 1)});
        editor
            .notify("_document/didOpen", &document(json!({"languageId": "rust", "version": 1, "text": "a"})));
        let change = json!({"version": 2, "contentChanges": [{"range": range, "text": "b"}]});
        editor.notify("_document/didChange", &document(change));
        let focus = json!({"version": 2, "position": position(0, 0), "visibleRange": range});
        editor.notify("_document/didFocus", &document(focus));
        editor.notify("_document/didSave", &document(json!({})));
        let ask = document(json!({"version": 2, "position": position(0, 1), "triggerKind": "manual"}));
        assert!(editor.request("_nes/suggest", &ask)["result"]["suggestions"].is_array());
        editor.notify("_nes/accept", &json!({"sessionId": session, editor.id_member(): "none"}));
        editor.notify("_nes/reject", &json!({"sessionId": session, editor.id_member(): "none"}));
        editor.notify("_document/didClose", &document(json!({})));
        assert_eq!(failure(&editor.request("_nes/suggest", &ask)), (-32002, "unknown_document"));
        assert_eq!(editor.request("_nes/close", &json!({"sessionId": session}))["result"], json!({}));
        editor.finish();
    }
}

#[test]
fn settings_are_told_and_changed() {
    for version in VERSIONS {
        let capabilities = json!({"session": {"configOptions": {"boolean": {}}}});
        let mut editor = Editor::with(version, &capabilities, &json!({}));
        let id = if version == 1 { "id" } else { "configId" };
        let started = editor.request("nes/start", &json!({}))["result"].clone();
        let options = started["configOptions"].as_array().unwrap();
        let about: Vec<_> = options.iter().map(|it| (&it[id], &it["type"], &it["currentValue"])).collect();
        assert_eq!(
            about,
            [
                (&json!("engine"), &json!("select"), &json!("local")),
                (&json!("eagerness"), &json!("select"), &json!("medium")),
                (&json!("enabled"), &json!("boolean"), &json!(true)),
            ]
        );
        let set = |session: &Value, config: &str, kind: Option<&str>, value: Value| {
            let mut params = json!({"sessionId": session, "configId": config, "value": value});
            if let Some(kind) = kind {
                params["type"] = json!(kind);
            }
            params
        };
        let session = &started["sessionId"];
        let method = "session/set_config_option";
        let kind = (version == 2).then_some("id");
        let answer = editor.request(method, &set(session, "eagerness", kind, json!("high")));
        let mut expected = options.clone();
        expected[1]["currentValue"] = json!("high");
        assert_eq!(answer["result"]["configOptions"], json!(expected));
        let answer = editor.request(method, &set(session, "enabled", Some("boolean"), json!(false)));
        expected[2]["currentValue"] = json!(false);
        assert_eq!(answer["result"]["configOptions"], json!(expected));
        for (config, kind, value) in [
            ("eagerness", kind, json!("wild")),
            ("no_such", kind, json!("x")),
            ("enabled", Some("boolean"), json!("true")),
            ("enabled", kind, json!(7)),
        ] {
            let answer = editor.request(method, &set(session, config, kind, value));
            assert_eq!(failure(&answer), (-32602, ""), "{config}");
        }
        let answer = editor.request(method, &set(&json!("nobody"), "enabled", Some("boolean"), json!(true)));
        assert_eq!(failure(&answer), (-32002, "unknown_session"));
        editor.finish();
    }
}

#[test]
fn params_that_do_not_fit_are_refused_and_events_ignored() {
    for version in VERSIONS {
        let mut editor = Editor::new(version);
        let sound = editor.ask(URI, 1, &position(0, 0));
        for missing in ["sessionId", "uri", "version", "position", "triggerKind"] {
            let mut ask = sound.clone();
            ask.as_object_mut().unwrap().remove(missing);
            let response = editor.request("nes/suggest", &ask);
            assert_eq!(failure(&response).0, -32602, "{missing}");
            assert!(response["error"]["message"].as_str().unwrap().contains(missing), "{response}");
        }
        editor.notify("document/didOpen", &json!({"sessionId": 5}));
        editor.notify("document/didChange", &json!([]));
        editor.notify("nes/accept", &json!({}));
        editor.event("didOpen", URI, &json!({}));
        let response = editor.request("nes/suggest", &sound);
        assert_eq!(failure(&response), (-32002, "unknown_document"));
        editor.finish();
    }
}

//! Settings of a session, as config options.

use nudge_nes::SettingValue;
use nudge_predict::Eagerness;
use nudge_wire::{Version, acp, nes::StartRequest};
use serde_json::{Value, json};

use crate::editor::{Editor, URI, client, edit, manual, name};

fn id(value: &str) -> SettingValue {
    SettingValue::Id(value.to_owned())
}

fn set(editor: &Editor, option: &str, value: &SettingValue) -> Result<Vec<Value>, String> {
    let set = editor.connection.set_config_option(&editor.session, option, value);
    set.map_err(|error| name(&error))
}

fn values(options: &[Value]) -> Vec<&Value> {
    options.iter().map(|option| &option["currentValue"]).collect()
}

#[test]
fn the_settings_have_the_shapes_of_the_protocol() {
    let editor = Editor::new();
    let options = |version: Version, capabilities: Value| {
        let connection = editor.service.connect(&client(version, &capabilities));
        connection.start(&StartRequest::default()).unwrap().config_options.unwrap()
    };
    let v1 = options(Version::V1, json!({"session": {"configOptions": {"boolean": {}}}}));
    let typed: Vec<acp::v1::SessionConfigOption> = serde_json::from_value(json!(v1)).unwrap();
    assert_eq!(json!(typed), json!(v1));
    assert_eq!(v1[1]["id"], "eagerness");
    assert_eq!((&v1[2]["type"], &v1[2]["currentValue"]), (&json!("boolean"), &json!(true)));
    let v2 = options(Version::V2, json!({}));
    let typed: Vec<acp::v2::SessionConfigOption> = serde_json::from_value(json!(v2)).unwrap();
    assert_eq!(json!(typed), json!(v2));
    assert_eq!((&v2[1]["configId"], &v2[2]["type"]), (&json!("eagerness"), &json!("boolean")));
    // A client of v1 has to say that it knows booleans.
    let plain = options(Version::V1, json!({}));
    assert_eq!((&plain[2]["type"], &plain[2]["currentValue"]), (&json!("select"), &json!("on")));
    assert_eq!(values(&plain), ["fake", "medium", "on"]);
}

#[test]
fn a_setting_holds_from_then_on() {
    let editor = Editor::new();
    editor.open(URI, 1, "one\n");
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "1")])]);
    let ask = || editor.suggest(manual(editor.ask(1, 0, 0))).unwrap();
    ask();
    assert_eq!(editor.engine.last().eagerness, Eagerness::Medium);
    for (value, level) in [("low", Eagerness::Low), ("high", Eagerness::High), ("medium", Eagerness::Medium)]
    {
        assert_eq!(values(&set(&editor, "eagerness", &id(value)).unwrap()), ["fake", value, "on"]);
        ask();
        assert_eq!(editor.engine.last().eagerness, level);
    }
    // What is shown was chosen by the settings before.
    editor.engine.says(|_| vec![edit(URI, &[(0..3, "2")])]);
    assert_eq!(crate::editor::edits(&ask().suggestions[0])[0].new_text, "1");
    set(&editor, "eagerness", &id("high")).unwrap();
    assert_eq!(crate::editor::edits(&ask().suggestions[0])[0].new_text, "2");
    assert_eq!(values(&set(&editor, "enabled", &SettingValue::Boolean(false)).unwrap())[2], "off");
    let response = ask();
    assert!(response.suggestions.is_empty(), "not even what was shown");
    assert_eq!(json!(response)["_meta"]["nudge"]["reason"], "suggestions are turned off");
    assert_eq!(values(&set(&editor, "enabled", &id("on")).unwrap())[2], "on");
    assert_eq!(ask().suggestions.len(), 1);
    assert_eq!(values(&set(&editor, "engine", &id("fake")).unwrap())[0], "fake");
}

#[test]
fn what_cannot_be_set_changes_nothing() {
    let editor = Editor::new();
    for (option, value) in [
        ("eagerness", id("wild")),
        ("eagerness", SettingValue::Boolean(true)),
        ("enabled", id("maybe")),
        ("engine", id("gpt")),
        ("engine", SettingValue::Boolean(true)),
        ("colour", id("blue")),
    ] {
        assert_eq!(set(&editor, option, &value).unwrap_err(), "-32602", "{option} {value:?}");
    }
    let unchanged = set(&editor, "eagerness", &id("medium")).unwrap();
    assert_eq!(values(&unchanged), ["fake", "medium", "on"]);
    let nobody = editor.connection.set_config_option("nobody", "enabled", &id("on"));
    assert_eq!(name(&nobody.unwrap_err()), "unknown_session");
}

#[test]
fn a_setting_is_the_sessions_own() {
    let editor = Editor::new();
    let other = crate::editor::begin(&editor.connection, &json!({}));
    set(&editor, "eagerness", &id("high")).unwrap();
    let options = editor.connection.set_config_option(&other, "enabled", &id("on")).unwrap();
    assert_eq!(values(&options), ["fake", "medium", "on"]);
}

#[test]
fn everything_is_wanted_in_pieces() {
    let editor = Editor::new();
    let capabilities = json!(editor.connection.capabilities());
    let document = &capabilities["events"]["document"];
    assert_eq!(document["didChange"]["syncKind"], "incremental");
    for event in ["didOpen", "didClose", "didSave", "didFocus"] {
        assert_eq!(document[event], json!({}), "{event}");
    }
    let context = &capabilities["context"];
    for kind in ["recentFiles", "editHistory", "userActions"] {
        assert!(context[kind]["maxCount"].as_u64().is_some_and(|count| count > 0), "{kind}");
    }
    for kind in ["relatedSnippets", "openFiles", "diagnostics"] {
        assert_eq!(context[kind], json!({}), "{kind}");
    }
    assert_eq!(editor.connection.position_encoding().as_str(), "utf-16");
}

//! Every example of the NES proposal goes through the types with nothing lost, as it is and as v2 would say it.

use std::{fs, path::Path};

use nudge_wire::{
    RawJson, Version,
    caps::{AgentInit, ClientInit},
};
use serde_json::{Map, Value, json};

use crate::{
    conform::{SHARED, ours},
    golden::{Shape, VERSIONS, shape_of, shapes},
};

#[test]
fn examples_come_back_as_they_were() {
    let path = format!("{SHARED}/seeds/000_6e6476737bdd1089.txt");
    if !Path::new(&path).exists() {
        eprintln!("skipped: no {path}");
        return;
    }
    let text = fs::read_to_string(path).expect("a readable file");
    let examples = examples(&text);
    assert_eq!(examples.len(), text.matches("```json").count());
    assert_eq!(examples.len(), 23);
    for version in VERSIONS {
        let shapes = shapes(version);
        for example in &examples {
            check(version, &shapes, &in_version(version, example.clone()));
        }
    }
}

/// The JSON blocks of a page.
fn examples(text: &str) -> Vec<Value> {
    let blocks = text.split("```json").skip(1).filter_map(|rest| rest.split_once('\n')?.1.split_once("```"));
    blocks
        .map(|(block, _)| {
            let block = block.replace("{ ... }", "{}");
            serde_json::from_str(&block).unwrap_or_else(|error| panic!("{block}: {error}"))
        })
        .collect()
}

/// The example in that version, whose only differences are names.
fn in_version(version: Version, mut example: Value) -> Value {
    if version == Version::V1 {
        return example;
    }
    let suggestions = example.pointer_mut("/result/suggestions").and_then(Value::as_array_mut);
    for suggestion in suggestions.into_iter().flatten() {
        rename(suggestion, "id", "suggestionId");
    }
    if let Some(params) = example.get_mut("params") {
        rename(params, "id", "suggestionId");
    }
    rename(&mut example, "agentCapabilities", "capabilities");
    rename(&mut example, "clientCapabilities", "capabilities");
    example
}

fn rename(value: &mut Value, from: &str, to: &str) {
    let members = value.as_object_mut().expect("an object");
    if let Some(member) = members.remove(from) {
        members.insert(to.to_owned(), member);
    }
}

fn check(version: Version, shapes: &[Shape], example: &Value) {
    if let Some(capabilities) =
        ["clientCapabilities", "agentCapabilities", "capabilities"].iter().find_map(|name| example.get(name))
    {
        return check_capabilities(version, example, capabilities);
    }
    let (shape, payload) = classify(shapes, example);
    let again = (shape.recode)(&payload).unwrap_or_else(|error| panic!("{example:#}: {error}"));
    assert_eq!(again, payload, "{version:?} {}", shape.name);
    for (name, validator) in ours(shape) {
        assert!(validator.is_valid(&payload), "{version:?} {example:#} against {name}");
    }
}

/// Which shape an example has, and the part of it that has it.
fn classify<'a>(shapes: &'a [Shape], example: &Value) -> (&'a Shape, Value) {
    if let Some(method) = example.get("method").and_then(Value::as_str) {
        let shape = shapes.iter().find(|shape| shape.methods.contains(&method));
        return (shape.unwrap_or_else(|| panic!("unknown method {method}")), example["params"].clone());
    }
    if let Some(error) = example.get("error") {
        return (shape_of("nes.error", shapes), error.clone());
    }
    if let Some(options) = example.get("configOptions") {
        // Shown on its own there; it is part of this response.
        let response = json!({ "sessionId": "s", "configOptions": options });
        return (shape_of("nes-start.response", shapes), response);
    }
    let result = example.get("result").unwrap_or_else(|| panic!("unknown example {example:#}"));
    let name = match result.as_object().map(Map::len) {
        Some(0) => "nes-close.response",
        _ if result.get("suggestions").is_some() => "nes-suggest.response",
        _ if result.get("sessionId").is_some() => "nes-start.response",
        _ => panic!("unknown result {result:#}"),
    };
    (shape_of(name, shapes), result.clone())
}

/// Reads what an excerpt of `initialize` says of NES and writes it again into an empty one.
fn check_capabilities(version: Version, example: &Value, capabilities: &Value) {
    let raw = RawJson::of(example).expect("an example is JSON");
    let empty = RawJson::of(&json!({})).expect("an object is JSON");
    let of_agent =
        capabilities["nes"].get("events").is_some() || capabilities.get("positionEncoding").is_some();
    let written: Value = if of_agent {
        let from = AgentInit::new(version, raw);
        let mut to = AgentInit::new(version, empty);
        if let Some(nes) = from.nes() {
            to = to.with_nes(&nes).expect("an empty object takes members");
        }
        if let Some(encoding) = from.position_encoding() {
            to = to.with_position_encoding(&encoding).expect("an empty object takes members");
        }
        to.result.to().expect("what was written is JSON")
    } else {
        let from = ClientInit::new(version, raw);
        let mut to = ClientInit::new(version, empty);
        if let Some(nes) = from.nes() {
            to = to.with_nes(&nes).expect("an empty object takes members");
        }
        if !from.position_encodings().is_empty() {
            to = to
                .with_position_encodings(&from.position_encodings())
                .expect("an empty object takes members");
        }
        to.params.to().expect("what was written is JSON")
    };
    let (name, _) = example.as_object().and_then(|members| members.iter().next()).expect("one member");
    let mut expected = capabilities.clone();
    expected["_meta"] = capabilities.clone();
    assert_eq!(written, json!({ name: expected }), "{version:?}");
}

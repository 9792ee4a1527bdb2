//! Messages fit our schemas and the ones NES was proposed with.

use std::{fs, path::Path};

use jsonschema::Validator;
use nudge_wire::Version;
use serde_json::{Map, Value, json};

use crate::golden::{Shape, VERSIONS, goldens, schema_text, shape_of, shapes};

/// Where the proposal and its schemas are on machines that have them.
pub(crate) const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");

/// A validator of one definition of a schema.
pub(crate) fn validator(schema: &Value, def: &str) -> Validator {
    let root = json!({
        "$schema": schema["$schema"],
        "$ref": format!("#/$defs/{def}"),
        "$defs": needed_by(def, &schema["$defs"]),
    });
    jsonschema::options().should_validate_formats(true).build(&root).expect("a valid schema")
}

/// A definition and those it refers to, because all of ACP takes long to compile.
fn needed_by(def: &str, all: &Value) -> Map<String, Value> {
    let mut needed = Map::new();
    let mut names = vec![def.to_owned()];
    while let Some(name) = names.pop() {
        let def = all.get(&name).unwrap_or_else(|| panic!("no definition of {name}"));
        let text = def.to_string();
        let references = text.split("\"#/$defs/").skip(1).filter_map(|rest| rest.split('"').next());
        names.extend(references.filter(|name| !needed.contains_key(*name)).map(str::to_owned));
        needed.insert(name, def.clone());
    }
    needed
}

/// Our validators of a shape, each with its name.
pub(crate) fn ours(shape: &Shape) -> Vec<(String, Validator)> {
    let named = |(file, def): &(String, String)| {
        let schema = serde_json::from_str(&schema_text(file)).expect("spec/schema is JSON");
        (format!("{file} {def}"), validator(&schema, def))
    };
    shape.defs.iter().map(named).collect()
}

/// The schema NES was proposed with; `None`, and said so, on machines that have none.
pub(crate) fn proposed(version: Version) -> Option<Value> {
    let path = format!("{SHARED}/schema/acp-v{}-2026-08.schema.json", version.number());
    if !Path::new(&path).exists() {
        eprintln!("skipped: no {path}");
        return None;
    }
    Some(serde_json::from_str(&fs::read_to_string(path).expect("a readable file")).expect("a schema is JSON"))
}

/// The proposed validator of a shape, if it is one of NES.
pub(crate) fn theirs(shape: &Shape, proposed: &Value) -> Option<(String, Validator)> {
    let (_, def) = shape.defs.first().filter(|_| shape.is_nes())?;
    let def = if def == "NesError" { "Error" } else { def };
    Some((format!("proposed {def}"), validator(proposed, def)))
}

fn assert_valid((name, validator): &(String, Validator), golden: &str, value: &Value) {
    if let Err(error) = validator.validate(value) {
        panic!("{golden} against {name}: {error} at {}", error.instance_path());
    }
}

#[test]
fn goldens_fit_our_schemas() {
    for version in VERSIONS {
        let shapes = shapes(version);
        for golden in goldens(version) {
            for validator in ours(shape_of(&golden.name, &shapes)) {
                assert_valid(&validator, &golden.name, golden.payload());
            }
        }
    }
}

#[test]
fn nes_goldens_fit_the_proposed_schemas() {
    for version in VERSIONS {
        let Some(proposed) = proposed(version) else { return };
        let shapes = shapes(version);
        for golden in goldens(version) {
            if let Some(validator) = theirs(shape_of(&golden.name, &shapes), &proposed) {
                assert_valid(&validator, &golden.name, golden.payload());
            }
        }
    }
}

#[test]
fn config_options_in_goldens_are_those_of_acp() {
    for version in VERSIONS {
        let Some(proposed) = proposed(version) else { return };
        let validator =
            ("proposed SessionConfigOption".to_owned(), validator(&proposed, "SessionConfigOption"));
        let goldens = goldens(version);
        let options: Vec<&Value> = goldens
            .iter()
            .filter_map(|golden| golden.payload().get("configOptions")?.as_array())
            .flatten()
            .collect();
        assert!(!options.is_empty());
        for option in options {
            assert_valid(&validator, "configOptions", option);
        }
    }
}

/// Values of which v1 knows only the listed ones and v2 takes any.
#[test]
fn enums_are_closed_in_v1_and_open_in_v2() {
    let cases = [
        ("nes-suggest.request", "/triggerKind"),
        ("nes-suggest.request", "/context/diagnostics/0/severity"),
        ("nes-reject.notification", "/reason"),
        ("nes-suggest.response.jump", "/suggestions/0/kind"),
    ];
    for (golden, place) in cases {
        check_change(golden, place, &json!("_new"), |version| version == Version::V2);
    }
    check_change("initialize.request", "/{client}/positionEncodings/0", &json!("utf-7"), |_| false);
    check_change(
        "initialize.response",
        "/{agent}/nes/events/document/didChange/syncKind",
        &json!("_x"),
        |_| false,
    );
}

#[test]
fn v2_demands_uris_and_edits() {
    check_change("document-didOpen.notification", "/uri", &json!("not a uri"), |version| {
        version == Version::V1
    });
    check_change("nes-start.request", "/workspaceUri", &json!("not a uri"), |version| version == Version::V1);
    check_change("nes-suggest.response.edit", "/suggestions/0/edits", &json!([]), |version| {
        version == Version::V1
    });
}

/// Changes one place of a golden file and sees that our schema and the proposed one judge it as expected.
fn check_change(golden: &str, place: &str, new: &Value, expected: impl Fn(Version) -> bool) {
    for version in VERSIONS {
        let (client, agent) = match version {
            Version::V1 => ("clientCapabilities", "agentCapabilities"),
            Version::V2 => ("capabilities", "capabilities"),
        };
        let place = place.replace("{client}", client).replace("{agent}", agent);
        let shapes = shapes(version);
        let shape = shape_of(golden, &shapes);
        let golden = goldens(version).into_iter().find(|file| file.name == golden).expect("a golden file");
        let mut payload = golden.payload().clone();
        *payload.pointer_mut(&place).unwrap_or_else(|| panic!("{}: no {place}", golden.name)) = new.clone();
        let theirs = proposed(version).and_then(|proposed| theirs(shape, &proposed));
        for (name, validator) in
            ours(shape).into_iter().filter(|(name, _)| name.starts_with("nes")).chain(theirs)
        {
            assert_eq!(validator.is_valid(&payload), expected(version), "{version:?} {place} against {name}");
        }
    }
}

//! The table of update kinds: what it says, that it is complete, and that each kind has examples.

use std::{collections::BTreeSet, fs, path::Path};

use nudge_bridge::{UpdateKind, UpdatePortion, UpdateSpeaker};
use nudge_wire::acp::v1;
use serde_json::{Value, json};

use crate::mapping::SPEC;

/// Only stored, or only a name in the store: never sent.
const UNSENT: [UpdateKind; 3] =
    [UpdateKind::PermissionAnswer, UpdateKind::SignedReasoning, UpdateKind::Foreign];

/// A kind without a row.
const UNKNOWN: &str = "_weather";

/// So that a difference in how a kind is treated is read by whoever makes it, and by whoever reviews it.
#[test]
fn the_page_says_how_each_kind_is_treated() {
    nudge_testkit::check_section(format!("{SPEC}/kinds.md"), "kinds", &markdown());
}

fn markdown() -> String {
    let row = |kind: &UpdateKind| {
        let word = |is: bool, word: &'static str| if is { word } else { "" };
        let needs = [
            word(kind.is_carried_without_compaction(), "compaction"),
            word(kind.is_carried_without_subagents(), "subagents"),
        ];
        let speaker = format!("{:?}", kind.speaker()).to_lowercase();
        let portion = format!("{:?}", kind.portion()).to_lowercase();
        let is =
            [word(kind.is_stored(), "yes"), word(kind.is_replayed(), "yes"), word(kind.is_state(), "yes")];
        let name = if kind.name() == UNKNOWN { "any other" } else { &format!("`{}`", kind.name()) };
        format!("| {name} | {speaker} | {portion} | {} | {} |\n", is.join(" | "), needs.concat())
    };
    let head = "| kind | who speaks | portion | stored | replayed | tells of now | carried for v1 clients without |\n\
                | --- | --- | --- | --- | --- | --- | --- |\n";
    let kinds = UpdateKind::KNOWN.iter().cloned().chain([UpdateKind::of(UNKNOWN)]);
    kinds.fold(head.to_owned(), |table, kind| table + &row(&kind))
}

#[test]
fn what_the_columns_say_fits_together() {
    for kind in UpdateKind::KNOWN {
        assert_eq!(UpdateKind::of(kind.name()), *kind);
        assert!(kind.is_stored() || !kind.is_replayed(), "{kind:?} is replayed from the store");
        assert_eq!(kind.portion() == UpdatePortion::Chunk, kind.name().ends_with("_chunk"), "{kind:?}");
        assert!(!kind.is_state() || kind.speaker() == UpdateSpeaker::Nobody, "{kind:?}");
    }
    let chunks: Vec<_> = UpdateKind::KNOWN.iter().filter(|kind| kind.is_message_chunk()).collect();
    let (user, agent) = (&UpdateKind::UserMessageChunk, &UpdateKind::AgentMessageChunk);
    assert_eq!(chunks, [user, agent, &UpdateKind::AgentThoughtChunk]);
}

#[test]
fn what_an_agent_calls_by_a_name_of_ours_is_foreign() {
    assert_eq!(UpdateKind::of_agent("_nudge/permission_answer"), UpdateKind::Foreign);
    assert_eq!(UpdateKind::of_agent("_nudge/other").name(), "_foreign");
    assert_eq!(UpdateKind::of_agent("_weather").name(), "_weather");
    assert_eq!(UpdateKind::of_agent("plan"), UpdateKind::Plan);
}

/// Fails for a name without a row.
fn check_known(names: &BTreeSet<String>, of: &str) {
    let unknown: Vec<_> =
        names.iter().filter(|name| matches!(UpdateKind::of(name), UpdateKind::Unknown(_))).collect();
    assert!(names.len() > 10, "the kinds of {of} were not read");
    assert!(unknown.is_empty(), "{of} has kinds without a row in crates/bridge/src/kind.rs: {unknown:?}");
}

#[test]
fn every_kind_of_the_official_types_has_a_row() {
    let refused = serde_json::from_value::<v1::SessionUpdate>(json!({ "sessionUpdate": "?" }));
    let listed = refused.expect_err("there is no such kind").to_string();
    let (_, listed) = listed.split_once("expected one of ").expect("the error names all kinds");
    let names = listed.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
    check_known(&names, "the types of v1");
}

#[test]
fn every_kind_of_the_official_schemas_has_a_row() {
    for version in [1, 2] {
        let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
        let path = format!("{shared}/schema/acp-v{version}-2026-08.schema.json");
        if !Path::new(&path).exists() {
            eprintln!("skipped: no {path}");
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable file");
        let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
        let update = &schema["$defs"]["SessionUpdate"];
        let kinds = ["oneOf", "anyOf"].iter().flat_map(|list| update[list].as_array().into_iter().flatten());
        let name = |kind: &Value| kind["properties"]["sessionUpdate"]["const"].as_str().map(str::to_owned);
        check_known(&kinds.filter_map(name).collect(), &path);
    }
}

#[test]
fn every_kind_that_is_sent_has_an_example() {
    let mut shown = BTreeSet::new();
    for file in fs::read_dir(format!("{SPEC}/golden/mapping")).expect("the folder is in the repository") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a readable file");
        collect_kinds(&serde_json::from_str(&text).expect("examples are JSON"), &mut shown);
    }
    let sent = UpdateKind::KNOWN.iter().filter(|kind| !UNSENT.contains(kind));
    let missing: Vec<_> = sent.filter(|kind| !shown.contains(kind.name())).collect();
    assert!(missing.is_empty(), "spec/golden/mapping has no example of {missing:?}");
}

/// The kinds of the updates in a value, at any depth.
fn collect_kinds(value: &Value, kinds: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_kinds(item, kinds)),
        Value::Object(members) => {
            kinds.extend(members.get("sessionUpdate").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| collect_kinds(member, kinds));
        }
        _ => {}
    }
}

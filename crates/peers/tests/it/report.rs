use std::time::Duration;

use nudge_peers::{
    chat::Version,
    recipe,
    report::{self, Tried},
    run::Outcome,
    steps::Verdict,
};
use serde_json::json;

fn outcome() -> Outcome {
    let initialized = json!({ "protocolVersion": 1,
        "agentCapabilities": { "loadSession": true, "nes": {}, "session": { "inject": { "modes": ["queue"] } },
            "sessionCapabilities": { "list": {}, "delete": {} } },
        "_meta": { "steering": { "supported": true }, "nudge": { "steerTier": 4 } } });
    let steps = vec![
        ("prompt", Verdict::Pass, Duration::ZERO),
        ("permission", Verdict::NotOffered("never asks"), Duration::ZERO),
        ("sign-in", Verdict::NotOffered("no sign-in on a terminal"), Duration::ZERO),
        ("form", Verdict::Fail("it asked 2 times".to_owned()), Duration::ZERO),
        ("providers", Verdict::Pass, Duration::ZERO),
        ("cancel", Verdict::Fail("the turn ended as end_turn".to_owned()), Duration::ZERO),
    ];
    Outcome { agent: "pi-acp".to_owned(), version: Version::V1, through_nudge: true, initialized, steps }
}

#[test]
fn the_table_says_what_failed_and_why() {
    let table = report::table(&[outcome()]);
    assert!(table.contains("| pi-acp | v1 nudge | pass | – | – | FAIL | pass | FAIL |"), "{table}");
    assert!(table.contains("pi-acp v1 nudge cancel: FAIL: the turn ended as end_turn"), "{table}");
}

#[test]
fn the_page_says_what_is_added() {
    let recipes = recipe::chosen(&["pi-acp".to_owned()]).unwrap();
    let offers =
        vec![json!({ "agentCapabilities": { "loadSession": true, "sessionCapabilities": { "list": {} } } })];
    let agents = [Tried { recipe: &recipes[0], offers }];
    let table = report::agents_table(&agents, &[outcome()]);
    let row = "| pi-acp 0.0.34 | list load | delete inject nes steering | 4: cancel and prompt again | – | no | yes | v1 2/4 |";
    assert!(table.contains(row), "{table}");
}

#[test]
fn the_table_goes_between_its_marks() {
    let page = "a\n<!-- peers -->\nold\n<!-- /peers -->\nb\n";
    assert_eq!(report::between(page, "new\n").unwrap(), "a\n<!-- peers -->\nnew\n<!-- /peers -->\nb\n");
    assert_eq!(report::between("no marks", "new\n"), None);
}

#[test]
fn the_readme_counts_the_agents_of_the_table() {
    let table = include_str!("../../../../docs/agents.md").split("<!-- peers -->").nth(1).unwrap();
    let table = table.split("<!-- /peers -->").next().unwrap();
    let agents = table.lines().filter(|line| line.starts_with("| ")).count() - 2;
    let readme = include_str!("../../../../README.md");
    assert!(readme.contains(&format!("[{agents} real agents]")), "the table has {agents} agents");
}

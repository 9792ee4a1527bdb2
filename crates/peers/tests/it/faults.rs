//! The fault matrix without an agent: its list, its judgement, its page, and that nothing goes on running.

use std::{
    collections::HashSet,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Command, Stdio},
};

use nudge_peers::{
    faults::{
        guard::RunGuard,
        outcome::{CancelFate, CaseObservation, FaultDefect, FaultOutcome, TriedCase},
        report,
        results::FaultResults,
        sign::SignSearch,
        steer::{SteerFate, fate_of},
        table::{self, FAULTS},
    },
    tee::{Record, Side},
};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_nudge-peers");
/// The faults through which the built-in agent is taken by tests.
const TESTED: &str = include_str!("../../../gateway/tests/it/models/faults/table.rs");

#[test]
fn the_faults_of_the_tests_are_all_here() {
    let calls = TESTED.split("fault(").chain(TESTED.split("raw(")).skip(1);
    let names = calls.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    let names: HashSet<&str> = names.collect();
    assert!(names.len() > 15, "the table is read as {names:?}");
    let missing: Vec<_> = names.into_iter().filter(|name| table::named(name).is_none()).collect();
    assert!(missing.is_empty(), "the matrix lacks {missing:?}");
}

#[test]
fn faults_have_names_of_their_own() {
    let names: HashSet<_> = FAULTS.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), FAULTS.len());
    assert!(FAULTS.iter().filter(|fault| fault.is_quick).count() <= 10, "the short form is to be short");
}

#[test]
fn the_page_is_made_of_the_results() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/faults.md");
    nudge_testkit::check_section(page, "faults", &report::section(&FaultResults::read().unwrap()));
}

#[test]
fn what_counts_as_a_defect() {
    let good = TriedCase { cap: 60, sign: Some(0.3), end: Some(0.3), ..TriedCase::default() };
    let check = |tried: TriedCase, expected: &[&str]| {
        let words: Vec<_> = tried.defects().into_iter().map(FaultDefect::word).collect();
        assert_eq!(words, expected, "{tried:?}");
    };
    check(good.clone(), &[]);
    check(TriedCase { sign: None, ..good.clone() }, &["stuck"]);
    check(TriedCase { dead: vec!["steer".to_owned()], ..good.clone() }, &["dead"]);
    check(TriedCase { cancel: Some(CancelFate::Over(2.0)), ..good.clone() }, &[]);
    check(TriedCase { cancel: Some(CancelFate::Over(2.1)), ..good.clone() }, &["no cancel"]);
    check(TriedCase { cancel: Some(CancelFate::Never), ..good.clone() }, &["no cancel"]);
    for fate in
        [SteerFate::Reached(0.1), SteerFate::ReachedLater, SteerFate::Refused("by an error".to_owned())]
    {
        check(TriedCase { steer: Some(fate), ..good.clone() }, &[]);
    }
    check(TriedCase { steer: Some(SteerFate::Lost("it was accepted".to_owned())), ..good }, &["lost"]);
}

#[test]
fn who_says_that_a_message_was_not_taken_has_not_lost_it() {
    let is_lost = |answer: Value| matches!(fate_of(&answer), SteerFate::Lost(_));
    for told in [
        json!({ "error": { "code": -32602, "message": "no turn runs" } }),
        json!({ "result": { "outcome": "promptRequired" } }),
        json!({ "result": { "stopReason": "cancelled" } }),
    ] {
        assert!(!is_lost(told.clone()), "{told}");
    }
    for silent in [
        json!({ "result": { "messageId": "m1" } }),
        json!({ "result": { "outcome": "injected" } }),
        json!({ "result": { "stopReason": "end_turn" } }),
    ] {
        assert!(is_lost(silent.clone()), "{silent}");
    }
}

#[test]
fn the_first_sign_is_what_a_client_shows() {
    let usual = ["A warning.".to_owned()];
    let search = SignSearch { session: "s", prompt: 7, struck: 100.0, usual: &usual };
    let update = |update: Value| json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } });
    let said =
        |text: &str| update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "text": text } }));
    let call = |status: &str| update(json!({ "sessionUpdate": "tool_call_update", "status": status }));
    let at = |at: f64, message: &Value| Record { at, to: Side::Client, line: message.to_string() };
    let unseen = [
        said("Half "),
        said("A warning."),
        call("in_progress"),
        update(json!({ "sessionUpdate": "usage_update" })),
        update(json!({ "sessionUpdate": "session_info_update", "title": "A title" })),
        json!({ "id": 6, "result": {} }),
        json!({ "method": "session/update", "params": { "sessionId": "t", "update": { "sessionUpdate": "plan" } } }),
    ];
    let seen = [
        said("It failed."),
        call("failed"),
        update(json!({ "sessionUpdate": "agent_thought_chunk", "content": { "text": "Hm" } })),
        json!({ "id": 7, "error": {} }),
        json!({ "id": 3, "method": "session/request_permission", "params": { "sessionId": "s" } }),
    ];
    for sign in &seen {
        let mut record = vec![at(99.0, sign), Record { to: Side::Agent, ..at(100.5, sign) }];
        record.extend(unseen.iter().map(|message| at(101.0, message)));
        assert_eq!(search.first_sign(&record), None, "nothing is to be seen yet");
        record.push(at(102.5, sign));
        assert_eq!(search.first_sign(&record), Some(2.5), "{sign}");
    }
}

fn outcome(agent: &str, fault: &str, observed: CaseObservation) -> FaultOutcome {
    let (agent, version, fault) = (agent.to_owned(), "1.2.3".to_owned(), fault.to_owned());
    FaultOutcome { agent, version, behind: false, fault, observed }
}

#[test]
fn newer_results_take_the_place_of_older_ones() {
    let tried = |sign| CaseObservation::Tried(TriedCase { cap: 60, sign, ..TriedCase::default() });
    let old = vec![
        outcome("opencode", "wrong key", tried(None)),
        outcome("nudge", "wrong key", tried(Some(1.0))),
        outcome("nudge", "no such fault", tried(Some(1.0))),
        outcome("nudge", "connection refused", tried(Some(1.0))),
    ];
    let new = vec![outcome("opencode", "wrong key", tried(Some(2.0)))];
    let results = FaultResults::default().with(old).with(new);
    let shown: Vec<_> = results.outcomes().iter().map(|outcome| (&*outcome.agent, &*outcome.fault)).collect();
    assert_eq!(shown, [("nudge", "connection refused"), ("nudge", "wrong key"), ("opencode", "wrong key")]);
    assert!(results.outcomes().iter().all(|outcome| outcome.defects().is_empty()));
    assert_eq!(FaultResults::parse(&results.text().unwrap()).unwrap(), results);
}

#[test]
fn the_tables_say_what_happened_and_why_not() {
    let stuck = TriedCase { cap: 30, dead: vec!["watch".to_owned()], ..TriedCase::default() };
    let results = FaultResults::default().with(vec![
        outcome("nudge", "stalled", CaseObservation::Skipped("the model was not asked".to_owned())),
        outcome("goose-1.52", "stalled", CaseObservation::Tried(stuck)),
    ]);
    let section = report::section(&results);
    for line in [
        "| Nudge's own 1.2.3 | 0 | 0 | 0 | 0 | 0 |  |  |",
        "| goose-1.52 1.2.3 | 1 | 1 | 1 | 0 | 0 | 30.0 s | more than 30.0 s |",
        "| stalled | – | > 30, **stuck**, **dead** |",
        "- Nudge's own 1.2.3, the model was not asked: stalled",
    ] {
        assert!(section.contains(line), "{line}: {section}");
    }
}

#[test]
fn what_runs_in_a_folder_ends_with_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let sleeps = |home: &Path, cwd: &Path| {
        Command::new("sleep").arg("600").env("HOME", home).current_dir(cwd).spawn().expect("sleep is there")
    };
    let mut ended =
        [sleeps(&folder.path().join("home"), elsewhere.path()), sleeps(elsewhere.path(), folder.path())];
    let mut other = sleeps(elsewhere.path(), elsewhere.path());
    let guard = RunGuard::start(Path::new(PROGRAM)).unwrap();
    guard.watch(folder.path()).unwrap();
    // As when the run is killed: nobody writes to the guard any more.
    drop(guard);
    for child in &mut ended {
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }
    assert!(!folder.path().exists(), "the folder is removed");
    assert!(other.try_wait().unwrap().is_none(), "what runs elsewhere is left alone");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn the_server_of_a_tool_dies_when_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("called");
    let mut server = Command::new(PROGRAM)
        .arg("frail-server")
        .arg(&told)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut ask = |method: &str| {
        let params = json!({ "protocolVersion": "2025-06-18", "name": "fall_over" });
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .unwrap();
        output.next().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
    };
    assert_eq!(ask("initialize").unwrap()["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(ask("server/discover").unwrap()["error"]["code"], -32601);
    assert_eq!(ask("tools/list").unwrap()["result"]["tools"][0]["name"], "fall_over");
    assert!(!told.exists());
    assert_eq!(ask("tools/call"), None, "it is gone without an answer");
    assert!(fs::exists(told).unwrap());
    server.wait().unwrap();
}

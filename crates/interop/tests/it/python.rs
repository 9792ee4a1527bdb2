//! The official Python SDK.

use serde_json::{Value, json};

use crate::programs::{OUR_AGENT, Outcome, nudge, package, run_with, target};

/// Runs one of the programs in `py`; `None`, having said why, where that is not possible.
pub(crate) fn python_with(program: &str, args: &[&str], env: &[(&str, &str)]) -> Option<Outcome> {
    let python = target().join("interop-py/bin/python");
    if !python.is_file() {
        nudge_testkit::skipped("the Python SDK is not installed; run crates/interop/setup");
        return None;
    }
    let program = package().join("py").join(program);
    let all = [&[program.to_str().expect("the path is UTF-8")], args].concat();
    Some(run_with(python, &all, env))
}

fn client(args: &[&str]) -> Option<Value> {
    Some(python_with("client.py", args, &[])?.ok().json().swap_remove(0))
}

#[test]
fn it_initialises_nudge() {
    let Some(report) = client(&["", nudge(), "acp", "--data", ""]) else { return };
    assert_eq!(report["initialized"]["protocolVersion"], 1);
    let info = json!({ "name": "nudge", "title": "Nudge", "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(report["initialized"]["agentInfo"], info);
    assert_eq!(report["refused"], -32601);
}

#[test]
fn it_has_a_turn_with_our_agent() {
    let Some(report) = client(&["tell me more", OUR_AGENT]) else { return };
    assert_eq!((&report["text"], &report["stopReason"]), (&json!("tell me more"), &json!("end_turn")));
}

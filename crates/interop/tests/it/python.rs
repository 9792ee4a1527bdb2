//! The official Python SDK.

use serde_json::{Value, json};

use crate::programs::{OUR_AGENT, nudge, package, run, target};

/// Runs the client in `py`; `None`, having said why, where that is not possible.
fn client(args: &[&str]) -> Option<Value> {
    let python = target().join("interop-py/bin/python");
    if !python.is_file() {
        nudge_testkit::skipped("the Python SDK is not installed; run crates/interop/setup");
        return None;
    }
    let program = package().join("py/client.py");
    let all = [&[program.to_str().expect("the path is UTF-8")], args].concat();
    Some(run(python, &all).ok().json().swap_remove(0))
}

#[test]
fn it_initialises_nudge() {
    let Some(report) = client(&["", nudge(), "acp"]) else { return };
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

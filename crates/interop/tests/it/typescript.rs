//! The official TypeScript SDK.

use serde_json::{Value, json};

use crate::programs::{OUR_AGENT, OUR_AGENT_V2, Outcome, nudge, package, run_with};

/// Runs one of the programs in `js`; `None`, having said why, where that is not possible.
pub(crate) fn node(program: &str, args: &[&str]) -> Option<Outcome> {
    node_with(program, args, &[])
}

/// The same, with more in the environment.
pub(crate) fn node_with(program: &str, args: &[&str], env: &[(&str, &str)]) -> Option<Outcome> {
    let js = package().join("js");
    if !js.join("node_modules/@agentclientprotocol/sdk").is_dir() {
        nudge_testkit::skipped("the TypeScript SDK is not installed; run crates/interop/setup");
        return None;
    }
    let program = js.join(program);
    let all = [&[program.to_str().expect("the path is UTF-8")], args].concat();
    Some(run_with("node", &all, env))
}

fn client(args: &[&str]) -> Option<Value> {
    Some(node("client.mjs", args)?.ok().json().swap_remove(0))
}

#[test]
fn it_initialises_nudge() {
    let Some(report) = client(&["1", "", nudge(), "acp", "--data", ""]) else { return };
    assert_eq!(report["initialized"]["protocolVersion"], 1);
    let info = json!({ "name": "nudge", "title": "Nudge", "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(report["initialized"]["agentInfo"], info);
    assert_eq!(report["refused"], -32601);
}

#[test]
fn it_initialises_nudge_in_version_2() {
    let Some(report) = client(&["2", "", nudge(), "acp", "--data", ""]) else { return };
    assert_eq!(report["initialized"]["protocolVersion"], 2);
    let info = json!({ "name": "nudge", "title": "Nudge", "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(report["initialized"]["info"], info);
    assert_eq!(report["refused"], -32601);
}

#[test]
fn it_has_a_turn_with_our_agent() {
    let Some(report) = client(&["1", "tell me more", OUR_AGENT]) else { return };
    assert_eq!((&report["text"], &report["stopReason"]), (&json!("tell me more"), &json!("end_turn")));
}

#[test]
fn it_has_a_turn_with_our_agent_in_version_2() {
    let Some(report) = client(&["2", "tell me more", OUR_AGENT_V2]) else { return };
    assert_eq!((&report["text"], &report["sessions"]), (&json!("tell me more"), &json!(1)));
}

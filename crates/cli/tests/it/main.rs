//! The binary from the outside: real process, real pipes.
#![allow(clippy::disallowed_methods, reason = "tests read files and clocks")]

mod adapt;
mod bad_input;
mod chaos;
mod chat;
mod config;
mod ends;
mod help;
mod initialize;
mod lsp;
mod nes;
mod providers;
mod replay;
mod sessions;
mod terminal;
mod trace;

use nudge_testkit::Process;
use serde_json::{Value, json};

fn nudge(args: &[&str]) -> Process {
    nudge_with(args, &[])
}

/// A settings file without settings.
const NO_SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/no_settings.toml");

/// Without a daemon and a model, keeping nothing, and with no settings of whoever runs the tests, unless `env` says otherwise.
fn nudge_with(args: &[&str], env: &[(&str, &str)]) -> Process {
    let alone = [
        ("NUDGE_DAEMON", "off"),
        ("NUDGE_DATA", ""),
        ("NUDGE_CONFIG", NO_SETTINGS),
        ("NUDGE_MODEL", "rehearsal"),
    ];
    let env = [&alone, env].concat();
    Process::start(env!("CARGO_BIN_EXE_nudge"), args, &env)
}

/// A request that always works, to see that the connection goes on.
fn ping(process: &mut Process, id: &str) {
    process.line(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":1}}}}"#
    ));
}

/// The code and id of an error response, after checking that it is one.
fn error_of(response: &Value) -> (i64, Value) {
    assert_eq!(response["jsonrpc"], json!("2.0"), "{response}");
    assert!(response["error"]["message"].is_string(), "{response}");
    (response["error"]["code"].as_i64().expect("an error has a code"), response["id"].clone())
}

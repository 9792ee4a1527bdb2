//! Version 2 `update` objects about terminals.

use base64::{Engine, prelude::BASE64_STANDARD};
use nudge_wire::RawJson;
use serde_json::{Value, json};

use crate::CommandExit;

/// A terminal that is new: its command for a person to read, and its working directory.
pub fn terminal_started(id: &str, command: &str, cwd: &str) -> RawJson {
    raw(&json!({ "sessionUpdate": "terminal_update", "terminalId": id, "command": command, "cwd": cwd }))
}

/// Output that follows what came before.
pub fn terminal_output(id: &str, bytes: &[u8]) -> RawJson {
    let data = BASE64_STANDARD.encode(bytes);
    raw(&json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": data }))
}

/// The end of a terminal; with `output`, what is to take the place of all output that came.
pub fn terminal_ended(id: &str, exit: &CommandExit, output: Option<&[u8]>) -> RawJson {
    let mut update = json!({ "sessionUpdate": "terminal_update", "terminalId": id });
    update["exitStatus"] = json!({ "exitCode": exit.code, "signal": exit.signal });
    if let Some(output) = output {
        update["output"] = json!({ "data": BASE64_STANDARD.encode(output) });
    }
    raw(&update)
}

fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("a tree of JSON values can be written")
}

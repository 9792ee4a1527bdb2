//! A server of tools, over MCP, that dies when its tool is called.

use std::{
    fs,
    io::{self, BufRead as _, Write as _},
    path::Path,
};

use anyhow::Result;
use serde_json::{Value, json};

use super::table::FRAIL_TOOL;

/// Serves on standard input and output until its tool is called; then it writes the file `told` and gives up without an answer.
pub fn serve(told: &Path) -> Result<()> {
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { continue };
        let result = match method {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "frail", "version": "1.0.0" },
            }),
            "tools/list" => json!({ "tools": [{
                "name": FRAIL_TOOL, "description": "Falls over.",
                "inputSchema": { "type": "object", "properties": {} },
            }] }),
            "tools/call" => {
                fs::write(told, "")?;
                return Ok(());
            }
            "ping" => json!({}),
            // Newer clients ask for what older servers do not have.
            _ => {
                answer(id, "error", &json!({ "code": -32601, "message": "Method not found" }))?;
                continue;
            }
        };
        answer(id, "result", &result)?;
    }
    Ok(())
}

fn answer(id: &Value, member: &str, value: &Value) -> Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{}", json!({ "jsonrpc": "2.0", "id": id, member: value }))?;
    Ok(output.flush()?)
}

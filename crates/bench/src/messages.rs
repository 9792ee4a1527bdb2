//! The messages both sides exchange, with the traits of both SDKs.

use agent_client_protocol::{JsonRpcNotification, JsonRpcRequest, JsonRpcResponse};
use serde::{Deserialize, Serialize};

/// About 200 bytes on the wire: the size of a streamed chunk of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcNotification)]
#[notification(method = "_bench/tick")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tick {
    pub(crate) session_id: String,
    pub(crate) number: u64,
    pub(crate) text: String,
}

impl Tick {
    pub(crate) fn new(number: u64) -> Self {
        Self { session_id: "sess_0123456789abcdef".into(), number, text: "x".repeat(80) }
    }
}

/// Asks for `count` ticks; answered after the last.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_bench/flood", response = Done)]
pub(crate) struct Flood {
    pub(crate) count: u64,
}

/// The end of a flood.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
pub(crate) struct Done {}

/// Asks for the same text back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_bench/echo", response = Echoed)]
pub(crate) struct Echo {
    pub(crate) text: String,
}

/// The same text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
pub(crate) struct Echoed {
    pub(crate) text: String,
}

impl nudge_wire::Notification for Tick {
    const METHOD: &'static str = "_bench/tick";
}

impl nudge_wire::Request for Flood {
    const METHOD: &'static str = "_bench/flood";
    type Response = Done;
}

impl nudge_wire::Request for Echo {
    const METHOD: &'static str = "_bench/echo";
    type Response = Echoed;
}

/// One kilobyte of text for a round trip.
pub(crate) fn kilobyte() -> Echo {
    Echo { text: "y".repeat(1000) }
}

/// About one megabyte of small values, as the result of a large tool call is.
pub(crate) fn hits() -> Vec<serde_json::Value> {
    let hit = |n: i32| {
        serde_json::json!({
            "path": format!("src/module_{}/file_{n}.rs", n % 40), "line": n, "column": n % 80,
            "score": f64::from(n) / 7.0, "kept": n % 3 == 0,
        })
    };
    (0..11_000).map(hit).collect()
}

/// A message with them.
pub(crate) fn megabyte() -> Vec<u8> {
    let message = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "_bench/big", "params": { "hits": hits() },
    });
    let mut frame = message.to_string().into_bytes();
    frame.push(b'\n');
    frame
}

//! What a client hears, and what is read of it.

use std::time::Instant;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::mpsc,
};

/// A message that came.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) at: Instant,
    pub(crate) line: String,
    pub(crate) value: Value,
}

/// How a turn ended.
#[derive(Debug, Clone)]
pub(crate) struct TurnOver {
    pub(crate) at: Instant,
    /// `error` if it failed.
    pub(crate) reason: String,
    pub(crate) error: Value,
}

impl TurnOver {
    pub(crate) fn of(heard: &Heard) -> Self {
        let (message, update) = (&heard.value, &heard.value["params"]["update"]);
        let reasons =
            [&message["result"]["stopReason"], &update["stopReason"], &update["_meta"]["stopReason"]];
        let reason = reasons.iter().find_map(|reason| reason.as_str()).unwrap_or("error").to_owned();
        let errors = [&message["error"], &update["error"], &update["_meta"]["nudge"]["error"]];
        let error = errors.into_iter().find(|error| !error.is_null()).cloned().unwrap_or_default();
        Self { at: heard.at, reason, error }
    }
}

/// Whether a message answers this request.
pub(crate) fn is_response(message: &Value, id: u64) -> bool {
    message["id"] == id && message.get("method").is_none()
}

/// Says each line.
pub(crate) async fn write_all(
    mut writer: WriteHalf<DuplexStream>,
    mut lines: mpsc::UnboundedReceiver<String>,
) {
    while let Some(line) = lines.recv().await {
        if writer.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}

/// Hears each line, and when it came.
pub(crate) async fn read_all(reader: ReadHalf<DuplexStream>, told: mpsc::UnboundedSender<Heard>) {
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        let _ = told.send(Heard { at: Instant::now(), line, value });
    }
}

/// The values that an option can have.
pub(crate) fn values(options: &Value, option: &str) -> Vec<String> {
    let options = options.as_array().into_iter().flatten();
    let mut found = options.filter(|known| known["configId"] == option || known["id"] == option);
    let values = found.next().and_then(|option| option["options"].as_array());
    let values = values.into_iter().flatten();
    values.map(|value| value["value"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A text as content.
pub(crate) fn content(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// The text of one content block or several.
pub(crate) fn text(content: &Value) -> String {
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

//! A client on the daemon's socket itself, so that a hundred of them need no hundred processes.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use nudge_wire::frame::DEFAULT_MESSAGE_LIMIT;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::{
    client::{find, initialize},
    place::REHEARSAL,
};

/// One client.
pub(crate) struct SocketClient {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    line: Vec<u8>,
    id: u64,
}

impl SocketClient {
    /// Greets the daemon as `nudge acp` does, and initializes.
    pub(crate) async fn connect(socket: &Path, version: u64) -> Result<Self> {
        let (reader, writer) = UnixStream::connect(socket).await?.into_split();
        let reader = BufReader::with_capacity(64 * 1024, reader);
        let mut client = Self { reader, writer, line: Vec::new(), id: 0 };
        let serving = json!({"trace": null, "max_message": DEFAULT_MESSAGE_LIMIT, "rehearsal": REHEARSAL});
        let greeting = json!({"version": env!("CARGO_PKG_VERSION"), "env": {}, "serving": serving});
        client.write(&greeting).await?;
        let welcome: Value = serde_json::from_slice(client.next().await?)?;
        ensure!(
            welcome.get("ready").is_some(),
            "the daemon does not take the benchmark's greeting: {welcome}"
        );
        client.call("initialize", &initialize(version)).await?;
        Ok(client)
    }

    pub(crate) async fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.send(method, params).await?;
        loop {
            let line = self.next().await?;
            if find(&line[..line.len().min(64)], b"\"method\"") {
                continue;
            }
            let mut answer: Value = serde_json::from_slice(line)?;
            if answer["id"] == id {
                return answer
                    .get_mut("result")
                    .map(Value::take)
                    .with_context(|| format!("{method} was refused"));
            }
        }
    }

    pub(crate) async fn send(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.write(&request).await?;
        Ok(self.id)
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Result<&[u8]> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line).await?;
        ensure!(read > 0, "the daemon has ended the connection");
        Ok(&self.line)
    }

    async fn write(&mut self, message: &Value) -> Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        Ok(self.writer.write_all(line.as_bytes()).await?)
    }
}

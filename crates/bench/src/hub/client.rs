//! A client on the other end of `nudge acp`, in raw messages.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::place::Place;

/// Who holds the sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// The process itself.
    Alone,
    /// The daemon, behind a relay.
    Daemon,
}

impl Home {
    pub(crate) fn args(self) -> &'static [&'static str] {
        match self {
            Self::Alone => &["acp", "--no-daemon", "--on-close=cancel"],
            Self::Daemon => &["acp"],
        }
    }
}

/// One client.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    id: u64,
}

/// What came before an answer.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Before {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

impl Client {
    /// A process that nothing was said to yet, started by `wrapper` if there is one.
    pub(crate) fn spawn(place: &Place, wrapper: &[&str], home: Home) -> Result<Self> {
        let mut child = place.command(wrapper, home.args()).spawn().context("cannot start nudge")?;
        let input = child.stdin.take().context("its input is a pipe")?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let output = BufReader::with_capacity(256 * 1024, output);
        Ok(Self { child, input, output, line: Vec::new(), id: 0 })
    }

    /// A client that speaks this version.
    pub(crate) fn start(place: &Place, home: Home, version: u64) -> Result<Self> {
        let mut client = Self::spawn(place, &[], home)?;
        client.initialize(version)?;
        Ok(client)
    }

    pub(crate) fn initialize(&mut self, version: u64) -> Result<()> {
        self.call("initialize", &initialize(version)).map(drop)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The process that holds the sessions.
    pub(crate) fn holder(&mut self) -> Result<u32> {
        let status = self.call("_nudge/status", &json!({}))?;
        Ok(u32::try_from(status["pid"].as_u64().context("a status has a process")?)?)
    }

    pub(crate) fn new_session(&mut self) -> Result<String> {
        let made = self.call("session/new", &json!({"cwd": "/", "mcpServers": []}))?;
        Ok(made["sessionId"].as_str().context("a session has an id")?.to_owned())
    }

    pub(crate) fn send(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.id += 1;
        let mut line =
            json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).to_string();
        line.push('\n');
        self.input.write_all(line.as_bytes())?;
        Ok(self.id)
    }

    /// Asks, and gives the result.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.send(method, params)?;
        let mut answer = self.answer(id)?.0;
        if let Some(error) = answer.get("error") {
            bail!("{method}: {error}");
        }
        Ok(answer["result"].take())
    }

    /// The response to a request, and how much came before it.
    pub(crate) fn answer(&mut self, id: u64) -> Result<(Value, Before)> {
        let mut before = Before::default();
        loop {
            if self.next()? {
                let answer: Value = serde_json::from_slice(&self.line)?;
                if answer["id"] == id {
                    return Ok((answer, before));
                }
            }
            before.messages += 1;
            before.bytes += self.line.len();
        }
    }

    /// Waits for any response that is not an error.
    pub(crate) fn any_answer(&mut self) -> Result<()> {
        while !self.next()? {}
        if find(&self.line, b"\"error\"") {
            bail!("refused: {}", String::from_utf8_lossy(&self.line));
        }
        Ok(())
    }

    /// Reads a message; whether it is a response.
    fn next(&mut self) -> Result<bool> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 {
            bail!("nudge ended while a request was open");
        }
        let head = &self.line[..self.line.len().min(64)];
        Ok(!find(head, b"\"method\""))
    }

    /// Leaves while requests are open: they are answered before a process ends by itself, and a turn may take long.
    pub(crate) fn abandon(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        child.wait()?;
        Ok(())
    }
}

/// The params of `initialize`.
pub(crate) fn initialize(version: u64) -> Value {
    match version {
        1 => json!({"protocolVersion": 1, "clientCapabilities": {}}),
        _ => {
            json!({"protocolVersion": version, "capabilities": {}, "info": {"name": "bench", "version": "1"}})
        }
    }
}

/// One text as content.
pub(crate) fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Whether `part` is in `text`.
pub(crate) fn find(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

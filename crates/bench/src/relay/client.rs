//! The client on the near end, in raw lines.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

/// A client with a session.
pub(crate) struct Client {
    pub(crate) child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    id: u64,
    session: String,
}

/// What a message is, by its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Update,
    Other,
    Answer,
}

impl Client {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.spawn().context("cannot start the other end")?;
        let input = child.stdin.take().context("its input is a pipe")?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let output = BufReader::with_capacity(256 * 1024, output);
        let mut client = Self { child, input, output, line: Vec::new(), id: 0, session: String::new() };
        client.ask("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}))?;
        let made = client.ask("session/new", &json!({"cwd": "/", "mcpServers": []}))?;
        made["sessionId"].as_str().context("a session has an id")?.clone_into(&mut client.session);
        Ok(client)
    }

    /// Asks, and gives the result.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.send(&Request::new(method, params))?;
        let mut answer: Value = serde_json::from_slice(self.answer()?)?;
        ensure!(answer.get("error").is_none(), "{method}: {answer}");
        Ok(answer["result"].take())
    }

    /// A request for a turn with this many updates.
    pub(crate) fn prompt(&self, updates: usize) -> Request {
        let prompt = json!([{"type": "text", "text": format!("stream {updates}")}]);
        Request::new("session/prompt", &json!({"sessionId": self.session, "prompt": prompt}))
    }

    pub(crate) fn send(&mut self, request: &Request) -> Result<()> {
        self.id += 1;
        let mut line = Vec::with_capacity(request.tail.len() + 32);
        write!(line, r#"{{"jsonrpc":"2.0","id":{}"#, self.id)?;
        line.extend_from_slice(request.tail.as_bytes());
        Ok(self.input.write_all(&line)?)
    }

    /// Reads a message.
    pub(crate) fn next(&mut self) -> Result<Kind> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 {
            bail!("the other end left while a request was open");
        }
        let head = &self.line[..self.line.len().min(64)];
        Ok(if contains(head, b"session/update\"") {
            Kind::Update
        } else if contains(head, b"\"method\"") {
            Kind::Other
        } else {
            Kind::Answer
        })
    }

    /// The next answer, past all else.
    pub(crate) fn answer(&mut self) -> Result<&[u8]> {
        while self.next()? != Kind::Answer {}
        let id = format!("\"id\":{}", self.id);
        ensure!(contains(&self.line, id.as_bytes()), "the answer is for another request than {}", self.id);
        Ok(&self.line)
    }

    /// Whether the last message has this in it.
    pub(crate) fn has(&self, part: &[u8]) -> bool {
        contains(&self.line, part)
    }

    /// Gives up everything but the process and the way to write to it.
    pub(crate) fn into_writer(self) -> (Child, ChildStdin, BufReader<ChildStdout>) {
        (self.child, self.input, self.output)
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        child.wait()?;
        Ok(())
    }
}

/// A request but for its id, to be sent as often as wanted.
pub(crate) struct Request {
    tail: String,
}

impl Request {
    pub(crate) fn new(method: &str, params: &Value) -> Self {
        Self { tail: format!(",\"method\":\"{method}\",\"params\":{params}}}\n") }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

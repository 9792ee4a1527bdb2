//! The agent on the far end: it looks at as little as it can, so that its own time does not count.

use std::io::{BufRead, BufReader, StdinLock, StdoutLock, Write};

use anyhow::{Context, Result};

use crate::large::id_in;

/// Answers until its input ends.
pub(crate) fn agent() -> Result<()> {
    let mut agent = Agent {
        input: BufReader::with_capacity(1 << 20, std::io::stdin().lock()),
        output: std::io::stdout().lock(),
        sessions: 0,
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        if agent.input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        agent.take(&line)?;
    }
}

struct Agent {
    input: BufReader<StdinLock<'static>>,
    output: StdoutLock<'static>,
    sessions: usize,
}

impl Agent {
    fn take(&mut self, line: &[u8]) -> Result<()> {
        let head = text(&line[..line.len().min(200)]);
        let tail = text(&line[line.len().saturating_sub(100)..]);
        let id = || id_in(&head).or_else(|| id_in(&tail)).context("a request has an id");
        let is =
            |method: &str| head.contains(&format!("\"{method}\"")) || tail.contains(&format!("\"{method}\""));
        if is("_bench/echo") {
            self.answer(id()?, params(line)?)
        } else if is("session/prompt") {
            self.prompt(id()?, &text(line))
        } else if is("initialize") {
            self.answer(id()?, br#"{"protocolVersion":1,"agentCapabilities":{}}"#)
        } else if is("session/new") {
            self.sessions += 1;
            let session = format!(r#"{{"sessionId":"sess_bench_{}"}}"#, self.sessions);
            self.answer(id()?, session.as_bytes())
        } else if is("_bench/stop") {
            // Reads nothing more, and stays until it is killed.
            loop {
                std::thread::park();
            }
        } else if let Ok(id) = id() {
            let refusal = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#
            );
            Ok(writeln!(self.output, "{refusal}")?)
        } else {
            Ok(())
        }
    }

    fn answer(&mut self, id: &str, result: &[u8]) -> Result<()> {
        let mut frame = Vec::with_capacity(result.len() + 64);
        write!(frame, r#"{{"jsonrpc":"2.0","id":{id},"result":"#)?;
        frame.extend_from_slice(result);
        frame.extend_from_slice(b"}\n");
        self.output.write_all(&frame)?;
        Ok(self.output.flush()?)
    }

    /// As many updates as the prompt asks for, then the answer.
    fn prompt(&mut self, id: &str, line: &str) -> Result<()> {
        let count = line.split_once("stream ").context("a prompt says how much")?.1;
        let count: usize = count[..count.find('"').context("a text has an end")?].parse()?;
        let session = line.split_once("\"sessionId\":").context("a prompt names its session")?.1;
        let session = session.trim_start().split('"').nth(1).context("a session is text")?;
        let mut frames = Vec::with_capacity(1 << 16);
        for number in 0..count {
            writeln!(
                frames,
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":" the {number}th word"}}}}}}}}"#
            )?;
            if frames.len() > 60_000 {
                self.output.write_all(&frames)?;
                frames.clear();
            }
        }
        self.output.write_all(&frames)?;
        self.answer(id, br#"{"stopReason":"end_turn"}"#)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The params of a message that ends with them, or with its id after them.
fn params(line: &[u8]) -> Result<&[u8]> {
    let start = find(line, b"\"params\":").context("an echo has params")? + 9;
    let end = line.iter().rposition(|byte| *byte == b'}').context("a message is an object")?;
    let params = &line[start..end];
    let after = params.len().saturating_sub(100);
    let id = params[after..].windows(6).position(|window| window == b",\"id\":");
    Ok(&params[..id.map_or(params.len(), |at| after + at)])
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

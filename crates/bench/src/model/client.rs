//! The client of `nudge acp`, with many sessions over one connection.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout},
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{
    leg::{StreamWish, Taken},
    provider::{age, wish},
};
use crate::{
    cpu,
    hub::{
        client::{Home, content, find, initialize},
        place::{Place, peak_memory},
    },
};

/// A client that has set the model over the wire.
pub(super) struct AcpClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    id: u64,
}

impl AcpClient {
    pub(super) fn start(place: &Place, home: Home, base: &str) -> Result<Self> {
        let mut command = place.command(&[], home.args());
        // Nothing of the user's is to be asked instead.
        command.env_remove("NUDGE_REHEARSAL").env_remove("NUDGE_MODEL").env_remove("NUDGE_PROVIDER");
        let mut child = command.spawn().context("cannot start nudge")?;
        let input = child.stdin.take().context("its input is a pipe")?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let output = BufReader::with_capacity(256 * 1024, output);
        let mut client = Self { child, input, output, line: Vec::new(), id: 0 };
        client.call("initialize", &initialize(1))?;
        client
            .call("providers/set", &json!({"providerId": "custom", "apiType": "openai", "baseUrl": base}))?;
        Ok(client)
    }

    /// Asks for all answers, and leaves.
    pub(super) fn take(mut self, wish: &StreamWish) -> Result<Taken> {
        let mut pids = vec![self.child.id()];
        let status = self.call("_nudge/status", &json!({}))?;
        let holder = u32::try_from(status["pid"].as_u64().context("a status has a process")?)?;
        pids.extend((holder != pids[0]).then_some(holder));
        let mut sessions = Vec::new();
        for _ in 0..wish.sessions {
            let made = self.call("session/new", &json!({"cwd": "/", "mcpServers": []}))?;
            sessions.push(made["sessionId"].clone());
        }
        let first = StreamWish { sessions: 1, answers: 1, tokens: 1, pause: wish.pause };
        self.answers(&sessions[..1], &first)?;
        let (cpu, began) = (cpu::used_by_all(&pids), Instant::now());
        let mut taken = Taken::default();
        for _ in 0..wish.answers {
            taken.delays.extend(self.answers(&sessions, wish)?);
        }
        taken.wall = began.elapsed();
        taken.cpu = cpu::used_by_all(&pids).saturating_sub(cpu);
        for pid in pids {
            taken.memory += peak_memory(pid)?;
        }
        self.finish()?;
        Ok(taken)
    }

    /// One answer in each session, at one time.
    fn answers(&mut self, sessions: &[Value], wanted: &StreamWish) -> Result<Vec<std::time::Duration>> {
        for session in sessions {
            let prompt = content(&wish(wanted.tokens, wanted.pause));
            self.send("session/prompt", &json!({"sessionId": session, "prompt": prompt}))?;
        }
        let (mut delays, mut open) = (Vec::new(), sessions.len());
        while open > 0 {
            if !self.next()? {
                // The messages of the user are told too.
                if find(&self.line, b"agent_message_chunk") {
                    delays.extend(age(&self.line));
                }
                continue;
            }
            ensure!(find(&self.line, b"end_turn"), "a turn failed: {}", String::from_utf8_lossy(&self.line));
            open -= 1;
        }
        let tokens = sessions.len() * wanted.tokens;
        ensure!(delays.len() == tokens, "of {tokens} tokens {} came", delays.len());
        Ok(delays)
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<()> {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        Ok(self.input.write_all(format!("{request}\n").as_bytes())?)
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.send(method, params)?;
        while !self.next()? {}
        let mut answer: Value = serde_json::from_slice(&self.line)?;
        ensure!(answer["id"] == self.id && answer.get("error").is_none(), "{method}: {answer}");
        Ok(answer["result"].take())
    }

    /// Reads a message; whether it is a response.
    fn next(&mut self) -> Result<bool> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 {
            bail!("nudge ended while a request was open");
        }
        Ok(!find(&self.line[..self.line.len().min(64)], b"\"method\""))
    }

    fn finish(self) -> Result<()> {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        child.wait()?;
        Ok(())
    }
}

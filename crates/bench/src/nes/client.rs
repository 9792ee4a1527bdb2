//! An editor on the other end of `nudge acp`.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{OnceLock, mpsc},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::workspace::Generated;

/// How long the workspace took to be read.
pub(crate) static INDEX: OnceLock<Duration> = OnceLock::new();

const PATIENCE: Duration = Duration::from_mins(2);

/// A session with a large file open.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    log: mpsc::Receiver<String>,
    started: Instant,
    session: String,
    uri: String,
    version: i64,
    id: u64,
}

/// The times of the questions.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) asked: usize,
    /// Of those that a suggestion came for.
    pub(crate) answered: Vec<Duration>,
}

impl Client {
    pub(crate) fn start(folder: &Path, text: &str) -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name("nudge");
        let mut child = Command::new(&program)
            .args(["acp", "--no-daemon", "--store", "memory"])
            .env("NUDGE_LOG", "warn,nudge_nes=info")
            .env("NO_COLOR", "1")
            .env("XDG_DATA_HOME", folder.join(".data"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| {
                format!("cannot start {}; `cargo xtask bench nes` builds it", program.display())
            })?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let errors = BufReader::new(child.stderr.take().context("no errors")?);
        let (lines, log) = mpsc::channel();
        std::thread::spawn(move || {
            errors.lines().map_while(Result::ok).try_for_each(|line| lines.send(line))
        });
        let uri = format!("file://{}/large.rs", folder.display());
        let mut client = Self {
            child,
            input,
            output,
            log,
            started: Instant::now(),
            session: String::new(),
            uri,
            version: 0,
            id: 0,
        };
        client.call("initialize", &json!({"protocolVersion": 1}))?;
        let root = format!("file://{}", folder.display());
        let begun =
            client.call("nes/start", &json!({"workspaceFolders": [{"uri": root, "name": "bench"}]}))?;
        begun["sessionId"].as_str().context("a session id")?.clone_into(&mut client.session);
        let open = json!({"sessionId": client.session, "uri": client.uri, "languageId": "rust", "version": 0, "text": text});
        client.notify("document/didOpen", &open)?;
        Ok(client)
    }

    /// Waits until the log says that the workspace was read.
    pub(crate) fn wait_for_index(&mut self) -> Result<()> {
        loop {
            let line = self.log.recv_timeout(PATIENCE).context("the workspace was not read in time")?;
            if line.contains("the workspace is read") {
                let _ = INDEX.set(self.started.elapsed());
                return Ok(());
            }
        }
    }

    /// Renames the local of one function after the other where it is declared, letter by letter, and asks after each.
    pub(crate) fn rename_all(&mut self, large: &Generated, count: usize) -> Result<Measured> {
        let mut measured = Measured::default();
        let step = (large.functions.len() / count).max(1);
        for function in large.functions.iter().step_by(step).take(count) {
            let line = function.line + 2;
            let start = "    let ".len();
            let mut end = start + function.local.len();
            for (typed, letter) in format!("renamed_{}", function.line).chars().enumerate() {
                let from = if typed == 0 { start } else { end };
                self.change(line, from, end, &letter.to_string())?;
                end = start + typed + 1;
                if typed < 4 {
                    continue;
                }
                let begun = Instant::now();
                let answer = self.suggest(line, end)?;
                let took = begun.elapsed();
                measured.asked += 1;
                if answer["suggestions"].as_array().is_some_and(|all| !all.is_empty()) {
                    measured.answered.push(took);
                }
            }
        }
        Ok(measured)
    }

    fn change(&mut self, line: usize, from: usize, to: usize, text: &str) -> Result<()> {
        self.version += 1;
        let range =
            json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}});
        let change = json!({
            "sessionId": self.session, "uri": self.uri, "version": self.version,
            "contentChanges": [{"range": range, "text": text}],
        });
        self.notify("document/didChange", &change)
    }

    fn suggest(&mut self, line: usize, character: usize) -> Result<Value> {
        let ask = json!({
            "sessionId": self.session, "uri": self.uri, "version": self.version,
            "position": {"line": line, "character": character}, "triggerKind": "automatic",
        });
        self.call("nes/suggest", &ask)
    }

    /// The most memory the process had at one time, in bytes.
    pub(crate) fn peak_memory(&self) -> Result<usize> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no peak in the status")?;
        let kib: usize = line.split_whitespace().nth(1).context("no figure")?.parse()?;
        Ok(kib * 1024)
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }

    fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        let mut line = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        line.push('\n');
        Ok(self.input.write_all(line.as_bytes())?)
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.id += 1;
        let mut line =
            json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).to_string();
        line.push('\n');
        self.input.write_all(line.as_bytes())?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("nudge ended while {method} was open");
            }
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == json!(self.id) {
                if let Some(error) = message.get("error") {
                    bail!("{method}: {error}");
                }
                return Ok(message["result"].take());
            }
        }
    }
}

//! A program under test, spoken to in raw bytes over real pipes.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread::JoinHandle,
    time::Duration,
};

use serde_json::Value;

use crate::PATIENCE;

/// A running program whose output lines are collected. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
}

impl Process {
    /// Starts `program`.
    pub fn start(program: impl AsRef<Path>, args: &[&str], env: &[(&str, &str)]) -> Self {
        let program = program.as_ref();
        let mut child = Command::new(program)
            .args(args)
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
        let output = child.stdout.take().expect("stdout is piped");
        let mut errors = child.stderr.take().expect("stderr is piped");
        let (sender, lines) = sync_channel(1024);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        Self { input: child.stdin.take(), child, lines, errors: Some(errors) }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes to its standard input.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes.as_ref()).expect("the program reads its input");
        input.flush().expect("the program reads its input");
    }

    /// Writes bytes and a newline.
    pub fn line(&mut self, bytes: impl AsRef<[u8]>) {
        let mut line = bytes.as_ref().to_vec();
        line.push(b'\n');
        self.write(line);
    }

    /// Writes a line, unless the program does not read any more.
    pub fn try_line(&mut self, line: impl AsRef<[u8]>) -> io::Result<()> {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(&[line.as_ref(), b"\n"].concat())?;
        input.flush()
    }

    /// Kills it, the way `kill -9` does.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Closes its standard input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The next line of its output as JSON; `None` at the end of the output.
    pub fn next_json(&mut self) -> Option<Value> {
        self.next_line()
            .map(|line| serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}")))
    }

    /// The next line of its output as it came; `None` at the end of the output.
    pub fn next_line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no output for {PATIENCE:?}"),
        }
    }

    /// As [`Process::next_json`], but an error if nothing comes in time. A last line that was cut off is the end.
    pub fn json_within(&mut self, patience: Duration) -> Result<Option<Value>, RecvTimeoutError> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Ok(serde_json::from_str(&line).ok()),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(timeout) => Err(timeout),
        }
    }

    /// What it wrote to standard error, once it has ended.
    pub fn last_words(&mut self) -> String {
        let _ = self.child.wait();
        self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default()
    }

    /// Waits for its end without closing its input.
    pub fn wait_with_input_open(mut self) -> ExitStatus {
        self.child.wait().expect("a child can be waited for")
    }

    /// Waits for its end; gives the exit status, the lines not read yet and what it wrote to standard error.
    pub fn finish(mut self) -> (ExitStatus, Vec<String>, String) {
        self.close_input();
        let lines = std::iter::from_fn(|| self.lines.recv_timeout(PATIENCE).ok()).collect();
        let status = self.child.wait().expect("a child can be waited for");
        let errors = self.errors.take().expect("taken only here").join().expect("reading does not panic");
        (status, lines, errors)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

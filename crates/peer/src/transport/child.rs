//! An agent as a child process.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    fmt, io,
    path::Path,
    pin::Pin,
    process::{ExitStatus, Stdio as Pipe},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use nudge_process::{ProcessCommand, ProcessTree};
use nudge_wire::mask;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader},
    sync::oneshot,
};

use super::{Connect, Transport, widen};

/// How many of the last lines of standard error are kept, and how much of each.
const LAST_LINES: usize = 20;
const MAX_LINE: usize = 4 * 1024;
/// How many of them an error message carries; the log has them all.
const SHOWN_LINES: usize = 3;
const SHOWN_CHARS: usize = 200;
/// How long the last lines are waited for after the process has ended.
const LAST_LINES_WAIT: Duration = Duration::from_millis(200);

/// A program to be started and spoken to over its standard input and output.
///
/// It runs in a process group of its own and is killed, with everything it started, when the connection goes. Its
/// standard error goes line by line to `tracing`, target `agent`, with secrets masked.
#[derive(Debug)]
pub struct ChildProgram {
    name: String,
    command: ProcessCommand,
}

impl ChildProgram {
    /// A program found as the shell would find it.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let program = program.as_ref();
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
        Self { name, command: ProcessCommand::new(program) }
    }

    /// A command that is made already.
    pub fn of(name: impl Into<String>, command: ProcessCommand) -> Self {
        Self { name: name.into(), command }
    }

    /// The name in logs and errors; the program's file name unless set.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command = self.command.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command = self.command.env(key, value);
        self
    }

    /// Sets the directory it runs in.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.command = self.command.current_dir(directory);
        self
    }
}

impl Connect for ChildProgram {
    fn open(self) -> io::Result<Transport> {
        let command = self.command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
        let mut child = command.spawn().map_err(|error| cannot_start(&self.name, &error))?;
        let missing = || io::Error::other("a pipe to the child is missing");
        let writer = child.stdin.take().ok_or_else(missing)?;
        let reader = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        widen(&writer);
        widen(&reader);

        let last_lines = LastLines::default();
        let captured = tokio::spawn(capture(stderr, self.name.clone(), last_lines.clone()));
        let (sender, report) = oneshot::channel();
        let (mut process, tree) = child.split();
        let name = self.name.clone();
        tokio::spawn(async move {
            let status = process.wait().await;
            // Its descendants may hold standard error open.
            let _ = tokio::time::timeout(LAST_LINES_WAIT, captured).await;
            let report = ExitReport { name, status: status.ok(), stderr: last_lines.take() };
            let _ = sender.send(report);
        });
        let exit = ChildExit { coming: Some(report), report: None, _tree: tree };
        Ok(Transport { exit: Some(exit), ..Transport::new(reader, writer).named(self.name) })
    }
}

fn cannot_start(name: &str, error: &io::Error) -> io::Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "; is it installed and on PATH?",
        io::ErrorKind::PermissionDenied => "; is it executable?",
        _ => "",
    };
    io::Error::new(error.kind(), format!("cannot start `{name}`: {error}{hint}"))
}

/// How a child ended.
#[derive(Debug, Clone)]
pub struct ExitReport {
    /// Its name.
    pub name: String,
    /// Its exit status, if the system told it.
    pub status: Option<ExitStatus>,
    /// The last lines it wrote to standard error, with secrets masked.
    pub stderr: Vec<String>,
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ended", self.name)?;
        if let Some(status) = self.status {
            write!(f, " ({status})")?;
        }
        let last = &self.stderr[self.stderr.len().saturating_sub(SHOWN_LINES)..];
        for (at, line) in last.iter().enumerate() {
            let lead = if at == 0 { "; its last lines on standard error: " } else { " | " };
            let shown: String = line.chars().take(SHOWN_CHARS).collect();
            write!(f, "{lead}{shown}")?;
        }
        Ok(())
    }
}

/// The handle of a child: tells how it ended, and kills it when dropped.
pub(crate) struct ChildExit {
    /// Gone once the report has come.
    coming: Option<oneshot::Receiver<ExitReport>>,
    report: Option<Arc<ExitReport>>,
    _tree: ProcessTree,
}

impl ChildExit {
    /// How the child ended, once it has.
    pub(crate) fn poll_report(&mut self, cx: &mut Context<'_>) -> Poll<Arc<ExitReport>> {
        if let Some(coming) = &mut self.coming
            && let Poll::Ready(report) = Pin::new(coming).poll(cx)
        {
            self.coming = None;
            // Without a report the runtime is going down, and there is nobody to tell.
            self.report = report.ok().map(Arc::new);
        }
        self.report.clone().map_or(Poll::Pending, Poll::Ready)
    }

    /// Waits until the child has ended.
    pub(crate) async fn ended(&mut self) {
        std::future::poll_fn(|cx| self.poll_report(cx)).await;
    }
}

#[derive(Clone, Default)]
struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    fn push(&self, line: String) {
        let mut lines = self.0.lock();
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn take(&self) -> Vec<String> {
        self.0.lock().drain(..).collect()
    }
}

/// Passes standard error on to the log, line by line.
async fn capture(stderr: impl AsyncRead + Unpin, name: String, last_lines: LastLines) {
    let mut stderr = BufReader::new(stderr);
    while let Some(line) = next_line(&mut stderr).await {
        let line = mask::text(String::from_utf8_lossy(&line).trim_end()).into_owned();
        tracing::info!(target: "agent", agent = name, "{line}");
        last_lines.push(line);
    }
}

/// The next line, cut at a length no log needs more than.
async fn next_line(stream: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let chunk = stream.fill_buf().await.ok()?;
        if chunk.is_empty() {
            return (!line.is_empty()).then_some(line);
        }
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..newline.unwrap_or(chunk.len())];
        line.extend_from_slice(&part[..part.len().min(MAX_LINE - line.len().min(MAX_LINE))]);
        let used = newline.map_or(chunk.len(), |at| at + 1);
        stream.consume(used);
        if newline.is_some() {
            return Some(line);
        }
    }
}

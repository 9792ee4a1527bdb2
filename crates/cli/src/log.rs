//! The log on standard error.
//!
//! Lines go through a thread of their own: nobody may read standard error, or it may be closed, and neither must hold up
//! or end the protocol. What does not fit is dropped.

use std::{
    collections::VecDeque,
    fmt::Debug,
    io::{self, Write},
    sync::mpsc::{SyncSender, sync_channel},
    time::Duration,
};

use parking_lot::Mutex;
use tracing::{Event, Subscriber, field::Field};
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::LevelFilter,
    fmt::MakeWriter,
    layer::{Context, SubscriberExt},
    util::SubscriberInitExt,
};

use crate::{output, settings::ChosenValue, terminal_text};

/// Lines that may wait for standard error.
const WAITING: usize = 1024;
/// How long the last lines may take at the end.
const LAST_LINES: Duration = Duration::from_millis(200);

/// The log while the program runs. Dropping it writes what waits.
pub(crate) struct ProgramLog {
    lines: SyncSender<Entry>,
}

enum Entry {
    Line(Vec<u8>),
    /// Everything before it is written.
    End(SyncSender<()>),
}

/// What a filter may be.
pub(crate) const EXPECTED: &str =
    "error, warn, info, debug, trace or off, or that for a part, such as `warn,nudge_peer=debug`";

/// What is logged, where this was asked for.
pub(crate) fn logged(asked: Option<&str>) -> String {
    asked.unwrap_or(WantedLog::Warnings.filter()).to_owned()
}

/// What of the log is wanted unless the user asks for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedLog {
    Warnings,
    /// The command tells by itself what it finds, once.
    Errors,
}

impl WantedLog {
    fn filter(self) -> &'static str {
        match self {
            Self::Warnings => "warn",
            Self::Errors => "error",
        }
    }
}

/// Logs what is asked for; a filter that cannot be read is said, and the default used.
pub(crate) fn init(asked: &ChosenValue<Option<String>>, wanted: WantedLog) -> ProgramLog {
    let default = wanted.filter();
    let filter = match &asked.value {
        Some(text) => read(text).unwrap_or_else(|| {
            output::remark(format!(
                "nudge: {} cannot be read: expected {EXPECTED}; going on with `{default}`",
                asked.origin
            ));
            EnvFilter::new(default)
        }),
        None => EnvFilter::new(default),
    };
    let (lines, waiting) = sync_channel(WAITING);
    std::thread::spawn(move || {
        for entry in waiting {
            match entry {
                Entry::Line(line) => drop(io::stderr().write_all(&line)),
                Entry::End(told) => drop(told.send(())),
            }
        }
    });
    let log = ProgramLog { lines };
    let writer = Lines { lines: log.lines.clone(), has_colours: output::has_colours(&io::stderr()) };
    let to_stderr = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(false)
        .log_internal_errors(false)
        .with_filter(filter);
    let heard = (wanted == WantedLog::Errors).then(|| AgentLines.with_filter(LevelFilter::INFO));
    tracing_subscriber::registry().with(to_stderr).with(heard).init();
    log
}

/// Whether a text says what to log.
pub(crate) fn is_filter(text: &str) -> bool {
    read(text).is_some()
}

/// A filter. A word that is no level would be taken for the name of a part that is not there, and so for silence.
fn read(asked: &str) -> Option<EnvFilter> {
    let is_meant = |part: &str| match part.rsplit_once('=') {
        Some((_, level)) => is_level(level),
        None => is_level(part) || part.starts_with("nudge") || part.starts_with('[') || part == "agent",
    };
    let parsed = EnvFilter::builder().parse(asked).ok();
    parsed.filter(|_| asked.split(',').map(str::trim).all(is_meant))
}

fn is_level(text: &str) -> bool {
    text.trim().parse::<LevelFilter>().is_ok()
}

impl Drop for ProgramLog {
    fn drop(&mut self) {
        let (told, written) = sync_channel(1);
        if self.lines.try_send(Entry::End(told)).is_ok() {
            let _ = written.recv_timeout(LAST_LINES);
        }
    }
}

/// Takes the lines of the log.
struct Lines {
    lines: SyncSender<Entry>,
    has_colours: bool,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { text: Vec::new(), lines: self.lines.clone(), has_colours: self.has_colours }
    }
}

/// One line, handed over when it is complete.
struct Line {
    text: Vec<u8>,
    lines: SyncSender<Entry>,
    has_colours: bool,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // What others have said is in it: it is one line, and commands no terminal.
        let line = terminal_text::one_line(String::from_utf8_lossy(&self.text).trim_end());
        let mut line = if self.has_colours { coloured(&line) } else { line };
        line.push('\n');
        let _ = self.lines.try_send(Entry::Line(line.into_bytes()));
    }
}

/// A line with its time set back and its level in colour.
fn coloured(line: &str) -> String {
    let levels = [("ERROR", 31), ("WARN", 33), ("INFO", 32), ("DEBUG", 34), ("TRACE", 35)];
    let parts = line.split_once(' ').and_then(|(time, rest)| {
        let rest = rest.trim_start();
        let (level, colour) = levels.into_iter().find(|(level, _)| rest.starts_with(level))?;
        Some((time, level, colour, &rest[level.len()..]))
    });
    match parts {
        Some((time, level, colour, rest)) => {
            format!("\u{1b}[2m{time}\u{1b}[0m \u{1b}[{colour}m{level:>5}\u{1b}[0m{rest}")
        }
        None => line.to_owned(),
    }
}

/// What agents wrote to standard error, for a command that shows it itself: the last lines, each once.
static AGENT_LINES: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
/// How many lines of it are kept.
const AGENT_LINES_KEPT: usize = 20;

/// Takes what agents wrote to standard error so far.
pub(crate) fn take_agent_lines() -> Vec<String> {
    AGENT_LINES.lock().drain(..).collect()
}

/// Hears what agents write to standard error.
struct AgentLines;

impl<S: Subscriber> Layer<S> for AgentLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "agent" {
            event.record(&mut |field: &Field, value: &dyn Debug| {
                if field.name() == "message" {
                    keep_agent_line(format!("{value:?}"));
                }
            });
        }
    }
}

fn keep_agent_line(line: String) {
    let mut lines = AGENT_LINES.lock();
    if !line.trim().is_empty() && !lines.contains(&line) {
        if lines.len() == AGENT_LINES_KEPT {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

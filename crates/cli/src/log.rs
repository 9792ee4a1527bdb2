//! The log on standard error.
//!
//! Lines go through a thread of their own: nobody may read standard error, or it may be closed, and neither must hold up
//! or end the protocol. What does not fit is dropped.

use std::{
    io::{self, IsTerminal, Write},
    sync::mpsc::{SyncSender, sync_channel},
    time::Duration,
};

use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

/// Lines that may wait for standard error.
const WAITING: usize = 1024;
/// How long the last lines may take at the end.
const LAST_LINES: Duration = Duration::from_millis(200);

/// The log while the program runs. Dropping it writes what waits.
pub(crate) struct Log {
    lines: SyncSender<Entry>,
}

enum Entry {
    Line(Vec<u8>),
    /// Everything before it is written.
    End(SyncSender<()>),
}

/// What the environment asks for, if it asks.
pub(crate) fn asked() -> Option<String> {
    std::env::var("NUDGE_LOG").ok().filter(|asked| !asked.is_empty())
}

/// What is logged.
pub(crate) fn logged() -> String {
    asked().unwrap_or_else(|| "warn".to_owned())
}

/// Logs what `NUDGE_LOG` asks for; a filter that cannot be read is said and the default used.
pub(crate) fn init() -> Log {
    let filter = EnvFilter::builder().parse(logged());
    let (filter, problem) = match filter {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new("warn"), Some(error)),
    };
    let colours =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let (lines, waiting) = sync_channel(WAITING);
    std::thread::spawn(move || {
        for entry in waiting {
            match entry {
                Entry::Line(line) => drop(io::stderr().write_all(&line)),
                Entry::End(told) => drop(told.send(())),
            }
        }
    });
    let log = Log { lines };
    let writer = Lines(log.lines.clone());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colours)
        .log_internal_errors(false)
        .init();
    if let Some(error) = problem {
        tracing::warn!("NUDGE_LOG cannot be read ({error}); logging warnings");
    }
    log
}

impl Drop for Log {
    fn drop(&mut self) {
        let (told, written) = sync_channel(1);
        if self.lines.try_send(Entry::End(told)).is_ok() {
            let _ = written.recv_timeout(LAST_LINES);
        }
    }
}

/// Takes the lines of the log.
struct Lines(SyncSender<Entry>);

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { text: Vec::new(), lines: self.0.clone() }
    }
}

/// One line, handed over when it is complete.
struct Line {
    text: Vec<u8>,
    lines: SyncSender<Entry>,
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
        let _ = self.lines.try_send(Entry::Line(std::mem::take(&mut self.text)));
    }
}

//! A command that runs, and what it says.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use nudge_process::{ProcessCommand, ProcessTree, StartedProcess};
use serde::{Deserialize, Serialize};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    time::{Instant, timeout},
};

/// How long output is waited for after the command has ended and its family was killed.
const PATIENCE: Duration = Duration::from_millis(500);
/// How much is read then: as much as a pipe can be made to hold. Somebody who got away may say any amount.
const MOST_REST: usize = 1024 * 1024;
const BUFFER: usize = 32 * 1024;

/// A command that was started. What it says on both streams comes in the order in which it was said.
#[derive(Debug)]
pub struct RunningCommand {
    process: StartedProcess,
    output: pipe::Receiver,
    buffer: Vec<u8>,
    /// Whether there may be more output.
    is_open: bool,
    /// How long the rest of the output is still waited for.
    patience: Duration,
    /// How much of it is still read.
    room: usize,
}

/// What comes of a command.
#[derive(Debug)]
pub enum CommandEvent<'a> {
    /// Output.
    Output(&'a [u8]),
    /// The command has ended. There may be a [rest](RunningCommand::rest).
    Ended(CommandExit),
}

/// How a command ended: an exit status as version 1 and version 2 write it. Both are missing if it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CommandExit {
    /// The exit code.
    #[serde(rename = "exitCode")]
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
}

impl RunningCommand {
    /// Starts a command without input; needs a tokio runtime. The tree is to be dropped when the command has ended: that ends
    /// what it has left running, and with it what holds the output open.
    pub fn start(command: ProcessCommand) -> io::Result<(Self, ProcessTree)> {
        let (reader, writer) = io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(reader.into())?;
        let command = command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).leave_nothing();
        let (process, tree) = command.spawn()?.split();
        let buffer = vec![0; BUFFER];
        Ok((Self { process, output, buffer, is_open: true, patience: PATIENCE, room: MOST_REST }, tree))
    }

    /// What it says next, and then that it has ended. May be given up and called again.
    pub async fn next(&mut self) -> CommandEvent<'_> {
        loop {
            tokio::select! {
                status = self.process.wait() => return CommandEvent::Ended(CommandExit::of(status.ok())),
                read = self.output.read(&mut self.buffer), if self.is_open => match read {
                    Ok(read) if read > 0 => return CommandEvent::Output(&self.buffer[..read]),
                    _ => self.is_open = false,
                },
            }
        }
    }

    /// What it has said before it ended and what was not read yet; `None` at the end. To be called after the tree was dropped;
    /// should somebody still hold the output open, that is not waited for.
    pub async fn rest(&mut self) -> Option<&[u8]> {
        if !self.is_open || self.room == 0 {
            return None;
        }
        let began = Instant::now();
        // Without patience, what is there is still read.
        let read = timeout(self.patience, self.output.read(&mut self.buffer)).await;
        self.patience = self.patience.saturating_sub(began.elapsed());
        let read = read.ok().and_then(Result::ok).filter(|read| *read > 0)?;
        self.room = self.room.saturating_sub(read);
        Some(&self.buffer[..read])
    }
}

impl CommandExit {
    fn of(status: Option<ExitStatus>) -> Self {
        Self {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()).map(signal_name),
        }
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        6 => "SIGABRT",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

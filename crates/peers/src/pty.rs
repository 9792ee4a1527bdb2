//! A command on a pseudo-terminal, to see what it shows.

use std::{
    io::Read,
    process::Command,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

/// What the command has shown when `awaited` was among it, or it has ended, or the time is over. It is ended then.
pub(crate) fn shown(command: &Command, awaited: &str, within: Duration) -> Result<String> {
    let size = PtySize { rows: 50, cols: 250, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size).context("there are no pseudo-terminals")?;
    let mut child = pty.slave.spawn_command(builder(command)).context("it does not start")?;
    drop(pty.slave);
    let mut output = pty.master.try_clone_reader().context("the terminal cannot be read")?;
    let (sender, pieces) = channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = output.read(&mut bytes) {
            if sender.send(String::from_utf8_lossy(&bytes[..read]).into_owned()).is_err() {
                break;
            }
        }
    });
    let (mut shown, deadline) = (String::new(), Instant::now() + within);
    while !shown.contains(awaited) {
        match pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(piece) => shown.push_str(&piece),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    // Whoever is on the terminal is hung up with it.
    drop(pty.master);
    let _ = child.kill();
    let _ = child.wait();
    Ok(shown)
}

fn builder(command: &Command) -> CommandBuilder {
    let mut builder = CommandBuilder::new(command.get_program());
    builder.args(command.get_args());
    builder.env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            builder.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        builder.cwd(folder);
    }
    builder
}

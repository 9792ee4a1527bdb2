//! Questions to the user on a terminal.

use std::{
    io::{self, IsTerminal, Read, Write},
    process::exit,
    thread,
};

use anyhow::{Context, Result, bail};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::{
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
};

/// The exit status of a process that Ctrl-C ends.
const INTERRUPTED: i32 = 130;
/// Longer input is no key.
const LONGEST: usize = 16 * 1024;

/// What keys of a terminal send.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_U: u8 = 21;
const BACKSPACE: [u8; 2] = [8, 127];

/// Whether there is somebody to ask.
pub(super) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a line.
pub(super) fn line(question: &str) -> Result<String> {
    show(question)?;
    let mut line = String::new();
    if io::stdin().read_line(&mut line).context("cannot read from the terminal")? == 0 {
        show("\n")?;
        bail!("nothing was answered");
    }
    Ok(line.trim().to_owned())
}

/// Asks for yes or no; anything but a yes is a no.
pub(super) fn yes(question: &str) -> Result<bool> {
    Ok(matches!(line(&format!("{question} [y/N] "))?.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for something that is not shown. The terminal is as it was afterwards, however it ends.
pub(super) fn hidden(question: &str) -> Result<String> {
    let echo = HiddenEcho::begin().context("cannot keep the terminal from showing what is typed")?;
    show(question)?;
    let typed = typed(io::stdin().lock().bytes());
    drop(echo);
    show("\n")?;
    match typed? {
        TypedLine::Whole(text) => Ok(text.trim().to_owned()),
        TypedLine::Interrupted => exit(INTERRUPTED),
    }
}

fn show(text: &str) -> Result<()> {
    let mut out = io::stderr();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to the terminal")
}

/// What was typed to the end of a line.
#[derive(Debug, PartialEq, Eq)]
enum TypedLine {
    Whole(String),
    Interrupted,
}

/// Reads keys as they come: the terminal makes no lines of them now.
fn typed(keys: impl Iterator<Item = io::Result<u8>>) -> Result<TypedLine> {
    let mut line = Vec::new();
    for key in keys {
        match key.context("cannot read from the terminal")? {
            CTRL_C => return Ok(TypedLine::Interrupted),
            b'\n' | b'\r' => return whole(line),
            CTRL_D if line.is_empty() => break,
            CTRL_D => {}
            CTRL_U => line.clear(),
            key if BACKSPACE.contains(&key) => drop(line.pop()),
            key => line.push(key),
        }
        if line.len() > LONGEST {
            bail!("what was typed is too long for a key");
        }
    }
    bail!("nothing was answered")
}

fn whole(line: Vec<u8>) -> Result<TypedLine> {
    String::from_utf8(line).ok().map(TypedLine::Whole).context("what was typed is no text")
}

/// A terminal that shows nothing of what is typed, and hands over keys as they come.
struct HiddenEcho {
    before: Termios,
}

impl HiddenEcho {
    fn begin() -> Result<Self> {
        let before = tcgetattr(io::stdin())?;
        restore_at_signals(before.clone())?;
        let mut hidden = before.clone();
        // Ctrl-C is a key like others, so that it is not the end before all is as it was.
        hidden.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(io::stdin(), OptionalActions::Now, &hidden)?;
        Ok(Self { before })
    }
}

impl Drop for HiddenEcho {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Ends the process at the signals that end it anyway, but with the terminal as it was.
fn restore_at_signals(before: Termios) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (mut interrupt, mut terminate, mut hang_up) = {
        let _inside = runtime.enter();
        let listen = |kind| -> io::Result<Signal> { signal(kind) };
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?, listen(SignalKind::hangup())?)
    };
    thread::spawn(move || {
        let code = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => INTERRUPTED,
                _ = terminate.recv() => 143,
                _ = hang_up.recv() => 129,
            }
        });
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        exit(code);
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(keys: &[u8]) -> Result<TypedLine> {
        typed(keys.iter().copied().map(Ok))
    }

    #[test]
    fn keys_are_taken_as_a_terminal_would() {
        let whole = |keys: &[u8], text: &str| {
            assert_eq!(of(keys).expect("it is a line"), TypedLine::Whole(text.to_owned()));
        };
        whole(b"sk-1\n", "sk-1");
        whole(b"sk-1\rmore", "sk-1");
        whole(b"sk-x\x7f1\n", "sk-1");
        whole(b"wrong\x15sk-1\n", "sk-1");
        whole(b"\x7f\n", "");
        assert_eq!(of(b"sk\x03").unwrap(), TypedLine::Interrupted);
        assert!(of(b"\x04").is_err() && of(b"sk-1").is_err());
        assert!(of(&vec![b'x'; LONGEST + 2]).is_err());
    }
}

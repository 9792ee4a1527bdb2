//! A command that prints a key.

use std::{
    fmt,
    io::Read,
    os::unix::process::CommandExt,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use nudge_wire::{Environment, SecretText};
use rustix::process::{Pid, Signal, kill_process_group};

/// The longest output that is read.
const MOST_OUTPUT: u64 = 64 * 1024;
/// How long to wait before looking again whether it has ended.
const AGAIN: Duration = Duration::from_millis(5);

/// A command whose standard output is a key: a program and its arguments, which no shell reads. It runs in the root folder, whoever
/// runs it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyCommand {
    words: Vec<String>,
}

/// Why a command gives no key. What it printed is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyCommandError {
    /// It is no command.
    #[error("the key command is empty, or a quote in it is not closed")]
    NoCommand,
    /// It does not start.
    #[error("the key command does not start; is the program on the PATH of the editor, or named in full?")]
    NotStarted,
    /// It fails.
    #[error("the key command failed; run it in a terminal to see why")]
    Failed,
    /// It takes too long.
    #[error("the key command took longer than {} s and was ended", .0.as_secs_f32())]
    TooSlow(Duration),
    /// It prints nothing.
    #[error("the key command printed nothing; it has to print the key to standard output")]
    Nothing,
    /// It prints something that is no key.
    #[error("the key command printed something that is no key; it has to be one line without blanks")]
    NoKey,
}

impl KeyCommand {
    /// Reads a command as a shell would cut it into words; nothing else that a shell does is done.
    pub fn parse(line: &str) -> Result<Self, KeyCommandError> {
        Self::new(shlex::split(line).ok_or(KeyCommandError::NoCommand)?)
    }

    /// The program and its arguments.
    pub fn new(words: Vec<String>) -> Result<Self, KeyCommandError> {
        if words.first().is_none_or(String::is_empty) || words.iter().any(|word| word.contains('\0')) {
            return Err(KeyCommandError::NoCommand);
        }
        Ok(Self { words })
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The program and its arguments, which may be secret themselves.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Runs it in this environment and takes what it prints. What it says on standard error goes nowhere.
    pub fn run(&self, limit: Duration, environment: &Environment) -> Result<SecretText, KeyCommandError> {
        let deadline = Instant::now() + limit;
        let mut command = Command::new(self.program());
        command.args(&self.words[1..]).current_dir("/").env_clear().envs(environment.variables());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A group of its own, so that it can be ended with all that it has started.
        let mut child = command.process_group(0).spawn().map_err(|_| KeyCommandError::NotStarted)?;
        let printed = child.stdout.take().and_then(|output| read(output, limit));
        let has_succeeded = printed.is_some().then(|| end(&mut child, deadline)).flatten();
        let (Some(printed), Some(has_succeeded)) = (printed, has_succeeded) else {
            kill(&mut child);
            return Err(KeyCommandError::TooSlow(limit));
        };
        if !has_succeeded {
            return Err(KeyCommandError::Failed);
        }
        key(&printed)
    }
}

impl fmt::Debug for KeyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyCommand({} …)", self.program())
    }
}

/// All that it prints; `None` if that takes too long.
fn read(output: ChildStdout, limit: Duration) -> Option<Vec<u8>> {
    let (sender, printed) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.take(MOST_OUTPUT).read_to_end(&mut bytes);
        // Nobody may wait for it any more.
        let _ = sender.send(bytes);
    });
    printed.recv_timeout(limit).ok()
}

/// Whether it has ended well; `None` if it does not end.
fn end(child: &mut Child, deadline: Instant) -> Option<bool> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < deadline => thread::sleep(AGAIN),
            _ => return None,
        }
    }
}

fn kill(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

fn key(printed: &[u8]) -> Result<SecretText, KeyCommandError> {
    let text = str::from_utf8(printed).map_err(|_| KeyCommandError::NoKey)?.trim();
    match text {
        "" => Err(KeyCommandError::Nothing),
        text if is_key(text) => Ok(SecretText::new(text)),
        _ => Err(KeyCommandError::NoKey),
    }
}

/// Whether a request can carry it.
pub(crate) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

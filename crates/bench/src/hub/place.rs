//! A data folder of its own, on the disk the program was built on, and the daemon that serves it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// What the agent plays.
pub(crate) const REHEARSAL: &str = r#"
name = "Benchmark"

# Keeps the turn running.
[[turn]]
literal = "wait"
[[turn.step]]
play = [{ wait_ms = 3600000 }, { text = "done" }]

# Streams as fast as it is taken.
[[turn]]
regex = '^stream (?<count>\d+)$'
[[turn.step]]
play = [{ text = "token ", repeat = "{count}", token_ms = 0 }]
"#;

/// Where the sessions of a case are kept. Its daemon, if one was started, ends with it.
pub(crate) struct Place {
    folder: TempDir,
    program: PathBuf,
}

impl Place {
    /// A place of the program that was built with this one.
    pub(crate) fn new() -> Result<Self> {
        Self::of(&program()?)
    }

    /// A place of any program; where it is does not depend on which.
    pub(crate) fn of(program: &Path) -> Result<Self> {
        // Not the system's temporary folder: that may be memory.
        let near = std::env::current_exe()?;
        let near = near.parent().context("a program is in a folder")?;
        let folder = tempfile::Builder::new().prefix("hub").tempdir_in(near)?;
        fs::write(folder.path().join("rehearsal.toml"), REHEARSAL)?;
        Ok(Self { folder, program: program.to_owned() })
    }

    /// Another place of the same program.
    pub(crate) fn another(&self) -> Result<Self> {
        Self::of(&self.program)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The address of the store that the processes here use.
    pub(crate) fn store(&self) -> String {
        format!("sqlite:{}", self.data().join("sessions.db").display())
    }

    fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// `nudge` at this place, started by `wrapper` if there is one.
    pub(crate) fn command(&self, wrapper: &[&str], args: &[&str]) -> Command {
        let program = &self.program;
        let mut command = match wrapper {
            [] => Command::new(program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        for name in ["NUDGE_STORE", "NUDGE_TRACE", "NUDGE_LOG", "NUDGE_MAX_MESSAGE", "NUDGE_DAEMON"] {
            command.env_remove(name);
        }
        command.env("NUDGE_DATA", self.data()).env("NUDGE_REHEARSAL", self.path().join("rehearsal.toml"));
        command.env("NUDGE_LINGER", "60");
        command
    }

    /// The daemon's socket. The system takes no longer names; those are then elsewhere.
    pub(crate) fn socket(&self) -> Result<PathBuf> {
        let found = fs::read_dir(self.data())?.flatten().map(|file| file.path());
        let socket = found.into_iter().find(|path| path.extension().is_some_and(|tail| tail == "sock"));
        socket.context("the daemon has no socket in its data folder: build in a folder with a shorter name")
    }

    /// Ends the daemon, if there is one, and waits until it is gone.
    pub(crate) fn stop(&self) -> Result<()> {
        let stopped = self.command(&[], &["stop"]).stdin(Stdio::null()).stderr(Stdio::null()).output()?;
        ensure!(stopped.status.success(), "the daemon does not end");
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// The program that was built with this one.
pub(crate) fn program() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("nudge");
    if !program.exists() {
        bail!("there is no {}; `cargo xtask bench hub` builds it", program.display());
    }
    Ok(program)
}

/// The most memory a process had at one time, in bytes.
pub(crate) fn peak_memory(pid: u32) -> Result<usize> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no peak in the status")?;
    let kib: usize = line.split_whitespace().nth(1).context("no figure")?.parse()?;
    Ok(kib * 1024)
}

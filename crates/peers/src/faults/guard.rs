//! Ends what a run has started, however the run itself ends.
//!
//! Agents start processes that leave their group, and some do not end with their input. Beside a run goes a process of its own that is
//! told of every folder an agent runs in. When the run is gone, it ends all that still runs there and removes the folders.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{self, BufRead as _, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

/// How long is looked for processes that were started just as others ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// The process that goes beside a run; it ends when this is dropped.
#[derive(Debug)]
pub struct RunGuard {
    child: Child,
    folders: Mutex<Option<ChildStdin>>,
}

impl RunGuard {
    /// Starts it: `program` with the argument `guard`, in a group of its own, where Ctrl-C does not reach it.
    pub fn start(program: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .arg("guard")
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .context("the guard cannot be started")?;
        let folders = Mutex::new(child.stdin.take());
        Ok(Self { child, folders })
    }

    /// Ends what runs in this folder when the run ends.
    pub fn watch(&self, folder: &Path) -> Result<()> {
        let mut folders = self.folders.lock();
        let input = folders.as_mut().context("the guard is there until the end")?;
        writeln!(input, "{}", folder.display()).context("the guard is gone")
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        drop(self.folders.lock().take());
        let _ = self.child.wait();
    }
}

/// What the guard does: reads folders until nobody writes any more, and ends all that runs in them.
pub fn guard() -> Result<()> {
    let mut folders = BTreeSet::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        folders.insert(PathBuf::from(line));
    }
    for folder in &folders {
        end_all_in(folder);
        let _ = fs::remove_dir_all(folder);
    }
    Ok(())
}

/// Ends every process of this user that has the folder in its environment, as HOME for one, or is in it.
pub fn end_all_in(folder: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let found = processes_in(folder);
        if found.is_empty() {
            return;
        }
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn processes_in(folder: &Path) -> Vec<Pid> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let others = pids.filter(|pid| *pid != own && is_in(&Path::new("/proc").join(pid.to_string()), folder));
    others.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).collect()
}

fn is_in(process: &Path, folder: &Path) -> bool {
    // One that has ended and was not waited for yet has neither.
    let works_there = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    let name = folder.as_os_str().as_encoded_bytes();
    let mentions = |bytes: Vec<u8>| bytes.windows(name.len().max(1)).any(|window| window == name);
    works_there || fs::read(process.join("environ")).is_ok_and(mentions)
}

/// The path of this program, which is also the guard's.
pub(crate) fn own_program() -> Result<PathBuf> {
    env::current_exe().context("the path of this program")
}

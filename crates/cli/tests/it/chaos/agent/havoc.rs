//! Processes: those of a run, signals to them, and whether any is left.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// How long the processes of a run may outlive their owner, on a machine that is busy.
const GRACE: Duration = Duration::from_secs(10);

/// A process of a run.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) pid: i32,
    /// What it is called and was started with.
    pub(super) command: String,
}

/// All living processes that have to do with a place: it is in their arguments, their environment or their folder.
pub(super) fn processes(place: &Path) -> Vec<Found> {
    let place = place.to_str().expect("its name is text");
    let entries = fs::read_dir("/proc").expect("there is /proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let own = i32::try_from(std::process::id()).expect("a process id fits");
    pids.filter(|pid| *pid != own).filter_map(|pid| of_place(pid, place)).collect()
}

fn of_place(pid: i32, place: &str) -> Option<Found> {
    let text = |name: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    let command = text("cmdline");
    let is_there = || fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(place));
    // Arguments and environment of one that has ended are empty.
    let is_of = command.contains(place) || text("environ").contains(place) || is_there();
    let is_alive = u32::try_from(pid).is_ok_and(nudge_testkit::is_alive);
    (is_of && is_alive).then_some(Found { pid, command })
}

/// The processes of the agent.
pub(super) fn agents(place: &Path) -> Vec<i32> {
    let is_agent =
        |found: &Found| found.command.split(' ').next().is_some_and(|it| it.ends_with("scripted-agent"));
    processes(place).into_iter().filter(is_agent).map(|found| found.pid).collect()
}

/// The processes that keep the agent.
pub(super) fn keepers(place: &Path) -> Vec<i32> {
    let keeps =
        |found: &Found| found.command.contains("__child keep") && found.command.contains("scripted-agent");
    processes(place).into_iter().filter(keeps).map(|found| found.pid).collect()
}

/// Sends a signal to a process that may have ended.
pub(super) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Fails unless everything has ended soon; says how long that took.
pub(super) fn all_gone(place: &Path, after: &str) -> Duration {
    let began = Instant::now();
    loop {
        let left = processes(place);
        if left.is_empty() {
            return began.elapsed();
        }
        assert!(began.elapsed() < GRACE, "left behind after {after}: {left:#?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

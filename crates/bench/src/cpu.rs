//! CPU time of processes, read off `/proc`.

use std::{fs, time::Duration};

/// The CPU time all living threads of a process have used. Zero where `/proc` does not tell.
pub(crate) fn used_by(pid: u32) -> Duration {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Duration::ZERO };
    let nanos = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    Duration::from_nanos(nanos)
}

/// The CPU time of several processes.
pub(crate) fn used_by_all(pids: &[u32]) -> Duration {
    pids.iter().copied().map(used_by).sum()
}

/// The processes started by this one.
pub(crate) fn children() -> Vec<u32> {
    let me = std::process::id();
    let children = fs::read_to_string(format!("/proc/{me}/task/{me}/children")).unwrap_or_default();
    let of_main: Vec<u32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    if !of_main.is_empty() {
        return of_main;
    }
    // Children of other threads are listed with them.
    let Ok(tasks) = fs::read_dir(format!("/proc/{me}/task")) else { return Vec::new() };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// The CPU time of this process and of those it started.
pub(crate) fn used() -> Duration {
    children().into_iter().map(used_by).sum::<Duration>() + used_by(std::process::id())
}

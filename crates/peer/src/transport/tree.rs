//! Everything a child process has started, and how to end it.

use std::{
    fs,
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How the variable begins that marks a child's whole family, also those who left its process group. Each child has a
/// variable of its own, so that a child that is itself a Nudge does not hide its children's mark.
const TAG: &str = "NUDGE_CHILD_";

/// A child and all its descendants. Dropping it kills them.
pub(crate) struct Tree {
    group: Option<Pid>,
    tag: String,
    /// Whether the child's own number may be somebody else's by now.
    pub(crate) reaped: Arc<AtomicBool>,
}

impl Tree {
    pub(crate) fn new(pid: Option<u32>, tag: String) -> Self {
        let group = pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        Self { group, tag, reaped: Arc::default() }
    }

    /// The name of a variable no other child of this machine has.
    pub(crate) fn fresh_tag() -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        format!(
            "{TAG}{}_{}_{}",
            std::process::id(),
            started.as_nanos(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        )
    }

    fn kill(&self) {
        if let Some(group) = self.group
            && !self.reaped.load(Ordering::Acquire)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        // A process may start another between being seen and being killed, but not for long.
        for _ in 0..8 {
            let family = tagged(&self.tag);
            if family.is_empty() {
                break;
            }
            for pid in family {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The living processes whose environment carries the tag. None where there is no `/proc`.
fn tagged(tag: &str) -> Vec<Pid> {
    let mark = format!("{tag}=1");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        .filter(|pid| *pid != rustix::process::getpid() && is_tagged(*pid, &mark))
        .collect()
}

fn is_tagged(pid: Pid, mark: &str) -> bool {
    let mut environment = Vec::new();
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let read = fs::File::open(path).and_then(|mut file| file.read_to_end(&mut environment));
    // A zombie's environment is empty, so the dead are not counted.
    read.is_ok() && environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

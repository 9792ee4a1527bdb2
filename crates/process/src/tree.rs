//! Everything a child process has started, and how to end it.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};
use tokio::time::Instant;

use crate::proc;

/// How the variable begins that marks a child's whole family, also those who left its process group. Each child has a
/// variable of its own, so that a child that is itself an owner does not hide its children's mark.
const TAG: &str = "NUDGE_CHILD_";

/// Takes the marks of its family away from a program that is meant to outlive whoever starts it. It must also be started by
/// a parent that ends at once, or it is still found by its ancestors.
pub fn unmark(command: &mut std::process::Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with(TAG)) {
            command.env_remove(name);
        }
    }
}

/// How often the family is looked at while it is given time to leave.
const LOOK: Duration = Duration::from_millis(5);
/// How far before its tree a child may have been started, in hundredths of a second.
const SKEW: u64 = 1000;
/// How long one that was killed is waited for.
const DYING: Duration = Duration::from_millis(100);
/// How often the family is looked for anew while it is killed. A process may start another between being seen and being
/// killed, but one that is being killed starts no more.
const ROUNDS: usize = 16;

/// A child and all its descendants. Dropping it kills them.
#[derive(Debug)]
pub struct ProcessTree {
    root: Option<Pid>,
    /// Whether the root is a keeper, which must outlive what it keeps.
    kept: bool,
    tag: String,
    /// When the child was started; its family came later.
    began: u64,
    /// Whether the child's own number may be somebody else's by now.
    pub(crate) reaped: Arc<AtomicBool>,
    is_ended: bool,
}

impl ProcessTree {
    pub(crate) fn new(pid: Option<u32>, kept: bool, tag: String) -> Self {
        let root = pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let began = proc::now().saturating_sub(SKEW);
        Self { root, kept, tag, began, reaped: Arc::default(), is_ended: false }
    }

    /// The name of a variable no other child of this machine has.
    pub(crate) fn fresh_tag() -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{TAG}{}_{}_{count}", std::process::id(), started.as_nanos())
    }

    /// Asks the whole family to leave (SIGTERM) and kills what is left of it after `grace`. Comes back when they are gone.
    pub async fn stop(mut self, grace: Duration) {
        let mut family = self.family();
        Self::signal_all(&family, Signal::TERM);
        // A keeper follows its command by itself, with its status.
        family.extend(self.living_root());
        are_gone_within(&family, grace).await;
        // Those who came meanwhile are found here.
        let killed = self.end();
        are_gone_within(&killed, DYING).await;
        self.is_ended = true;
    }

    /// Kills the whole family now.
    pub fn kill(self) {}

    /// Kills everybody who can be found, and gives them.
    fn end(&self) -> HashSet<Pid> {
        let mut killed = HashSet::new();
        for _ in 0..ROUNDS {
            let new: HashSet<Pid> = self.family().difference(&killed).copied().collect();
            if new.is_empty() {
                break;
            }
            Self::signal_all(&new, Signal::KILL);
            killed.extend(new);
        }
        // A keeper goes last: while it lives, what loses its parent stays in sight.
        if let Some(root) = self.living_root() {
            let _ = kill_process(root, Signal::KILL);
        }
        killed
    }

    /// A group gets it at once: a shell whose child goes first takes that for the end of its work, and ends as if it had
    /// not been asked. And everybody gets it once: some programs take a second request to leave for an impatient one.
    fn signal_all(family: &HashSet<Pid>, signal: Signal) {
        let group_of = |pid: &Pid| getpgid(Some(*pid)).ok();
        let groups: HashSet<Pid> =
            family.iter().filter_map(group_of).filter(|group| family.contains(group)).collect();
        for group in &groups {
            let _ = kill_process_group(*group, signal);
        }
        // Asked again: one that has left its group in between was not reached with it.
        let is_missed = |pid: &&Pid| group_of(pid).is_none_or(|group| !groups.contains(&group));
        for pid in family.iter().filter(is_missed) {
            let _ = kill_process(*pid, signal);
        }
    }

    fn living_root(&self) -> Option<Pid> {
        self.root.filter(|_| !self.reaped.load(Ordering::Acquire))
    }

    /// Everybody but a keeper.
    fn family(&self) -> HashSet<Pid> {
        let mut family = proc::tagged(&self.tag, self.began);
        if let Some(root) = self.living_root() {
            family.extend(proc::descendants(root));
            if self.kept {
                family.remove(&root);
            } else {
                family.insert(root);
            }
        }
        family
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if !self.is_ended {
            self.end();
        }
    }
}

/// Waits until these are gone, but not longer than `time`.
async fn are_gone_within(family: &HashSet<Pid>, time: Duration) {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline && family.iter().any(|pid| proc::lives(*pid)) {
        tokio::time::sleep(LOOK).await;
    }
}

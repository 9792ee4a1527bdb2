//! What `/proc` tells about processes. Where there is none, nothing is told.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Read,
};

use rustix::process::{Pid, test_kill_process};

/// The living descendants of a process, found by parents; not the process itself.
pub(crate) fn descendants(of: Pid) -> HashSet<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for pid in all() {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = HashSet::new();
    let mut next = vec![of];
    while let Some(pid) = next.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if found.insert(child) {
                next.push(child);
            }
        }
    }
    found
}

/// The living processes, but for this one, whose environment had this variable when they began.
pub(crate) fn tagged(tag: &str) -> HashSet<Pid> {
    let mark = format!("{tag}=1");
    let own = rustix::process::getpid();
    all().filter(|pid| *pid != own && is_tagged(*pid, &mark)).collect()
}

/// Whether a process is there, and no zombie where that can be told.
pub(crate) fn lives(pid: Pid) -> bool {
    if cfg!(target_os = "linux") { parent(pid).is_some() } else { test_kill_process(pid).is_ok() }
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
}

fn is_tagged(pid: Pid, mark: &str) -> bool {
    let mut environment = Vec::new();
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let read = fs::File::open(path).and_then(|mut file| file.read_to_end(&mut environment));
    // A zombie's environment is empty, so the dead are not counted.
    read.is_ok() && environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// The parent of a process that lives.
fn parent(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in parentheses may hold anything; state and parent follow the last one.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    if matches!(state, "Z" | "X") { None } else { Pid::from_raw(parent) }
}

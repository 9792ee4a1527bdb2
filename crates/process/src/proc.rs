//! What `/proc` tells about processes. Where there is none, nothing is told.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Read,
    time::Duration,
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

/// How often, and after which pauses, one is looked at again that is just becoming another program.
const LOOKS: usize = 25;
const PAUSE: Duration = Duration::from_millis(2);
/// The longest environment that Linux gives to a program, in bytes, unless the limit of the stack was raised.
const MOST: usize = 2 * 1024 * 1024;

/// The living processes, but for this one, whose environment had this variable when they began. Of those that have begun
/// since `began`, one that is just becoming another program shows none for a moment, and is waited for.
pub(crate) fn tagged(tag: &str, began: u64) -> HashSet<Pid> {
    let mark = format!("{tag}=1");
    let own = rustix::process::getpid();
    let (mut found, mut unsure) = (HashSet::new(), Vec::new());
    let mut buffer = vec![0; MOST];
    let mut look = |pid: Pid| match environment(pid, &mut buffer) {
        Some([]) => is_program(pid, began),
        Some(environment) => {
            if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
                found.insert(pid);
            }
            false
        }
        None => false,
    };
    unsure.extend(all().filter(|pid| *pid != own && look(*pid)));
    for _ in 0..LOOKS {
        if unsure.is_empty() {
            break;
        }
        std::thread::sleep(PAUSE);
        unsure.retain(|pid| look(*pid));
    }
    found
}

/// How long the machine runs, as the beginnings of processes are told.
pub(crate) fn now() -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    // Seconds with two digits behind the point; beginnings are told in hundredths.
    uptime.split(' ').next().and_then(|up| up.replace('.', "").parse().ok()).unwrap_or(0)
}

/// Whether a process is there, and no zombie where that can be told.
pub(crate) fn lives(pid: Pid) -> bool {
    if cfg!(target_os = "linux") { parent(pid).is_some() } else { test_kill_process(pid).is_ok() }
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
}

/// The environment of a process when it began; empty if it is dead, of the kernel, has none, or is just becoming another
/// program. It is read at once: a second look might be at another program, which looks like the end of the first.
fn environment(pid: Pid, buffer: &mut [u8]) -> Option<&[u8]> {
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let length = fs::File::open(path).ok()?.read(buffer).ok()?;
    Some(&buffer[..length])
}

/// Whether a process lives, is not of the kernel, and has begun since then.
fn is_program(pid: Pid, began: u64) -> bool {
    const OF_KERNEL: u64 = 0x0020_0000;
    let Ok(stat) = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())) else { return false };
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    let is_dead = matches!(fields.first(), None | Some(&"Z" | &"X"));
    !is_dead && number(6) & OF_KERNEL == 0 && number(19) >= began
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

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
    stat(pid).is_some_and(|stat| stat.flags & OF_KERNEL == 0 && stat.began >= began)
}

/// The parent of a process that lives.
fn parent(pid: Pid) -> Option<Pid> {
    Pid::from_raw(stat(pid)?.parent)
}

/// What is told of a process that lives.
struct Stat {
    parent: i32,
    flags: u64,
    began: u64,
}

fn stat(pid: Pid) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in parentheses may hold anything; state and parent follow the last one.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let flags = fields.nth(4)?.parse().ok()?;
    let began = fields.nth(12)?.parse().ok()?;
    (!is_dead).then_some(Stat { parent, flags, began })
}

//! The keeper, on Linux.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Command, ExitCode},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process,
        pidfd_open, set_child_subreaper, set_parent_process_death_signal, setrlimit, wait,
    },
};

use super::{ARGUMENT, EXEC, cannot_start, complain};
use crate::proc;

/// How long an orphan that was killed may take to go before it is looked for again.
const PAUSE: Duration = Duration::from_millis(2);
/// After so many looks the keeper goes, whoever is left.
const LOOKS: usize = 500;

/// How long what a command leaves running may take to go by itself, if the command was asked to leave and so they were.
const GRACE: Duration = Duration::from_secs(3);

/// Also if the file has been replaced.
const ITSELF: &str = "/proc/self/exe";

/// Whether this system has what a keeper needs.
pub(super) fn works() -> bool {
    pidfd_open(getpid(), PidfdFlags::empty()).is_ok()
}

/// Starts the command and stays until it has ended, or until the owner has, and then ends all below.
pub(super) fn keep(owner: i32, program: &OsStr, args: &[OsString], leaves_nothing: bool) -> ExitCode {
    let Some(owner) = watch(owner) else { return ExitCode::FAILURE };
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        complain(&format!("cannot keep orphans: {error}"));
        return ExitCode::FAILURE;
    }
    let keeper = getpid().as_raw_nonzero().to_string();
    let mut command = Command::new(ITSELF);
    command.args([ARGUMENT, EXEC, &keeper, "--"]).arg(program).args(args).process_group(0);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return cannot_start(program, &error),
    };
    let complaints = if leaves_nothing { io::stderr().as_fd().try_clone_to_owned().ok() } else { None };
    let_go_of_streams();
    let owner = Arc::new(owner);
    let watched = Arc::clone(&owner);
    let watch = thread::spawn(move || {
        has_ended(&watched, None);
        end_all();
        std::process::exit(1);
    });
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let status = child.and_then(status_of);
    if has_ended(&owner, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        // The child was only the first to go.
        let _ = watch.join();
    }
    if leaves_nothing {
        let was_asked = status.and_then(WaitStatus::terminating_signal) == Some(Signal::TERM.as_raw());
        sweep(was_asked, complaints);
    }
    status.map_or(ExitCode::FAILURE, end_like)
}

/// Becomes the command, which dies with the keeper from now on.
pub(super) fn exec(keeper: i32, program: &OsStr, args: &[OsString]) -> ExitCode {
    // The signal is sent for a parent that goes after this; one that is gone already is no longer the parent.
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() || getppid() != Pid::from_raw(keeper) {
        return ExitCode::FAILURE;
    }
    cannot_start(program, &Command::new(program).args(args).exec())
}

/// A descriptor of the owner, if that is still our parent.
fn watch(owner: i32) -> Option<OwnedFd> {
    let owner = Pid::from_raw(owner)?;
    let descriptor = pidfd_open(owner, PidfdFlags::empty()).ok()?;
    // Asked after the descriptor was opened: a number that was given anew is not our parent's.
    (getppid() == Some(owner)).then_some(descriptor)
}

/// Whether a process has ended; waits for it up to the timeout.
fn has_ended(process: &OwnedFd, timeout: Option<&Timespec>) -> bool {
    loop {
        match poll(&mut [PollFd::new(process, PollFlags::IN)], timeout) {
            Err(Errno::INTR) => {}
            ended => return ended.is_ok_and(|ended| ended > 0),
        }
    }
}

/// Waits for the child, and for orphans on the way.
fn status_of(child: Pid) -> Option<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => return Some(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Ends as the child has ended, so that whoever waits sees no difference.
fn end_like(status: WaitStatus) -> ExitCode {
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        // The child has left its core, if it was to leave one.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        let _ = kill_process(getpid(), signal);
    }
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The streams are the command's; held open here, their other ends would not see it close them.
fn let_go_of_streams() {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null");
    if let Ok(null) = null {
        let done: Result<(), io::Error> = rustix::stdio::dup2_stdin(&null)
            .and_then(|()| rustix::stdio::dup2_stdout(&null))
            .and_then(|()| rustix::stdio::dup2_stderr(&null))
            .map_err(Into::into);
        drop(done);
    }
}

/// Ends what the command has left running, and says who could not be ended.
fn sweep(was_asked: bool, complaints: Option<OwnedFd>) {
    let deadline = Instant::now() + if was_asked { GRACE } else { Duration::ZERO };
    while has_children() {
        if Instant::now() < deadline {
            thread::sleep(PAUSE);
            continue;
        }
        let left = end_all();
        if let (false, Some(complaints)) = (left.is_empty(), complaints) {
            let numbers: Vec<String> = left.iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
            let (count, numbers) = (left.len(), numbers.join(", "));
            let _ = writeln!(
                File::from(complaints),
                "nudge: {count} of the processes that this command has started could not be stopped and live on: {numbers}"
            );
        }
        return;
    }
}

/// Whether there is a child that lives; those that have ended are reaped.
fn has_children() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(None) => return true,
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Kills everything below, until there is nothing; gives those who are left because they cannot be killed.
fn end_all() -> HashSet<Pid> {
    let (mut killed, mut refused) = (HashSet::new(), HashSet::new());
    let mut left = HashSet::new();
    for _ in 0..LOOKS {
        left = proc::descendants(getpid());
        if left.is_subset(&refused) {
            break;
        }
        for pid in &left {
            if kill_process(*pid, Signal::KILL) == Err(Errno::PERM) {
                refused.insert(*pid);
            }
        }
        if left.is_subset(&killed) {
            thread::sleep(PAUSE);
        }
        killed.extend(left.iter().copied());
    }
    left
}

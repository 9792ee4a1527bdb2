//! Children that end with their owner even if that is killed.
//!
//! With [`set_program`] an owner says where a program is that calls [`run`]; normally its own. Children are then started
//! in two steps:
//!
//! 1. The *keeper* stays. It is the reaper of all orphans below it, so that nothing the command starts gets out of its
//!    sight while it lives: not by leaving the process group or the session, not by losing its parent, not by dropping its
//!    environment. It waits for the owner's end by the owner's descriptor (`pidfd`). When the owner goes, it kills all
//!    below it.
//! 2. The command is started with a parent-death signal, so that it dies if the keeper is killed.
//!
//! This holds commands that are careless, not those that want to get away: the keeper is a process of the same user, and
//! a command may kill it. Then the command dies, but what it has started by then is nobody's any more, and only the
//! owner's [`ProcessTree`](crate::ProcessTree) may still find it.
//!
//! A parent-death signal alone would not do: it reaches the command, but nothing the command has started; and it is sent
//! when the *thread* that started the command ends, which in a thread pool may be at any time. The keeper costs one
//! waiting process per child, and the exit status passes through it.
//!
//! What a command leaves running when it ends by itself is no longer kept; its owner's [`ProcessTree`](crate::ProcessTree) still finds it,
//! unless it has dropped its environment as well. A command that is to leave nothing
//! ([`ProcessCommand::leave_nothing`](crate::ProcessCommand::leave_nothing)) has a keeper that first kills what is left, and says on the
//! command's standard error what it could not kill.
//!
//! This needs Linux 5.3. Elsewhere children are started directly and die with their owner only if that gets to drop them.

use std::{
    ffi::{OsStr, OsString},
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::OnceLock,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static OPEN_FILES: OnceLock<u64> = OnceLock::new();

/// The first argument by which the program knows that it is to call [`run`].
pub const ARGUMENT: &str = "__child";

const KEEP: &str = "keep";
/// As `keep`, and nothing is left when the command has ended.
const SWEEP: &str = "sweep";
const EXEC: &str = "exec";
/// Between the owner and the limit on open files.
const LIMIT: char = ':';

/// Says which program starts children from now on, by [`run`]. Only the first call counts.
pub fn set_program(path: impl Into<PathBuf>) {
    let _ = PROGRAM.set(path.into());
}

/// Says under which soft limit on open files children are started by [`run`] from now on, where that of their owner is
/// not theirs. Only the first call counts.
pub fn set_open_files(limit: u64) {
    let _ = OPEN_FILES.set(limit);
}

/// The program that starts children, where that is of use.
pub(crate) fn program() -> Option<&'static Path> {
    static WORKS: OnceLock<bool> = OnceLock::new();
    // A program that was taken away while its process runs on is no reason not to start anything any more.
    let program = PROGRAM.get().filter(|program| program.exists())?;
    WORKS.get_or_init(imp::works).then_some(program.as_path())
}

/// The arguments that make the program a keeper of the command that follows.
pub(crate) fn keeper_args(owner: u32, leaves_nothing: bool) -> [OsString; 4] {
    let role = if leaves_nothing { SWEEP } else { KEEP };
    let owner = match OPEN_FILES.get() {
        Some(limit) => format!("{owner}{LIMIT}{limit}"),
        None => owner.to_string(),
    };
    [ARGUMENT.into(), role.into(), owner.into(), "--".into()]
}

/// Starts a command as asked, and comes back when it has ended. To be called first thing, before there are threads, with
/// the arguments that follow [`ARGUMENT`].
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let [role, parent, dashes, command @ ..] = args.as_slice() else { return misused() };
    let parent = parent.to_str().unwrap_or_default();
    let (parent, limit) =
        parent.split_once(LIMIT).map_or((parent, None), |(parent, limit)| (parent, Some(limit)));
    if let Some(limit) = limit.and_then(|limit| limit.parse().ok()) {
        limit_open_files(limit);
    }
    let parent = parent.parse().ok();
    match (role.to_str(), parent, command) {
        (Some(role @ (KEEP | SWEEP)), Some(owner), [program, args @ ..]) if dashes == "--" => {
            imp::keep(owner, program, args, role == SWEEP)
        }
        (Some(EXEC), Some(keeper), [program, args @ ..]) if dashes == "--" => {
            imp::exec(keeper, program, args)
        }
        _ => misused(),
    }
}

/// Takes back what the owner has raised for itself alone.
fn limit_open_files(limit: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // It could only be raised within the hard limit, so there is nothing that could refuse this.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(limit), maximum });
}

fn misused() -> ExitCode {
    complain(&format!("`{ARGUMENT}` is for Nudge itself and takes what Nudge gives it"));
    ExitCode::from(2)
}

fn complain(what: &str) {
    // Nobody may be there to read it.
    let _ = writeln!(std::io::stderr(), "nudge: {what}");
}

fn cannot_start(program: &OsStr, error: &std::io::Error) -> ExitCode {
    complain(&format!("cannot start `{}`: {error}", program.to_string_lossy()));
    ExitCode::from(127)
}

#[cfg(target_os = "linux")]
#[path = "keeper.rs"]
mod imp;

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::*;
    use std::os::unix::process::CommandExt;

    pub(super) fn works() -> bool {
        false
    }

    pub(super) fn keep(owner: i32, program: &OsStr, args: &[OsString], _: bool) -> ExitCode {
        exec(owner, program, args)
    }

    pub(super) fn exec(_: i32, program: &OsStr, args: &[OsString]) -> ExitCode {
        cannot_start(program, &std::process::Command::new(program).args(args).exec())
    }
}

//! Scripted peers and measuring sticks for Nudge's own tests.
#![allow(clippy::disallowed_methods, reason = "tests start processes, read files and wait")]

mod build;
mod held;
mod page;
mod planted;
mod process;
mod proxy;
pub mod scripted;
mod terminal;

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

pub use build::build_nudge;
pub use held::Held;
pub use page::check_section;
pub use planted::PlantedSecret;
pub use process::Process;
pub use proxy::{LoopbackProxy, ProxiedConnection};
pub use terminal::Terminal;

/// How long a test waits for something that ought to come at once, on a machine that is busy.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

/// A folder of reference material beside the repository, if there is one.
pub fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    path.is_dir().then_some(path)
}

/// Says that a test did not run and why.
pub fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// The program built from the example `name` of `package`, built now if it is not: `cargo test --test it` builds no
/// examples.
pub fn example(package: &str, name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let mut path = std::env::current_exe().expect("a test knows its own path");
    path.pop();
    path.pop();
    let release = path.ends_with("release");
    BUILT.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--package", package, "--example", name]);
        build.args(release.then_some("--release"));
        assert!(build.status().is_ok_and(|status| status.success()), "the example {name} is built");
    });
    path.join("examples").join(name)
}

/// The largest amount of memory, in bytes, process `pid` has had in use so far. `None` where `/proc` does not tell.
pub fn peak_memory(pid: u32) -> Option<usize> {
    status_line(pid, "VmHWM:")
}

/// The memory, in bytes, process `pid` has in use. `None` where `/proc` does not tell.
pub fn memory(pid: u32) -> Option<usize> {
    status_line(pid, "VmRSS:")
}

fn status_line(pid: u32, name: &str) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Whether process `pid` lives, zombies not counted.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Waits until `done`, which must come about soon.
pub fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !done() {
        assert!(began.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

//! The programs under test and where they are.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rustix::process::{Pid, Signal, kill_process};

/// The folder of this package.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the repository.
pub(crate) fn repository() -> PathBuf {
    package().join("../..").canonicalize().expect("the package is in the repository")
}

/// The folder of what is built.
pub(crate) fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("cargo's folder for tests is in the target folder")
}

/// A program that `setup` has installed, or nothing, said on standard error.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let path = target().join("editors/bin").join(name);
    if path.exists() {
        return Some(path);
    }
    nudge_testkit::skipped(&format!("{name} is not installed; crates/editors/setup installs it"));
    None
}

/// The binary `nudge`: the one named by `NUDGE_BIN`, or built on first use.
pub(crate) fn nudge() -> &'static str {
    static NUDGE: OnceLock<String> = OnceLock::new();
    NUDGE.get_or_init(|| {
        std::env::var("NUDGE_BIN").unwrap_or_else(|_| nudge_testkit::build_nudge(package(), target()))
    })
}

/// The search path with `nudge` first.
pub(crate) fn path_with_nudge() -> String {
    let nudge = Path::new(nudge()).parent().expect("the program is in a folder").display();
    format!("{nudge}:{}", std::env::var("PATH").unwrap_or_default())
}

/// Ends every process that has been started with this data folder: an editor, what it has started and the daemon, which would
/// be started again if the editor were left.
pub(crate) fn end_all(data: &Path) {
    let entry = format!("NUDGE_DATA={}", data.display());
    // What was being started at the first time is there at the second.
    for _ in 0..2 {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
        for pid in pids.filter(|pid| has_in_environment(*pid, &entry)).filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Whether a process was started with this in its environment.
pub(crate) fn has_in_environment(pid: i32, entry: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|each| each == entry.as_bytes())
}

/// The folder or program that a variable of the environment names, or nothing, said on standard error.
pub(crate) fn given(variable: &str, what: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        nudge_testkit::skipped(&format!("{variable} does not name {what}"));
    }
    path
}

/// The first piece of code in this language below a heading of `editors/README.md`: what users are told is what is tried.
pub(crate) fn snippet(heading: &str, language: &str) -> String {
    let page = std::fs::read_to_string(repository().join("editors/README.md")).expect("the page is there");
    let below = page.split_once(&format!("# {heading}\n")).map(|(_, below)| below);
    let code = below.and_then(|below| below.split_once(&format!("```{language}\n")));
    let code = code.and_then(|(_, code)| code.split_once("```"));
    let (code, _) = code.unwrap_or_else(|| panic!("the page has no {language} below {heading}"));
    code.to_owned()
}

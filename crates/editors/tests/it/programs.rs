//! The programs under test and where they are.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

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
    NUDGE.get_or_init(|| std::env::var("NUDGE_BIN").unwrap_or_else(|_| build()))
}

fn build() -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--locked", "--package=nudge", "--bin=nudge", "--message-format=json"])
        .arg("--target-dir")
        .arg(target())
        .current_dir(package())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "nudge does not build");
    let messages = serde_json::Deserializer::from_slice(&built.stdout).into_iter::<Value>().flatten();
    let binary = messages.filter_map(|message| message["executable"].as_str().map(str::to_owned)).last();
    binary.expect("cargo says where the binary is")
}

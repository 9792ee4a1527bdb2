//! `cargo xtask bench`: one benchmark, in the release profile.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{cargo, run as run_command};

/// What can be measured.
const NAMES: &[&str] = &["peer", "nes", "hub", "relay", "model", "chat"];

pub(crate) fn run(root: &Path, name: &str, args: &[String]) -> Result<()> {
    if !NAMES.contains(&name) {
        bail!("there is no benchmark `{name}`; there is: {}", NAMES.join(", "));
    }
    // The benchmark starts the binary it finds beside itself.
    run_command(&mut cargo(root, ["build", "--release", "--bin=nudge"]))?;
    // A program to compare with is named from where one is, which need not be the root.
    let manifest = format!("--manifest-path={}", root.join("Cargo.toml").display());
    let bench = ["run", "--release", &manifest, "--package=nudge-bench", "--", name];
    run_command(cargo(Path::new("."), bench).args(args))
}

//! `cargo xtask bench`: one benchmark, in the release profile.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{cargo, run as run_command};

/// What can be measured.
const NAMES: &[&str] = &["peer", "nes", "hub", "relay"];

pub(crate) fn run(root: &Path, name: &str, args: &[String]) -> Result<()> {
    if !NAMES.contains(&name) {
        bail!("there is no benchmark `{name}`; there is: {}", NAMES.join(", "));
    }
    // The benchmark starts the binary it finds beside itself.
    run_command(&mut cargo(root, ["build", "--release", "--bin=nudge"]))?;
    run_command(cargo(root, ["run", "--release", "--package=nudge-bench", "--", name]).args(args))
}

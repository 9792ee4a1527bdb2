//! `cargo xtask real-model`: a language model that runs on this machine behind the built-in agent.

use std::path::Path;

use anyhow::Result;

use crate::command::{cargo, run as run_command};

pub(crate) fn run(root: &Path, is_quick: bool) -> Result<()> {
    // The harness starts the binary it finds beside itself.
    run_command(&mut cargo(root, ["build", "--bin=nudge"]))?;
    let mut harness = cargo(root, ["run", "--package=nudge-peers", "--", "model"]);
    run_command(harness.args(is_quick.then_some("--quick")))
}

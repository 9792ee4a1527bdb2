//! `cargo xtask chaos`: the crash tests, many times.

use std::path::Path;

use anyhow::Result;

use crate::command::{cargo, run as run_command};

/// Runs with an agent behind Nudge that comes to harm, and with Nudge itself killed now and then.
pub(crate) fn with_agent(root: &Path, runs: u64, seed: u64) -> Result<()> {
    run_command(&mut cargo(root, ["build", "--package=nudge-testkit", "--bins"]))?;
    let mut tests =
        cargo(root, ["test", "--package=nudge", "--test=it", "--", "chaos::agent::", "--nocapture"]);
    tests.env("NUDGE_CHAOS_AGENT_RUNS", runs.to_string());
    run_command(tests.env("NUDGE_CHAOS_SEED", seed.to_string()))
}

pub(crate) fn run(root: &Path, runs: u64, each: u64, seed: u64) -> Result<()> {
    let build = ["test", "--package=nudge", "--features=failpoints", "--test=it"];
    let args = [&build[..], &["--", "chaos::", "--skip=chaos::agent::", "--nocapture"]].concat();
    let mut tests = cargo(root, args);
    tests.env("NUDGE_CHAOS_RUNS", runs.to_string()).env("NUDGE_CHAOS_EACH", each.to_string());
    run_command(tests.env("NUDGE_CHAOS_SEED", seed.to_string()))
}

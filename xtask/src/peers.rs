//! `cargo xtask peers`: real agents through `nudge acp --`, and the table in docs/agents.md.

use std::path::Path;

use anyhow::Result;

use crate::command::{cargo, run as run_command};

/// Where the table stands, between its marks.
const PAGE: &str = "docs/agents.md";

/// What is tried.
#[derive(Debug, clap::Args)]
pub(crate) struct Peers {
    /// This agent, which may be given several times; all if left out
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// A few agents, one version each, in less than ten minutes
    #[arg(long)]
    quick: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Passed on to the harness: `--direct`, `--version 2`, `--step steer`
    #[arg(last = true)]
    args: Vec<String>,
}

pub(crate) fn run(root: &Path, peers: &Peers) -> Result<()> {
    // The harness starts the binary it finds beside itself.
    run_command(&mut cargo(root, ["build", "--bin=nudge"]))?;
    let mut harness = cargo(root, ["run", "--package=nudge-peers", "--", "run"]);
    harness.args(peers.only.iter().flat_map(|name| ["--only", name]));
    harness.args(peers.quick.then_some("--quick")).args(peers.json.then_some("--json"));
    // The page tells of all agents or of none.
    if peers.only.is_empty() && !peers.quick && peers.args.is_empty() {
        harness.args(["--page", PAGE]);
    }
    run_command(harness.args(&peers.args))
}

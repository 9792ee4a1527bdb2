//! `cargo xtask faults`: what becomes of a turn when something fails, and the tables in docs/faults.md.

use std::path::Path;

use anyhow::Result;

use crate::command::{cargo, run as run_command};

/// What `--help` says first.
pub(crate) const ABOUT: &str = "Break the model's server, a tool's server and the agent's own process in mid-turn, and see what becomes \
    of the turn, its session and what the user says";

/// What `--help` says at the end.
pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask faults                              all agents, all faults; up to an hour. Writes docs/faults.md
  cargo xtask faults --quick                      Nudge's own agent and the most telling faults; less than a minute
  cargo xtask faults --agent goose-1.52           one agent; the page stays as it is
  cargo xtask faults --fault 'wrong key' --write  one fault with every agent, and its row on the page anew
  cargo xtask faults --agent opencode --behind    also with `nudge acp --` in front of it

What the cells say: how many seconds until the user sees anything, and what went wrong:
  stuck       nothing was to be seen as long as was waited (60 s, 30 s where the server is silent)
  dead        the next prompt in the same session did not work, with the server well again
  lost        a message sent as the fault struck was taken, and no model ever got it
  no cancel   a cancel did not end the turn within 2 s

Agents are installed below target/peers; what was said is kept in target/peers/faults. Progress goes to standard error, without colours
if NO_COLOR is set. Ctrl-C ends the run and everything that it has started. The exit status is 1 if Nudge's own agent has a defect.";

/// What is tried.
#[derive(Debug, clap::Args)]
pub(crate) struct Faults {
    /// This agent, which may be given several times: nudge, goose-1.52, opencode, claude-agent-acp, codex-acp, gemini-cli, qwen-code
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// This fault, which may be given several times; the page has their names
    #[arg(long, value_name = "NAME")]
    fault: Vec<String>,
    /// Nudge's own agent and the most telling faults
    #[arg(long)]
    quick: bool,
    /// The other agents also behind Nudge
    #[arg(long)]
    behind: bool,
    /// Put what is seen into the page, in place of what it says of the same agents and faults; a run of everything does so anyway
    #[arg(long)]
    write: bool,
    /// How many cases at a time
    #[arg(long, value_name = "NUMBER")]
    jobs: Option<u8>,
}

pub(crate) fn run(root: &Path, faults: &Faults) -> Result<()> {
    // The harness starts the binary it finds beside itself.
    run_command(&mut cargo(root, ["build", "--quiet", "--bin=nudge"]))?;
    let mut harness = cargo(root, ["run", "--quiet", "--package=nudge-peers", "--", "faults"]);
    harness.args(faults.agent.iter().flat_map(|name| ["--agent", name]));
    harness.args(faults.fault.iter().flat_map(|name| ["--fault", name]));
    harness.args(faults.quick.then_some("--quick")).args(faults.behind.then_some("--behind"));
    harness.args(faults.jobs.map(|jobs| format!("--jobs={jobs}")));
    let is_whole = faults.agent.is_empty() && faults.fault.is_empty() && !faults.quick;
    harness.args((faults.write || is_whole).then_some("--write"));
    run_command(&mut harness)
}

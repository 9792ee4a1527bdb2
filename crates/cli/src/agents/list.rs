//! `nudge agents`: the catalogue.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Result;
use serde_json::json;

use super::catalogue::{CatalogueAgent, KNOWN};

/// List the agents that Nudge was tried with, and how each is started
///
/// `nudge acp --agent NAME` stands in front of one of them; `nudge acp -- COMMAND` of any other.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge agents
  nudge agents --json | jq -r '.[] | select(.installed) | .name'")]
pub(crate) struct AgentsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    if args.json {
        let agents: Vec<_> = KNOWN.iter().map(described).collect();
        writeln!(out, "{}", serde_json::to_string(&agents)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for known in KNOWN {
        let mark = if is_installed(known.program) { "installed" } else { "not found" };
        writeln!(out, "{:<10} {:<20} {:<22} {mark}", known.name, known.title, command(known))?;
        writeln!(out, "{:<10} from {}; steered by tier {}", "", known.package, known.tier)?;
        if !known.notes.is_empty() {
            writeln!(out, "{:<10} {}", "", known.notes)?;
        }
    }
    writeln!(
        out,
        "\nNudge adds to each: next edit suggestions, queue, steer, revoke and replace, sessions that outlive the \
         window, both versions of the protocol.\nTry one: nudge doctor --agent NAME"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn described(known: &CatalogueAgent) -> serde_json::Value {
    json!({
        "name": known.name,
        "title": known.title,
        "command": command(known),
        "package": known.package,
        "installed": is_installed(known.program),
        "steerTier": known.tier,
        "notes": known.notes,
    })
}

fn command(known: &CatalogueAgent) -> String {
    std::iter::once(known.program).chain(known.args.iter().copied()).collect::<Vec<_>>().join(" ")
}

/// Whether a shell would find it.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

//! What is between client and agent.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::json;

use super::client::Client;
use crate::hub::place::Place;

/// One of the three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leg {
    Direct,
    Nudge,
    Conductor,
}

impl Leg {
    pub(crate) const ALL: [Self; 3] = [Self::Direct, Self::Nudge, Self::Conductor];

    /// A client at one end of it and the agent at the other.
    pub(crate) fn start(self, place: &Place) -> Result<Client> {
        let program = std::env::current_exe()?;
        let program = program.to_str().context("the program's name is text")?;
        let mut command = match self {
            Self::Direct => bench(program, &["agent", "raw"]),
            Self::Nudge => place.command(&[], &["acp", "--", program, "agent", "raw"]),
            Self::Conductor => bench(program, &["conductor", &format!("{program} agent raw")]),
        };
        command.stderr(Stdio::inherit());
        Client::start(command).with_context(|| format!("{self:?}"))
    }

    /// The processes that are between, once the client has started.
    pub(crate) fn between(self, client: &mut Client) -> Result<Vec<u32>> {
        let mut processes = vec![client.child.id()];
        if self == Self::Nudge {
            let status = client.ask("_nudge/status", &json!({}))?;
            processes.push(u32::try_from(status["pid"].as_u64().context("a status has a process")?)?);
        }
        Ok(processes)
    }
}

fn bench(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

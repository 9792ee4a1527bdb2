//! Nudge and its peers measured side by side, in one run on one machine. `cargo xtask bench NAME` runs it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads clocks and starts processes")]

mod against;
mod cases;
mod chat;
mod chosen;
mod cpu;
mod hub;
mod idle;
mod large;
mod messages;
mod model;
mod nes;
mod options;
mod ours;
mod relay;
mod report;
mod sdk;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;

use crate::options::Options;

/// Nudge measured: beside its peers, or beside an older build of its own.
#[derive(Debug, Parser)]
#[command(name = "nudge-bench", disable_help_subcommand = true)]
enum Bench {
    /// Nudge's connection beside that of the official Rust SDK
    Peer {
        /// Measure little, in seconds, to see that it works
        #[arg(long)]
        quick: bool,
    },
    /// Suggestions in a large file of a large workspace
    Nes {
        /// Measure little, in seconds, to see that it works
        #[arg(long)]
        quick: bool,
    },
    /// From a key to the screen in `nudge chat`, while words stream
    Chat {
        /// Measure little, in seconds, to see that it works
        #[arg(long)]
        quick: bool,
    },
    /// Sessions: injects, fan-out, lists, replay, the relay
    Hub(Options),
    /// `nudge acp --` beside the official conductor, between the same client and agent
    Relay(Options),
    /// The stream of a model through `nudge acp`, beside libraries that read the same stream
    Model(Options),
    /// Only Nudge's side of `peer`, `memory` or `stdio`, to look at with a profiler
    Profile { place: String },
    /// An agent, started by the benchmark itself, as are those below
    #[command(hide = true)]
    Agent { of: String },
    #[command(hide = true)]
    Conductor { agent: String },
    #[command(hide = true)]
    Pass { of: String },
    #[command(hide = true)]
    Sink,
    #[command(hide = true)]
    Provider,
    #[command(hide = true)]
    Reader { of: String, base: String, wish: String },
    #[command(hide = true)]
    Idle { of: String, count: usize },
}

fn main() -> Result<ExitCode> {
    match Bench::parse() {
        Bench::Peer { quick } => cases::run(quick)?,
        Bench::Nes { quick } => nes::run(quick)?,
        Bench::Chat { quick } => chat::run(quick)?,
        Bench::Hub(options) => return hub::run(&options),
        Bench::Relay(options) => return relay::run(&options),
        Bench::Model(options) => return model::run(&options),
        Bench::Profile { place } => cases::profile(&place)?,
        Bench::Agent { of } => agent(&of)?,
        Bench::Conductor { agent } => ends_with_parent().and_then(|()| relay::conductor(&agent))?,
        Bench::Pass { of } if of == "sdk" => sdk::relay()?,
        Bench::Pass { .. } => ours::relay()?,
        Bench::Sink => large::sink()?,
        Bench::Provider => ends_with_parent().and_then(|()| model::provider())?,
        Bench::Reader { of, base, wish } => model::reader(&of, &base, &wish)?,
        Bench::Idle { of, count } => idle::process(&of, count)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn agent(of: &str) -> Result<()> {
    match of {
        "nudge" => ours::agent(),
        "sdk" => sdk::agent(),
        "raw" => ends_with_parent().and_then(|()| relay::agent()),
        _ => bail!("there is no agent `{of}`"),
    }
}

/// An agent that reads nothing more does not see that whoever started it is gone.
fn ends_with_parent() -> Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

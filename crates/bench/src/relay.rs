//! `nudge acp -- AGENT` and the official conductor between the same client and the same agent, as real processes.

mod agent;
mod client;
mod large;
mod leg;
mod memory;
mod report;
mod stream;
mod trips;

use anyhow::Result;
use clap::Parser as _;

pub(crate) use self::agent::agent;
use self::report::Report;
use crate::chosen::{self, Case};

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    rounds: usize,
    /// Round trips of a round, and prompts.
    trips: usize,
    prompts: usize,
    /// Updates of a turn.
    updates: usize,
    /// Large messages of a round.
    large: usize,
    /// Seconds for which an agent that does not read is written to.
    flood: u64,
}

const FULL: Sizes = Sizes { rounds: 5, trips: 1_000, prompts: 60, updates: 50_000, large: 8, flood: 5 };
const QUICK: Sizes = Sizes { rounds: 1, trips: 50, prompts: 5, updates: 500, large: 2, flood: 1 };

const CASES: [Case<Sizes, Report>; 5] = [
    ("trips", trips::echoes),
    ("prompts", trips::prompts),
    ("stream", stream::measure),
    ("large", large::measure),
    ("memory", memory::measure),
];

/// Measures and prints a table; all cases, or `only` one.
pub(crate) fn run(quick: bool, only: Option<&str>) -> Result<()> {
    let sizes = if quick { QUICK } else { FULL };
    let mut report = Report::default();
    chosen::run(&CASES, only, &sizes, &mut report)?;
    report.print();
    Ok(())
}

/// The official conductor, as its own binary runs it.
pub(crate) fn conductor(agent: &str) -> Result<()> {
    let args = agent_client_protocol_conductor::ConductorArgs::parse_from(["conductor", "agent", agent]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(args.main())
}

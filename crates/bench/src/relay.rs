//! `nudge acp -- AGENT` and the official conductor between the same client and the same agent, as real processes.

mod agent;
mod client;
mod large;
mod leg;
mod memory;
mod report;
mod stream;
mod trips;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;

pub(crate) use self::agent::agent;
use self::report::Report;
use crate::{
    against,
    chosen::{self, Case},
    options::Options,
};

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
/// Of one round, of which there are many.
const ROUND: Sizes = Sizes { rounds: 1, flood: 1, ..FULL };
const QUICK: Sizes = Sizes { rounds: 1, trips: 50, prompts: 5, updates: 500, large: 2, flood: 1 };

const CASES: [Case<Sizes, Report>; 5] = [
    Case { name: "trips", measure: trips::echoes, seed: None, round: trips::echo_round },
    Case { name: "prompts", measure: trips::prompts, seed: None, round: trips::prompt_round },
    Case { name: "stream", measure: stream::measure, seed: None, round: stream::round },
    Case { name: "large", measure: large::measure, seed: None, round: large::round },
    Case { name: "memory", measure: memory::measure, seed: None, round: memory::round },
];

/// Measures and prints a table.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(older) = &options.against {
        let sizes = if options.quick { QUICK } else { ROUND };
        return against::run(older, options, &CASES, &sizes);
    }
    let sizes = if options.quick { QUICK } else { FULL };
    let mut report = Report::default();
    chosen::run(&CASES, options.only(), &sizes, &mut report)?;
    report.print();
    Ok(ExitCode::SUCCESS)
}

/// The official conductor, as its own binary runs it.
pub(crate) fn conductor(agent: &str) -> Result<()> {
    let args = agent_client_protocol_conductor::ConductorArgs::parse_from(["conductor", "agent", agent]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(args.main())
}

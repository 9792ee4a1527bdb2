//! Sessions over the real binary: what it costs to keep input, to share a stream, to list and to replay.

pub(crate) mod client;
mod disk;
mod fan;
mod hop;
mod inject;
mod list;
pub(crate) mod place;
mod replay;
mod seed;
mod socket;
mod syncs;
pub(crate) mod table;

use std::process::ExitCode;

use anyhow::Result;

use self::table::Table;
use crate::{
    against,
    chosen::{self, Case},
    options::Options,
};

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    rounds: usize,
    /// Injects of a round, one at a time and many in flight.
    injects: usize,
    injects_in_flight: usize,
    /// Tokens streamed to this many clients.
    streams: [(usize, usize); 3],
    sessions: usize,
    starts: usize,
    lists: usize,
    /// Bytes of history: of a coding session, and of tokens alone.
    history: usize,
    tokens: usize,
    trips: usize,
}

const FULL: Sizes = Sizes {
    rounds: 3,
    injects: 400,
    injects_in_flight: 6_400,
    streams: [(1, 50_000), (10, 20_000), (100, 4_000)],
    sessions: 10_000,
    starts: 15,
    lists: 200,
    history: 100_000_000,
    tokens: 20_000_000,
    trips: 3_000,
};

/// Of one round, of which there are many.
const ROUND: Sizes = Sizes {
    rounds: 1,
    injects: 150,
    injects_in_flight: 3_200,
    streams: [(1, 20_000), (10, 6_000), (100, 1_000)],
    sessions: 10_000,
    starts: 3,
    lists: 60,
    history: 30_000_000,
    tokens: 6_000_000,
    trips: 1_500,
};

const QUICK: Sizes = Sizes {
    rounds: 1,
    injects: 20,
    injects_in_flight: 128,
    streams: [(1, 200), (3, 200), (10, 100)],
    sessions: 200,
    starts: 1,
    lists: 8,
    history: 500_000,
    tokens: 100_000,
    trips: 100,
};

const CASES: [Case<Sizes, Table>; 5] = [
    Case { name: "inject", measure: inject::measure, seed: None, round: inject::round },
    Case { name: "stream", measure: fan::measure, seed: None, round: fan::round },
    Case { name: "list", measure: list::measure, seed: Some(list::seed), round: list::round },
    Case { name: "replay", measure: replay::measure, seed: Some(replay::seed), round: replay::round },
    Case { name: "hop", measure: hop::measure, seed: None, round: hop::round },
];

/// Measures and prints a table.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(older) = &options.against {
        let sizes = if options.quick { QUICK } else { ROUND };
        return against::run(older, options, &CASES, &sizes);
    }
    let sizes = if options.quick { QUICK } else { FULL };
    let mut table = Table::default();
    chosen::run(&CASES, options.only(), &sizes, &mut table)?;
    table.print();
    Ok(ExitCode::SUCCESS)
}

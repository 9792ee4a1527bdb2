//! Sessions over the real binary: what it costs to keep input, to share a stream, to list and to replay.

mod client;
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

use anyhow::Result;

use self::table::Table;
use crate::chosen::{self, Case};

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
    ("inject", inject::measure),
    ("stream", fan::measure),
    ("list", list::measure),
    ("replay", replay::measure),
    ("hop", hop::measure),
];

/// Measures and prints a table; all cases, or `only` one.
pub(crate) fn run(quick: bool, only: Option<&str>) -> Result<()> {
    let sizes = if quick { QUICK } else { FULL };
    let mut table = Table::default();
    chosen::run(&CASES, only, &sizes, &mut table)?;
    table.print();
    Ok(())
}

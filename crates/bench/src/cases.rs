//! The cases, their rounds, and what they must show.

use std::time::Duration;

use anyhow::Result;

use crate::{
    idle, large, ours,
    report::{Row, print},
    sdk,
};

/// Where the two sides are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In one process; the official SDK over bytes in memory, Nudge over the pair that it has for this.
    Memory,
    /// In one process, over the channel of message values that the official SDK has for this; Nudge as in `Memory`.
    Channel,
    /// In two processes, over standard input and output.
    Stdio,
}

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) ticks: u64,
    pub(crate) trips: usize,
    pub(crate) trips_in_flight: usize,
    megabytes: usize,
    idle: usize,
    rounds: usize,
}

const FULL: Sizes =
    Sizes { ticks: 200_000, trips: 3_000, trips_in_flight: 32_000, megabytes: 10, idle: 10_000, rounds: 5 };
const QUICK: Sizes =
    Sizes { ticks: 10_000, trips: 300, trips_in_flight: 3_200, megabytes: 2, idle: 1_000, rounds: 1 };

/// What one run of one side brought.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    ticks_per_second: f64,
    cpu_per_tick: f64,
    trip_p50: f64,
    trip_p99: f64,
    in_flight_per_second: f64,
}

impl Measured {
    pub(crate) fn new(
        sizes: &Sizes,
        flood: Duration,
        cpu: Duration,
        mut trips: Vec<Duration>,
        in_flight: Duration,
    ) -> Self {
        trips.sort();
        #[allow(clippy::cast_precision_loss, reason = "counts are small")]
        let ticks = sizes.ticks as f64;
        #[allow(clippy::cast_precision_loss, reason = "counts are small")]
        let calls = (sizes.trips_in_flight / 64 * 64) as f64;
        Self {
            ticks_per_second: ticks / flood.as_secs_f64(),
            cpu_per_tick: micros(cpu) / ticks,
            trip_p50: micros(trips[trips.len() / 2]),
            trip_p99: micros(trips[trips.len() * 99 / 100]),
            in_flight_per_second: calls / in_flight.as_secs_f64(),
        }
    }
}

/// Runs both sides in turn, several rounds, and prints the medians with their ratios.
pub(crate) fn run(quick: bool) -> Result<()> {
    let sizes = if quick { QUICK } else { FULL };
    let mut results: [[Vec<Measured>; 2]; 3] = Default::default();
    let mut relayed: [Vec<(f64, f64)>; 2] = Default::default();
    for round in 1..=sizes.rounds {
        for (at, place) in [Place::Memory, Place::Stdio, Place::Channel].into_iter().enumerate() {
            eprintln!("round {round} of {}: {place:?}", sizes.rounds);
            results[at][0].push(ours::measure(place, &sizes)?);
            results[at][1].push(sdk::measure(place, &sizes)?);
        }
        for (at, which) in ["nudge", "sdk"].into_iter().enumerate() {
            let (mut times, cpu) = large::measure(which, sizes.megabytes)?;
            times.sort();
            relayed[at].push((micros(times[times.len() / 2]), micros(cpu)));
        }
    }
    let idle = [idle::measure("nudge", sizes.idle)?, idle::measure("sdk", sizes.idle)?];
    print(&rows(&results, &relayed, idle));
    Ok(())
}

fn rows(results: &[[Vec<Measured>; 2]; 3], large: &[Vec<(f64, f64)>; 2], idle: [f64; 2]) -> Vec<Row> {
    let both = |place: usize, pick: fn(&Measured) -> f64| {
        [0, 1].map(|side| median(results[place][side].iter().map(pick).collect()))
    };
    let relayed =
        |pick: fn(&(f64, f64)) -> f64| [0, 1].map(|side| median(large[side].iter().map(pick).collect()));
    vec![
        Row::more(
            "200 B notifications, in process",
            "/s",
            both(0, |m| m.ticks_per_second),
            Some((6.0, 10.0)),
        ),
        Row::more("200 B notifications, stdio", "/s", both(1, |m| m.ticks_per_second), Some((6.0, 8.0))),
        Row::more(
            "200 B notifications, in process, against its value channel",
            "/s",
            both(2, |m| m.ticks_per_second),
            None,
        ),
        Row::less("CPU per notification, in process", "µs", both(0, |m| m.cpu_per_tick), None),
        Row::less("CPU per notification, stdio, both processes", "µs", both(1, |m| m.cpu_per_tick), None),
        Row::less("1 KB round trip p50, in process", "µs", both(0, |m| m.trip_p50), None),
        Row::less("1 KB round trip p99, in process", "µs", both(0, |m| m.trip_p99), None),
        Row::less("1 KB round trip p50, stdio", "µs", both(1, |m| m.trip_p50), Some((4.0, 7.0))),
        Row::less("1 KB round trip p99, stdio", "µs", both(1, |m| m.trip_p99), Some((4.0, 7.0))),
        Row::more("1 KB requests, 64 in flight, in process", "/s", both(0, |m| m.in_flight_per_second), None),
        Row::more(
            "1 KB requests, 64 in flight, stdio",
            "/s",
            both(1, |m| m.in_flight_per_second),
            Some((3.0, 6.0)),
        ),
        Row::less("1 MB of small values through a relay", "µs", relayed(|large| large.0), Some((10.0, 17.0))),
        Row::less("CPU of the relay per 1 MB message", "µs", relayed(|large| large.1), None),
        Row::less("memory of an idle connection, in process", "bytes", idle, None),
    ]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Only Nudge's side of one place, mostly notifications, to look at with a profiler.
pub(crate) fn profile(place: &str) -> Result<()> {
    let place = if place == "stdio" { Place::Stdio } else { Place::Memory };
    let sizes = Sizes { ticks: 1_000_000, trips: 100, trips_in_flight: 64, ..FULL };
    for _ in 0..10 {
        let measured = ours::measure(place, &sizes)?;
        eprintln!("{measured:?}");
    }
    Ok(())
}

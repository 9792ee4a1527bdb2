//! What the relay adds to a small request.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use super::{
    Sizes,
    client::{Client, Home},
    place::Place,
    table::{Table, share, time},
};
use crate::against::Figures;

/// Requests of one side before it is the other's turn.
const TURN: usize = 100;

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    let (near, far) = (Place::new()?, Place::new()?);
    let mut alone = Client::start(&near, Home::Alone, 1)?;
    let mut behind = Client::start(&far, Home::Daemon, 1)?;
    let (mut direct, mut relayed) = (Vec::new(), Vec::new());
    trips(&mut alone, TURN, &mut Vec::new())?;
    trips(&mut behind, TURN, &mut Vec::new())?;
    for _ in 0..sizes.trips.div_ceil(TURN) {
        trips(&mut alone, TURN, &mut direct)?;
        trips(&mut behind, TURN, &mut relayed)?;
    }
    let (direct, relayed) = (share(&direct, 50), share(&relayed, 50));
    table.note("a small request without a daemon, p50", time(direct));
    table.note("a small request through relay and daemon, p50", time(relayed));
    table.at_most("added by the relay, p50", relayed.saturating_sub(direct), Duration::from_micros(40));
    alone.finish()?;
    behind.finish()
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    for (home, how) in [(Home::Alone, "without a daemon"), (Home::Daemon, "through relay and daemon")] {
        let mut client = Client::start(place, home, 1)?;
        trips(&mut client, TURN, &mut Vec::new())?;
        let mut times = Vec::new();
        trips(&mut client, sizes.trips, &mut times)?;
        client.finish()?;
        figures.times(&format!("a small request {how}"), &times, 99);
    }
    Ok(())
}

fn trips(client: &mut Client, count: usize, times: &mut Vec<Duration>) -> Result<()> {
    for _ in 0..count {
        let began = Instant::now();
        // No session is in use, so the answer is as small as the question.
        client.call("_nudge/status", &json!({}))?;
        times.push(began.elapsed());
    }
    Ok(())
}

//! Round trips: a kilobyte there and back, and a prompt with one update.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Sizes,
    client::{Client, Kind, Request},
    leg::Leg,
    report::{Report, Unit},
};
use crate::hub::{
    place::Place,
    table::{micros, share},
};

/// Trips of one leg before it is the next one's turn: so many that its p99 is not that of the first, which finds the
/// processes asleep.
const TURN: usize = 250;
/// The same for prompts, each of which is slept through in any case, until it is on disk.
const PROMPTS: usize = 50;

pub(crate) fn echoes(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let echo = Request::new("_bench/echo", &json!({"text": "y".repeat(1000)}));
    let trip = |client: &mut Client| {
        let began = Instant::now();
        client.send(&echo)?;
        let length = client.answer()?.len();
        ensure!(length > 1000, "the answer has only {length} bytes");
        Ok(began.elapsed())
    };
    let count = sizes.trips * sizes.rounds;
    compare("1 KB round trip", &in_turns(count, TURN, trip)?, report);
    // While the other legs have their turn, this one falls asleep.
    compare("1 KB round trip after a pause", &in_turns(count / 10, 1, trip)?, report);
    Ok(())
}

fn compare(what: &str, times: &[Vec<Duration>; 3], report: &mut Report) {
    for (of_hundred, name) in [(50, "p50"), (99, "p99")] {
        let [direct, nudge, conductor] = times.each_ref().map(|times| micros(share(times, of_hundred)));
        report.note(&format!("{what}, {name}"), Unit::Micros, [direct, nudge, conductor]);
        let added = [nudge - direct, conductor - direct];
        report.less(&format!("added to it, {name}"), Unit::Micros, added, Some((4.0, 8.0)));
    }
}

pub(crate) fn prompts(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let times = in_turns(sizes.prompts * sizes.rounds, PROMPTS, prompt)?;
    for (at, what) in ["prompt to its first update", "prompt to its answer"].into_iter().enumerate() {
        let times = times.each_ref().map(|times| times.iter().map(|both| both[at]).collect::<Vec<_>>());
        for (of_hundred, name) in [(50, "p50"), (99, "p99")] {
            let figures = times.each_ref().map(|times| micros(share(times, of_hundred)));
            report.note(&format!("{what}, {name}"), Unit::Micros, figures);
        }
    }
    Ok(())
}

/// How long it is to the first word of a turn, and to its end.
fn prompt(client: &mut Client) -> Result<[Duration; 2]> {
    let prompt = client.prompt(1);
    let began = Instant::now();
    client.send(&prompt)?;
    while !(client.next()? == Kind::Update && client.has(b"agent_message_chunk")) {}
    let first = began.elapsed();
    client.answer()?;
    Ok([first, began.elapsed()])
}

/// Has the legs take turns until each has made `count` trips; what each took, after one turn that is not counted.
fn in_turns<T>(
    count: usize,
    turn: usize,
    mut trip: impl FnMut(&mut Client) -> Result<T>,
) -> Result<[Vec<T>; 3]> {
    let place = Place::new()?;
    let mut clients = Vec::new();
    for leg in Leg::ALL {
        clients.push(leg.start(&place)?);
    }
    let mut times: [Vec<T>; 3] = Default::default();
    for round in 0..=count.div_ceil(turn) {
        for (client, times) in clients.iter_mut().zip(&mut times) {
            for _ in 0..turn.min(count) {
                let took = trip(client)?;
                if round > 0 {
                    times.push(took);
                }
            }
        }
    }
    clients.into_iter().try_for_each(Client::finish)?;
    Ok(times)
}

//! Round trips: a kilobyte there and back, and a prompt with one update.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Sizes,
    client::{Client, Kind, Request},
    leg::Leg,
    report::Report,
};
use crate::{
    against::{Figures, Unit},
    cpu,
    hub::{
        place::Place,
        table::{count, micros, share},
    },
};

/// Trips of one leg before it is the next one's turn: so many that its p99 is not that of the first, which finds the
/// processes asleep.
const TURN: usize = 250;
/// The same for prompts, each of which is slept through in any case, until it is on disk.
const PROMPTS: usize = 50;
/// After so long a process has fallen asleep.
const PAUSE: Duration = Duration::from_millis(1);

pub(crate) fn echoes(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let echo = echo();
    let trip = |client: &mut Client| trip(client, &echo);
    let count = sizes.trips * sizes.rounds;
    compare("1 KB round trip", &in_turns(count, TURN, trip)?, report);
    // While the other legs have their turn, this one falls asleep.
    compare("1 KB round trip after a pause", &in_turns(count / 10, 1, trip)?, report);
    Ok(())
}

pub(crate) fn echo_round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let mut client = Leg::Nudge.start(place)?;
    let nudge = Leg::Nudge.between(&mut client)?;
    let echo = echo();
    repeat(TURN, || trip(&mut client, &echo))?;
    let cpu = cpu::used_by_all(&nudge);
    let times = repeat(sizes.trips, || trip(&mut client, &echo))?;
    let cpu = cpu::used_by_all(&nudge).saturating_sub(cpu);
    figures.times("1 KB round trip", &times, 99);
    figures.cpu("CPU of Nudge for each round trip", cpu, count(sizes.trips));
    let times = repeat(sizes.trips / 10, || {
        thread::sleep(PAUSE);
        trip(&mut client, &echo)
    })?;
    figures.times("1 KB round trip after a pause", &times, 90);
    client.finish()
}

pub(crate) fn prompt_round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let mut client = Leg::Nudge.start(place)?;
    let nudge = Leg::Nudge.between(&mut client)?;
    repeat(sizes.prompts / 5, || prompt(&mut client))?;
    let cpu = cpu::used_by_all(&nudge);
    let times = repeat(sizes.prompts, || prompt(&mut client))?;
    let cpu = cpu::used_by_all(&nudge).saturating_sub(cpu);
    for (at, what) in PARTS.into_iter().enumerate() {
        figures.times(what, &times.iter().map(|both| both[at]).collect::<Vec<_>>(), 90);
    }
    figures.cpu("CPU of Nudge for each prompt", cpu, count(sizes.prompts));
    client.finish()
}

fn repeat<T>(count: usize, mut once: impl FnMut() -> Result<T>) -> Result<Vec<T>> {
    (0..count).map(|_| once()).collect()
}

fn echo() -> Request {
    Request::new("_bench/echo", &json!({"text": "y".repeat(1000)}))
}

fn trip(client: &mut Client, echo: &Request) -> Result<Duration> {
    let began = Instant::now();
    client.send(echo)?;
    let length = client.answer()?.len();
    ensure!(length > 1000, "the answer has only {length} bytes");
    Ok(began.elapsed())
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
    for (at, what) in PARTS.into_iter().enumerate() {
        let times = times.each_ref().map(|times| times.iter().map(|both| both[at]).collect::<Vec<_>>());
        for (of_hundred, name) in [(50, "p50"), (99, "p99")] {
            let figures = times.each_ref().map(|times| micros(share(times, of_hundred)));
            report.note(&format!("{what}, {name}"), Unit::Micros, figures);
        }
    }
    Ok(())
}

/// What is measured of a prompt.
const PARTS: [&str; 2] = ["prompt to its first update", "prompt to its answer"];

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

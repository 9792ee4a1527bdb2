//! One turn in which the agent streams as fast as it is read.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::{
    Sizes,
    client::{Client, Kind},
    leg::Leg,
    report::Report,
};
use crate::{
    against::{Figures, Unit},
    cpu,
    hub::{
        place::Place,
        table::{count, median},
    },
};

pub(crate) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let mut rates: [Vec<f64>; 3] = Default::default();
    for _ in 0..sizes.rounds {
        for (leg, rates) in Leg::ALL.into_iter().zip(&mut rates) {
            let place = Place::new()?;
            let mut client = leg.start(&place)?;
            turn(&mut client, sizes.updates / 10)?;
            rates.push(rate(&mut client, sizes.updates)?);
            client.finish()?;
        }
    }
    let [direct, nudge, conductor] = rates.each_ref().map(|rates| median(rates));
    report.more("session/update in one turn", Unit::PerSecond, [direct, nudge, conductor], Some((5.0, 10.0)));
    Ok(())
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let mut client = Leg::Nudge.start(place)?;
    let nudge = Leg::Nudge.between(&mut client)?;
    turn(&mut client, sizes.updates / 10)?;
    let cpu = cpu::used_by_all(&nudge);
    figures.add("session/update in one turn", Unit::PerSecond, rate(&mut client, sizes.updates)?);
    let cpu = cpu::used_by_all(&nudge).saturating_sub(cpu);
    figures.cpu("CPU of Nudge for each update", cpu, count(sizes.updates));
    client.finish()
}

/// Updates a second of one turn.
fn rate(client: &mut Client, updates: usize) -> Result<f64> {
    let began = Instant::now();
    turn(client, updates)?;
    Ok(count(updates) / began.elapsed().as_secs_f64())
}

fn turn(client: &mut Client, updates: usize) -> Result<()> {
    client.send(&client.prompt(updates))?;
    let mut received = 0;
    loop {
        match client.next()? {
            Kind::Update if client.has(b"agent_message_chunk") => received += 1,
            Kind::Update | Kind::Other => {}
            Kind::Answer => break,
        }
    }
    ensure!(client.has(b"end_turn"), "the turn did not end well");
    ensure!(received == updates, "of {updates} updates {received} came");
    Ok(())
}

//! One turn in which the agent streams as fast as it is read.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::{
    Sizes,
    client::{Client, Kind},
    leg::Leg,
    report::{Report, Unit},
};
use crate::hub::{
    place::Place,
    table::{count, median},
};

pub(crate) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let mut rates: [Vec<f64>; 3] = Default::default();
    for _ in 0..sizes.rounds {
        for (leg, rates) in Leg::ALL.into_iter().zip(&mut rates) {
            let place = Place::new()?;
            let mut client = leg.start(&place)?;
            turn(&mut client, sizes.updates / 10)?;
            let began = Instant::now();
            turn(&mut client, sizes.updates)?;
            rates.push(count(sizes.updates) / began.elapsed().as_secs_f64());
            client.finish()?;
        }
    }
    let [direct, nudge, conductor] = rates.each_ref().map(|rates| median(rates));
    report.more("session/update in one turn", Unit::PerSecond, [direct, nudge, conductor], Some((5.0, 10.0)));
    Ok(())
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

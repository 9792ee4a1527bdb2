//! A megabyte of small values to the agent and back.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Sizes,
    client::{Client, Request},
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
    messages::hits,
};

pub(crate) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let place = Place::new()?;
    let echo = echo();
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..sizes.rounds {
        for (leg, times) in Leg::ALL.into_iter().zip(&mut times) {
            let mut client = leg.start(&place)?;
            trip(&mut client, &echo)?;
            for _ in 0..sizes.large {
                times.push(trip(&mut client, &echo)?);
            }
            client.finish()?;
        }
    }
    let [direct, nudge, conductor] = times.each_ref().map(|times| micros(share(times, 50)));
    report.note("1 MB of small values there and back, p50", Unit::Micros, [direct, nudge, conductor]);
    report.less("the same through a relay", Unit::Micros, [nudge, conductor], Some((10.0, 10.0)));
    Ok(())
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let mut client = Leg::Nudge.start(place)?;
    let nudge = Leg::Nudge.between(&mut client)?;
    let echo = echo();
    trip(&mut client, &echo)?;
    let cpu = cpu::used_by_all(&nudge);
    let times = (0..sizes.large).map(|_| trip(&mut client, &echo)).collect::<Result<Vec<_>>>()?;
    let cpu = cpu::used_by_all(&nudge).saturating_sub(cpu);
    let p50 = micros(share(&times, 50));
    figures.add("1 MB of small values there and back, p50", Unit::Micros, p50);
    figures.cpu("CPU of Nudge for each 1 MB there and back", cpu, count(sizes.large));
    client.finish()
}

fn echo() -> Request {
    Request::new("_bench/echo", &json!({"hits": hits()}))
}

fn trip(client: &mut Client, echo: &Request) -> Result<Duration> {
    let began = Instant::now();
    client.send(echo)?;
    let length = client.answer()?.len();
    ensure!(length > 900_000, "the answer has only {length} bytes");
    Ok(began.elapsed())
}

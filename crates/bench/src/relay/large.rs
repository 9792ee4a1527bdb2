//! A megabyte of small values to the agent and back.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Sizes,
    client::Request,
    leg::Leg,
    report::{Report, Unit},
};
use crate::{
    hub::{
        place::Place,
        table::{micros, share},
    },
    messages::hits,
};

pub(crate) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let place = Place::new()?;
    let echo = Request::new("_bench/echo", &json!({"hits": hits()}));
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..sizes.rounds {
        for (leg, times) in Leg::ALL.into_iter().zip(&mut times) {
            let mut client = leg.start(&place)?;
            for at in 0..=sizes.large {
                let began = Instant::now();
                client.send(&echo)?;
                let length = client.answer()?.len();
                if at > 0 {
                    times.push(began.elapsed());
                }
                ensure!(length > 900_000, "the answer has only {length} bytes");
            }
            client.finish()?;
        }
    }
    let [direct, nudge, conductor] = times.each_ref().map(|times| micros(share(times, 50)));
    report.note("1 MB of small values there and back, p50", Unit::Micros, [direct, nudge, conductor]);
    report.less("the same through a relay", Unit::Micros, [nudge, conductor], Some((10.0, 10.0)));
    Ok(())
}

//! Many sessions that stream at one time.

use std::time::Duration;

use anyhow::Result;

use super::{
    Sizes,
    leg::{ModelLeg, StreamWish, Taken},
    provider::ProviderProcess,
    report::Report,
};
use crate::{
    against::{Figures, Unit},
    hub::{
        place::Place,
        table::{count, median, micros, share},
    },
};

/// The pace of a fast model: fifty tokens a second.
const PACE: Duration = Duration::from_millis(20);

/// The figures of one stream: tokens a second, CPU per token in µs, memory in MiB, delays in µs.
fn figures(taken: &Taken, wish: &StreamWish) -> [f64; 5] {
    let tokens = count(wish.all_tokens());
    [
        tokens / taken.wall.as_secs_f64(),
        taken.cpu.as_secs_f64() * 1e6 / tokens,
        count(taken.memory) / f64::from(1 << 20),
        micros(share(&taken.delays, 50)),
        micros(share(&taken.delays, 99)),
    ]
}

const WHAT: [(&str, Unit); 5] = [
    ("tokens", Unit::PerSecond),
    ("CPU for each token", Unit::Micros),
    ("memory at its peak", Unit::Mebibytes),
    ("delay of a token, p50", Unit::Micros),
    ("delay of a token, p99", Unit::Micros),
];

pub(super) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let provider = ProviderProcess::start()?;
    for (how, wish, kept) in wishes(sizes) {
        let mut all: [[Vec<f64>; 5]; 5] = Default::default();
        for _ in 0..sizes.rounds {
            for (leg, figured) in ModelLeg::ALL.into_iter().zip(&mut all) {
                // What a daemon has taken before is not to be seen in its memory.
                let taken = leg.take(&Place::new()?, &provider, &wish)?;
                figured.iter_mut().zip(figures(&taken, &wish)).for_each(|(kept, figure)| kept.push(figure));
            }
        }
        for at in kept {
            let (what, unit) = WHAT[*at];
            let row = all.each_ref().map(|leg| median(&leg[*at]));
            report.row(&format!("{} sessions, {how}: {what}", wish.sessions), unit, row);
        }
    }
    Ok(())
}

pub(super) fn round(place: &Place, sizes: &Sizes, told: &mut Figures) -> Result<()> {
    let provider = ProviderProcess::start()?;
    for (how, wish, kept) in wishes(sizes) {
        let measured = figures(&ModelLeg::Daemon.take(&place.another()?, &provider, &wish)?, &wish);
        for at in kept {
            let (what, unit) = WHAT[*at];
            told.add(format!("{} sessions, {how}: {what}", wish.sessions), unit, measured[*at]);
        }
    }
    Ok(())
}

/// What is asked for, and which figures of it say something.
fn wishes(sizes: &Sizes) -> [(&'static str, StreamWish, &'static [usize]); 2] {
    let flood =
        StreamWish { sessions: sizes.sessions, answers: 1, tokens: sizes.flood, pause: Duration::ZERO };
    [
        ("as fast as they are taken", flood, &[0, 1, 2]),
        (
            "50 tokens a second each",
            StreamWish { tokens: sizes.paced, pause: PACE, ..flood },
            &[0, 1, 2, 3, 4],
        ),
    ]
}

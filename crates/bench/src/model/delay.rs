//! How long a token takes from the provider to the client, with nothing else going on.

use std::time::Duration;

use anyhow::Result;

use super::{
    Sizes,
    leg::{ModelLeg, StreamWish},
    provider::ProviderProcess,
    report::Report,
};
use crate::{
    against::{Figures, Unit},
    hub::{
        place::Place,
        table::{micros, share},
    },
};

/// Longer than anything that a token sets in motion takes.
const PAUSE: Duration = Duration::from_millis(10);
/// What Nudge may add to a token.
const BAR: Duration = Duration::from_millis(1);

pub(super) fn measure(sizes: &Sizes, report: &mut Report) -> Result<()> {
    let (place, provider) = (Place::new()?, ProviderProcess::start()?);
    for (what, wish) in wishes(sizes) {
        let mut delays: [Vec<Duration>; 5] = Default::default();
        for _ in 0..sizes.rounds {
            for (leg, delays) in ModelLeg::ALL.into_iter().zip(&mut delays) {
                delays.extend(leg.take(&place, &provider, &wish)?.delays);
            }
        }
        for of_hundred in [50, 99] {
            let figures = delays.each_ref().map(|delays| micros(share(delays, of_hundred)));
            let bar = (of_hundred == 50).then_some(micros(BAR));
            report.delays(&format!("{what}, p{of_hundred}"), figures, bar);
        }
    }
    Ok(())
}

pub(super) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let provider = ProviderProcess::start()?;
    for (what, wish) in wishes(sizes) {
        let taken = ModelLeg::Daemon.take(place, &provider, &wish)?;
        figures.times(what, &taken.delays, 99);
        let cpu = taken.cpu.as_secs_f64() / crate::hub::table::count(wish.all_tokens());
        figures.add(format!("CPU for each: {what}"), Unit::Micros, cpu * 1e6);
    }
    Ok(())
}

fn wishes(sizes: &Sizes) -> [(&'static str, StreamWish); 2] {
    let first = StreamWish { sessions: 1, answers: sizes.answers, tokens: 1, pause: PAUSE };
    [
        ("first token of an answer", first),
        ("later tokens, 100 a second", StreamWish { answers: 1, tokens: sizes.tokens, ..first }),
    ]
}

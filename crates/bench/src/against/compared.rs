//! What the figures of two programs tell, and how far that is beyond noise.

use std::fmt;

use super::figures::{Figures, Unit};
use crate::hub::table::{count, median};

/// By how much a figure may be worse.
const MARGIN: f64 = 1.05;

/// How often the median may lie outside of its spread.
const MISSED: f64 = 0.05;

/// One figure of both programs.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) case: &'static str,
    pub(crate) what: String,
    pub(crate) unit: Unit,
    pub(crate) older: f64,
    pub(crate) newer: f64,
    /// Where the median of the ratios of single rounds lies.
    pub(crate) spread: [f64; 2],
    /// Whether there were rounds enough to say so.
    is_sure: bool,
}

/// What can be said of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Worse,
    Better,
    /// It may be better, but it is not worse.
    NotWorse,
    Open,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Worse => "**worse**",
            Self::Better => "better",
            Self::NotWorse => "not worse",
            Self::Open => "open",
        })
    }
}

/// The figures of a case, from the rounds of both programs.
pub(crate) fn of(case: &'static str, [older, newer]: &[Vec<Figures>; 2]) -> Vec<Compared> {
    let Some(first) = older.first() else { return Vec::new() };
    let compare = |what: &str, unit| {
        // A round in which one side has no such figure is left out.
        let rounds: Vec<_> =
            older.iter().zip(newer).filter_map(|(a, b)| Some([find(a, what)?, find(b, what)?])).collect();
        Compared::new(case, what, unit, &rounds)
    };
    first.list.iter().filter_map(|figure| compare(&figure.what, figure.unit)).collect()
}

fn find(figures: &Figures, what: &str) -> Option<f64> {
    figures.list.iter().find(|figure| figure.what == what).map(|figure| figure.value)
}

impl Compared {
    fn new(case: &'static str, what: &str, unit: Unit, rounds: &[[f64; 2]]) -> Option<Self> {
        if rounds.is_empty() {
            return None;
        }
        let [older, newer] = [0, 1].map(|at| median(&rounds.iter().map(|both| both[at]).collect::<Vec<_>>()));
        let mut ratios: Vec<_> = rounds.iter().map(|[older, newer]| unit.ratio(*older, *newer)).collect();
        ratios.sort_by(f64::total_cmp);
        let left_out = left_out(rounds.len());
        let beyond = left_out.unwrap_or(0);
        let spread = [ratios[beyond], ratios[ratios.len() - 1 - beyond]];
        let is_sure = left_out.is_some();
        Some(Self { case, what: what.to_owned(), unit, older, newer, spread, is_sure })
    }

    pub(crate) fn ratio(&self) -> f64 {
        self.unit.ratio(self.older, self.newer)
    }

    pub(crate) fn is_worse(&self) -> bool {
        self.verdict() == Verdict::Worse
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match self.spread {
            _ if !self.is_sure => Verdict::Open,
            [_, high] if high < 1.0 / MARGIN => Verdict::Worse,
            [low, _] if low > MARGIN => Verdict::Better,
            [low, _] if low >= 1.0 / MARGIN => Verdict::NotWorse,
            _ => Verdict::Open,
        }
    }
}

/// How many of the ratios may be left out on either side so that their median lies between the others; nothing if there
/// are too few. Each ratio is above or below the median as a coin falls, whatever the noise is like: so this is the number
/// of heads that so many throws rarely stay below.
fn left_out(rounds: usize) -> Option<usize> {
    let mut heads = 0;
    let mut exactly = (0..rounds).fold(1.0, |share, _| share / 2.0);
    let mut at_most = exactly;
    while at_most * 2.0 <= MISSED {
        exactly *= count(rounds - heads) / count(heads + 1);
        at_most += exactly;
        heads += 1;
    }
    heads.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_leaves_out_what_is_rare() {
        // The table of the sign test.
        for (rounds, expected) in [(6, 0), (9, 1), (15, 3), (20, 5), (30, 9), (50, 17)] {
            assert_eq!(left_out(rounds), Some(expected), "{rounds} rounds");
        }
        assert_eq!([1, 5].map(left_out), [None, None]);
    }

    #[test]
    fn only_what_is_beyond_the_noise_is_worse() {
        let verdict = |unit, newer: &[f64]| {
            let rounds: Vec<_> = newer.iter().map(|newer| [100.0, *newer]).collect();
            Compared::new("case", "what", unit, &rounds).map(|compared| compared.verdict())
        };
        let slower = [110.0, 108.0, 112.0, 109.0, 150.0, 111.0, 107.0];
        let noisy = [110.0, 90.0, 112.0, 109.0, 150.0, 111.0, 107.0];
        let same = [100.0, 101.0, 99.0, 102.0, 98.0, 100.0, 104.0];
        assert_eq!(verdict(Unit::Micros, &slower), Some(Verdict::Worse));
        assert_eq!(verdict(Unit::PerSecond, &slower), Some(Verdict::Better));
        assert_eq!(verdict(Unit::Micros, &noisy), Some(Verdict::Open));
        assert_eq!(verdict(Unit::Micros, &same), Some(Verdict::NotWorse));
        assert_eq!(verdict(Unit::Micros, &slower[..5]), Some(Verdict::Open));
    }
}

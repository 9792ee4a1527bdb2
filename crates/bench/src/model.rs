//! From a provider to a client: what `nudge acp` adds to the stream of a model, beside what reads such a stream by itself.
//!
//! The provider is a process of its own that writes the time into every token, so that whoever reads one knows how long it took.

mod client;
mod crowd;
mod delay;
mod leg;
mod provider;
mod reader;
mod report;

use std::process::ExitCode;

use anyhow::Result;

use self::report::Report;
pub(crate) use self::{provider::serve as provider, reader::read as reader};
use crate::{
    against,
    chosen::{self, Case},
    options::Options,
};

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    rounds: usize,
    /// Answers of a round, one after the other, of which the first tokens are timed.
    answers: usize,
    /// Tokens of an answer, with a pause before each.
    tokens: usize,
    /// Sessions at one time, and the tokens of each: as fast as they are taken, and in the pace of a fast model.
    sessions: usize,
    flood: usize,
    paced: usize,
}

const FULL: Sizes = Sizes { rounds: 5, answers: 60, tokens: 300, sessions: 100, flood: 500, paced: 250 };
/// Of one round, of which there are many.
const ROUND: Sizes = Sizes { rounds: 1, ..FULL };
const QUICK: Sizes = Sizes { rounds: 1, answers: 5, tokens: 20, sessions: 10, flood: 50, paced: 20 };

const CASES: [Case<Sizes, Report>; 2] = [
    Case { name: "delay", measure: delay::measure, seed: None, round: delay::round },
    Case { name: "crowd", measure: crowd::measure, seed: None, round: crowd::round },
];

/// Measures and prints a table.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(older) = &options.against {
        let sizes = if options.quick { QUICK } else { ROUND };
        return against::run(older, options, &CASES, &sizes);
    }
    let sizes = if options.quick { QUICK } else { FULL };
    let mut report = Report::default();
    chosen::run(&CASES, options.only(), &sizes, &mut report)?;
    report.print();
    Ok(ExitCode::SUCCESS)
}

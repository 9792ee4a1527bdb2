//! Two builds of `nudge` measured in turns, so that what differs is the program and not what else the machine does.

mod compared;
mod figures;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};

use self::compared::Compared;
pub(crate) use self::figures::{Figures, Unit};
use crate::{
    chosen::{self, Case},
    hub::place::{self, Place},
    options::Options,
};

/// Compares the program beside this one with an older one, prints a table, and tells whether anything is worse.
pub(crate) fn run<Sizes, Table>(
    older: &Path,
    options: &Options,
    cases: &[Case<Sizes, Table>],
    sizes: &Sizes,
) -> Result<ExitCode> {
    let older = fs::canonicalize(older).with_context(|| format!("there is no {}", older.display()))?;
    let programs = [older, place::program()?];
    if fs::read(&programs[0])? == fs::read(&programs[1])? {
        eprintln!("The two programs are the same: what differs is noise.");
    }
    let mut all = Vec::new();
    for case in chosen::choose(cases, options.only())? {
        all.extend(compare(case, &programs, sizes, options.rounds.get())?);
    }
    table::print(&programs, options.rounds.get(), &all);
    Ok(if all.iter().any(Compared::is_worse) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// All rounds of a case. The first is for the caches of the machine.
fn compare<Sizes, Table>(
    case: &Case<Sizes, Table>,
    [older, newer]: &[PathBuf; 2],
    sizes: &Sizes,
    rounds: usize,
) -> Result<Vec<Compared>> {
    let both = [Side::new(case, older, sizes)?, Side::new(case, newer, sizes)?];
    let mut measured: [Vec<Figures>; 2] = Default::default();
    for round in 0..=rounds {
        eprintln!("{}: round {round} of {rounds}", case.name);
        for at in order(round) {
            let figures = both[at].round()?;
            if round > 0 {
                measured[at].push(figures);
            }
        }
    }
    Ok(compared::of(case.name, &measured))
}

/// Whoever is second finds the machine as the other has left it; each is as often second as first.
fn order(round: usize) -> [usize; 2] {
    if round.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

/// One of the two programs in one case.
struct Side<'a, Sizes, Table> {
    case: &'a Case<Sizes, Table>,
    program: &'a Path,
    sizes: &'a Sizes,
    /// Where it finds in each round what was put there before the first.
    seeded: Option<Place>,
}

impl<'a, Sizes, Table> Side<'a, Sizes, Table> {
    fn new(case: &'a Case<Sizes, Table>, program: &'a Path, sizes: &'a Sizes) -> Result<Self> {
        let seeded = case.seed.map(|seed| {
            let place = Place::of(program)?;
            seed(&place, sizes).map(|()| place)
        });
        Ok(Self { case, program, sizes, seeded: seeded.transpose()? })
    }

    /// Measures it in new processes: how one process lies in memory may help or harm it for as long as it lives.
    fn round(&self) -> Result<Figures> {
        let mut figures = Figures::default();
        let mut at = |place: &Place| (self.case.round)(place, self.sizes, &mut figures);
        let done = match &self.seeded {
            Some(place) => at(place).and_then(|()| place.stop()),
            None => Place::of(self.program).and_then(|place| at(&place)),
        };
        done.with_context(|| format!("the case `{}` of {}", self.case.name, self.program.display()))?;
        Ok(figures)
    }
}

//! The cases of a benchmark, by name, so that one can be run, and profiled, alone.

use anyhow::{Result, ensure};

use crate::{against::Figures, hub::place::Place};

/// A case, which is measured in one of two ways.
pub(crate) struct Case<Sizes, Table> {
    pub(crate) name: &'static str,
    /// Measures Nudge, and its peers where it has any, and tells a table.
    pub(crate) measure: fn(&Sizes, &mut Table) -> Result<()>,
    /// What is kept at a place from round to round; without it each round has a new place.
    pub(crate) seed: Option<fn(&Place, &Sizes) -> Result<()>>,
    /// Measures the program of a place once, to be set against another one.
    pub(crate) round: fn(&Place, &Sizes, &mut Figures) -> Result<()>,
}

/// Runs all cases, or `only` one.
pub(crate) fn run<Sizes, Table>(
    cases: &[Case<Sizes, Table>],
    only: Option<&str>,
    sizes: &Sizes,
    table: &mut Table,
) -> Result<()> {
    for case in choose(cases, only)? {
        eprintln!("{}", case.name);
        (case.measure)(sizes, table)?;
    }
    Ok(())
}

/// All cases, or `only` one.
pub(crate) fn choose<'a, Sizes, Table>(
    cases: &'a [Case<Sizes, Table>],
    only: Option<&str>,
) -> Result<Vec<&'a Case<Sizes, Table>>> {
    let chosen: Vec<_> = cases.iter().filter(|case| only.is_none_or(|only| only == case.name)).collect();
    let names: Vec<_> = cases.iter().map(|case| case.name).collect();
    ensure!(!chosen.is_empty(), "there is no such case; there is: {}", names.join(", "));
    Ok(chosen)
}

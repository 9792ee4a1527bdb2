//! The cases of a benchmark, by name, so that one can be run, and profiled, alone.

use anyhow::{Result, ensure};

/// A case: its name, and what measures it and tells a table.
pub(crate) type Case<Sizes, Table> = (&'static str, fn(&Sizes, &mut Table) -> Result<()>);

/// Runs all cases, or `only` one.
pub(crate) fn run<Sizes, Table>(
    cases: &[Case<Sizes, Table>],
    only: Option<&str>,
    sizes: &Sizes,
    table: &mut Table,
) -> Result<()> {
    let chosen: Vec<_> = cases.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)).collect();
    let names: Vec<_> = cases.iter().map(|(name, _)| *name).collect();
    ensure!(!chosen.is_empty(), "there is no such case; there is: {}", names.join(", "));
    for (name, measure) in chosen {
        eprintln!("{name}");
        measure(sizes, table)?;
    }
    Ok(())
}

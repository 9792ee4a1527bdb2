//! `cargo xtask tidy`: the rules of this repository that no compiler checks.
//!
//! Each rule is a function from data to a list of problems, so that it can be shown to fail. All problems are
//! reported, each with what to do about it.

mod architecture;
mod deps;
mod golden;
mod links;
mod names;
mod orphans;
mod page;
mod pure;
mod schema;
mod text;
mod tree;

use std::{fmt, path::Path};

use anyhow::{Result, bail};
use cargo_metadata::MetadataCommand;

pub(crate) use tree::Tree;

/// One thing that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    place: String,
    what: String,
    remedy: String,
}

impl Problem {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n    {}", self.place, self.what, self.remedy)
    }
}

pub(crate) fn run(root: &Path, fix: bool) -> Result<()> {
    if fix {
        schema::write(root)?;
    }
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let crates = deps::crates(&metadata);
    let tree = Tree::read(root)?;
    let own_paths = text::own_paths(root);

    let problems = [
        deps::check(&crates),
        pure::check(&tree),
        architecture::check(&tree, &crates),
        schema::check(&tree, &nudge_wire::schema::files()),
        golden::check(&tree),
        links::check(&tree),
        names::check(&tree),
        orphans::check(&tree),
        text::check(&tree, &own_paths),
    ]
    .concat();
    if problems.is_empty() {
        println!("tidy: {} crates and {} files are in order", crates.len(), tree.len());
        return Ok(());
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    bail!("tidy found {} problem(s)", problems.len());
}

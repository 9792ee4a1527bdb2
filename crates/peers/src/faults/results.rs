//! What was seen, kept in a file that the page is made from.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use super::{outcome::FaultOutcome, report, table::FAULTS};

/// Beside the sources, so that a page can be checked without a run.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/faults.jsonl");
/// The page.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/faults.md");

/// All outcomes, of one run or of several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FaultResults(Vec<FaultOutcome>);

impl FaultResults {
    /// Those that were kept; none if there is no file.
    pub fn read() -> Result<Self> {
        let path = PathBuf::from(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        Self::parse(&fs::read_to_string(path)?)
    }

    /// A line for each.
    pub fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().map(serde_json::from_str::<FaultOutcome>);
        let outcomes = lines.collect::<Result<_, _>>().context("a line of the results cannot be read")?;
        Ok(Self(outcomes))
    }

    /// These in the place of those of the same agents and faults; what there is no fault for any more is dropped.
    #[must_use]
    pub fn with(self, newer: Vec<FaultOutcome>) -> Self {
        let is_same = |one: &FaultOutcome, two: &FaultOutcome| {
            one.agent == two.agent && one.behind == two.behind && one.fault == two.fault
        };
        let mut all: Vec<_> = self.0;
        all.retain(|old| !newer.iter().any(|new| is_same(old, new)));
        all.extend(newer);
        let place = |outcome: &FaultOutcome| FAULTS.iter().position(|fault| fault.name == outcome.fault);
        all.retain(|outcome| place(outcome).is_some());
        all.sort_by_key(|outcome| (outcome.behind, report::column_order(&outcome.agent), place(outcome)));
        Self(all)
    }

    /// The outcomes.
    pub fn outcomes(&self) -> &[FaultOutcome] {
        &self.0
    }

    /// The file's text.
    pub fn text(&self) -> Result<String> {
        let lines = self.0.iter().map(|outcome| Ok(serde_json::to_string(outcome)? + "\n"));
        lines.collect()
    }

    /// Writes the file, and the page.
    pub fn write(&self) -> Result<()> {
        fs::write(FILE, self.text()?).context("the results cannot be written")?;
        let page = fs::read_to_string(PAGE).context("the page cannot be read")?;
        let page = report::with_section(&page, &report::section(self)).context("the page has no marks")?;
        fs::write(PAGE, page).context("the page cannot be written")
    }
}

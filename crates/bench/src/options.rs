//! What `hub` and `relay` can be told.

use std::{num::NonZero, path::PathBuf};

const AGAINST: &str = "\
With --against, each round starts both programs anew, in an order that changes from round to round. A ratio above 1 \
means that the program just built is the better one. The spread is where the median of the ratios of single rounds \
lies, 95 times in 100; it becomes narrower with more rounds, and fewer than 6 tell nothing. A figure is worse when all \
of its spread is on the far side of 5 %, and open when a part of it is.

Exit code with --against: 0 if no figure is worse by more than 5 %, 1 if any is, or if it could not be measured.

  cargo xtask bench relay -- --against ../nudge-before --only stream --rounds 30";

/// The options of a benchmark that has cases.
#[derive(Debug, clap::Args)]
#[command(after_help = AGAINST)]
pub(crate) struct Options {
    /// The same as --only
    #[arg(value_name = "CASE", conflicts_with = "only")]
    case: Option<String>,
    /// Run one case, not all
    #[arg(long, value_name = "CASE")]
    only: Option<String>,
    /// Measure little, in seconds, to see that it works
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure the `nudge` just built and the one at PATH in turns, instead of Nudge and its peers
    #[arg(long, value_name = "PATH")]
    pub(crate) against: Option<PathBuf>,
    /// How many rounds each program has, after one that does not count
    #[arg(long, value_name = "N", requires = "against", default_value = "20")]
    pub(crate) rounds: NonZero<usize>,
}

impl Options {
    /// The one case to run.
    pub(crate) fn only(&self) -> Option<&str> {
        self.only.as_deref().or(self.case.as_deref())
    }
}

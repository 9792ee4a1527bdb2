//! Scores a next edit engine on real history.
//!
//! Each commit of a repository is done again as a person might have done it: hunk by hunk, from top to bottom with imports
//! last, sources before tests before documentation. After each hunk, and again where the user has gone to do the next one,
//! the engine sees the half-done change and may suggest an edit, over the same interface that editors use. What is right is
//! taken and spares the user a hunk; what is wrong is refused.
//!
//! *Precision* is the share of shown suggestions that are right, *recall* the share of hunks that suggestions did. Both
//! are worked out for each commit, averaged over a repository, then over the repositories. `judge.rs` has what right
//! means. Everything but latency comes out the same for the same seed, on any number of threads.
#![allow(clippy::disallowed_methods, reason = "this room reads repositories and takes the time of answers")]

mod ask;
mod case;
mod chance;
mod draft;
mod driver;
mod dump;
mod error;
mod history;
mod judge;
mod naive;
mod paths;
mod quiet;
mod recording;
mod report;
mod run;
mod session;
mod spread;
mod table;
mod tally;
mod typed;
mod walk;
mod watched;

pub use error::ReplayError;
pub use judge::SuggestionVerdict;
pub use quiet::QuietScore;
pub use recording::{RecordingScore, RecordingsScore};
pub use report::{AnswerLatency, LevelRun, ReplayReport, ReportScore};
pub use run::{EagernessLevel, ReplayOptions, ScoredEngine, run};
pub use tally::ScoreCounts;
pub use typed::TypedScore;

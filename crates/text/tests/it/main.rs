//! Texts, edits, diffs and the history, held against references that are too simple to be wrong.
#![allow(missing_docs)]

mod coalescing;
mod diffs;
mod documents;
mod edits;
mod histories;
mod naive;
mod patches;
mod texts;

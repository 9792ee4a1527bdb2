//! The messages Nudge adds to ACP, against their golden files, their schemas and the proposal they come from.

#![allow(clippy::disallowed_methods, reason = "tests read golden files and schemas")]

mod caps;
mod conform;
mod envelope;
mod golden;
mod mutants;
mod proposal;
mod roundtrip;
mod schema;

//! What can be said about the harness without any agent.
#![allow(clippy::disallowed_methods, reason = "tests start processes and read files")]

mod faults;
mod lossless;
mod recipes;
mod report;
mod tee;

//! Files and terminals, in real folders with real processes.
#![allow(clippy::disallowed_methods, reason = "tests read and write files and start processes")]

mod confine;
mod desk;
mod files;
mod guarded;
mod limits;
mod terminals;
mod updates;

//! The agent, driven by rehearsals in real folders.
#![allow(clippy::disallowed_methods, reason = "tests read and write files and measure time")]

mod any_order;
mod ask;
mod cancel;
mod cancel_work;
mod client;
mod course;
mod driver;
mod files;
mod hostile;
mod permission;
mod plan;
mod restart;
mod run;
mod silence;
mod steer;

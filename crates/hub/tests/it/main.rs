//! Sessions as clients and agents see them, in memory: no process, no socket, no disk.
#![allow(clippy::disallowed_methods, reason = "tests read files and clocks")]

mod connected;
mod memory_store;
mod scripted;

mod adapted;
mod driver;
mod processes;
mod sessions;

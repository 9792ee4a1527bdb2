//! Sessions of a scripted agent at the other end of a connection in memory, through the contract that the hub uses.
#![allow(clippy::disallowed_methods, reason = "these tests drive a connection")]

mod asked;
mod clients;
mod deaths;
mod moves;
mod opened;
mod own_process;
mod owner;
mod scripted;
mod settings;
mod shared;
mod steers;
mod stops;
mod turns;

//! A gateway as clients see it, over connections in memory.
#![allow(clippy::disallowed_methods, reason = "tests read files and clocks")]

mod models;
mod routes;

//! Processes that end when they are to end.
#![allow(clippy::disallowed_methods, reason = "tests start processes")]

mod owner;
mod tree;

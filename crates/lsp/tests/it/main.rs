//! The server between an editor and somebody else who makes the suggestions, both as scripts.
#![allow(clippy::disallowed_methods, reason = "tests read and write files")]

mod changes;
mod closed;
mod script;

//! The bridge between the versions, against the examples in `spec/`, the official types and any JSON.

#![allow(clippy::disallowed_methods, reason = "tests read golden files and schemas")]

mod any;
mod bytes;
mod indexed;
mod join;
mod kinds;
mod mapping;
mod types;
mod view;

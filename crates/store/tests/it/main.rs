//! Tests of the store against real files.
#![allow(clippy::disallowed_methods, reason = "tests make and damage files")]

mod basics;
mod crash;
mod files;
mod group;
mod leases;
mod list;
mod model;
mod processes;
mod support;

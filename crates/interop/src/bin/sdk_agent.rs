//! The official SDK's example `simple_agent`: a version 1 agent.
#![allow(warnings, clippy::all, clippy::pedantic, reason = "this is not our code")]

include!(concat!(env!("OUT_DIR"), "/simple_agent.rs"));

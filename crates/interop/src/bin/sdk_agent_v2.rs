//! The official SDK's example `simple_agent_v2`: a version 2 agent.
#![allow(warnings, clippy::all, clippy::pedantic, reason = "this is not our code")]

include!(concat!(env!("OUT_DIR"), "/simple_agent_v2.rs"));

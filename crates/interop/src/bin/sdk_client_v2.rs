//! The official SDK's example `v2_one_shot_client`: a version 2 client.
#![allow(warnings, clippy::all, clippy::pedantic, reason = "this is not our code")]

include!(concat!(env!("OUT_DIR"), "/v2_one_shot_client.rs"));

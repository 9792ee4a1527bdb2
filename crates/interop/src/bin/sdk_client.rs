//! The official SDK's example `yolo_one_shot_client`: a version 1 client.
#![allow(warnings, clippy::all, clippy::pedantic, reason = "this is not our code")]

include!(concat!(env!("OUT_DIR"), "/yolo_one_shot_client.rs"));

//! Real agents, driven by one scripted client, directly and through `nudge acp --`.
//!
//! [`recipe`] says how each is installed and started, [`install`] does it, [`run`] takes one agent through the
//! [`steps`], and [`report`] tells how it went. The client is made of plain pipes and JSON and shares no code with
//! what it judges. [`faults`] breaks the model's server, a tool's server and the agent under it. [`real_model`] takes the built-in agent through a conversation with a model that runs on this machine.
#![allow(clippy::disallowed_methods, reason = "it installs, starts and waits for real programs")]

pub mod chat;
pub mod client;
pub mod faults;
pub mod install;
pub mod lossless;
pub mod place;
mod pty;
pub mod real_model;
pub mod recipe;
pub mod report;
pub mod run;
mod script;
pub mod steps;
pub mod tee;

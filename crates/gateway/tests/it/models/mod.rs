//! Models of providers behind the built-in agent, as clients see them: a gateway, its sessions, and a stand-in for providers that
//! is reached over HTTP.

mod cases;
mod client;
mod dialect;
mod faults;
mod first_run;
mod found;
mod heard;
mod hostile;
mod logins;
mod media;
mod moves;
mod network;
mod notices;
mod options;
mod place;
mod providers;
mod schema;
mod secrets;
mod seed;
mod setup_page;
mod shared_session;
mod sign_in;
mod tls;
mod usage;
mod way;
mod web;

use std::time::Duration;

use cases::{VERSIONS, each};
use client::Client;
use dialect::{ALL_DIALECTS, Dialect};
use nudge_stage::StageProvider;
use place::{ClientSetup, Place};

/// How long a test waits for what ought to come at once, on a machine that is busy.
const PATIENCE: Duration = nudge_testkit::PATIENCE;

/// Waits until the stand-in has come to the gate `now`.
async fn at_the_gate(stage: &StageProvider) {
    let reached = tokio::time::timeout(PATIENCE, async { stage.gate("now").reached().await }).await;
    reached.unwrap_or_else(|_| panic!("the gate is not reached: {stage:?}"));
}

/// Waits until `done`, which must come about soon.
async fn eventually<R: Future<Output = bool>>(what: &str, done: impl Fn() -> R) {
    let come_about = async {
        while !done().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, come_about).await.unwrap_or_else(|_| panic!("{what} does not come about"));
}

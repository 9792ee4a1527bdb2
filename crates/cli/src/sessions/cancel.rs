//! `nudge cancel`: the turn that runs is ended.

use std::{process::ExitCode, time::Duration};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{
    DaemonLink,
    control::{self, DaemonClient, SeenUpdate},
    render, say,
    store_view::{LookupPurpose, StoreView},
};
use crate::{data_place::DataPlace, output, terminal_text};

/// After how long it is said that the agent takes its time.
const SLOW: Duration = Duration::from_secs(3);

/// End the turn that runs in a session; what waits follows
///
/// Returns when the agent has stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge cancel            the newest session of this folder
  nudge cancel sess_b1    the one whose id begins like this")]
pub(crate) struct CancelArgs {
    /// An id, the beginning of one, or `last` for the newest of this folder
    #[arg(default_value = "last")]
    session: String,
}

pub(crate) fn cancel(args: &CancelArgs, place: &DataPlace) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        let session = StoreView::open(place).await?.find(&args.session, LookupPurpose::Decide).await?;
        let Some(control) = DaemonLink::connect(place)? else { bail!("nothing runs: there is no daemon") };
        control
            .run(async |client| {
                let status = client.request("_nudge/status", &json!({})).await?;
                if !is_running(&status, &session.id) {
                    bail!("nothing runs in {}", render::named(&session));
                }
                client.request("session/resume", &say::join(&session, true)).await?;
                client.notify("session/cancel", &json!({ "sessionId": &*session.id })).await?;
                if !is_idle(client).await {
                    bail!("the daemon has gone before the turn was over");
                }
                output::say(format!("cancelled {}", terminal_text::one_line(&session.id)))?;
                output::remark(format!("in {}", render::named(&session)));
                Ok(ExitCode::SUCCESS)
            })
            .await
    })
}

fn is_running(status: &Value, id: &str) -> bool {
    let mut sessions = status["sessions"].as_array().into_iter().flatten();
    sessions.any(|entry| entry[0] == id && entry[1]["state"] != "idle")
}

/// Waits until the turn is over; whether it is, or the daemon gone.
async fn is_idle(client: &mut DaemonClient) -> bool {
    let mut is_told = false;
    loop {
        let seen = tokio::select! {
            seen = client.seen.recv() => seen,
            () = tokio::time::sleep(SLOW), if !is_told => {
                output::remark("waiting for the agent to stop …");
                is_told = true;
                continue;
            }
        };
        match seen {
            Some(SeenUpdate::Update(update)) => {
                if update.get(&["state"]).is_some_and(|state| state.as_str() == "\"idle\"") {
                    return true;
                }
            }
            Some(SeenUpdate::Asked(_)) => {}
            None => return false,
        }
    }
}

//! `nudge status` and `nudge stop`: the daemon, and what its sessions do.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use super::{DaemonLink, control, render, store_view::StoreView};
use crate::{
    daemon::{self, check_data_folder},
    data_place::DataPlace,
    output, terminal_text, version,
};

/// Show whether the daemon runs, where Nudge keeps things, and what its sessions do
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge status
  nudge status --json | jq '.sessions[][1].state'")]
pub(crate) struct StatusArgs {
    /// Print JSON; `null` if no daemon runs
    #[arg(long)]
    json: bool,
}

pub(crate) fn status(args: &StatusArgs, place: &DataPlace) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        check_data_folder(place)?;
        let status = match DaemonLink::connect(place)? {
            Some(control) => {
                Some(control.run(async |client| client.request("_nudge/status", &json!({})).await).await?)
            }
            None => None,
        };
        if args.json {
            output::say_json(status.unwrap_or_default())?;
            return Ok(ExitCode::SUCCESS);
        }
        match &status {
            Some(status) => output::say(running_daemon(status))?,
            None => output::say("no daemon runs; it is started when it is needed")?,
        }
        output::say(places(place))?;
        if let Some(status) = &status {
            sessions(status, place).await?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The daemon, with its build and program where those are not this one's.
fn running_daemon(status: &Value) -> String {
    let text = |name: &str| terminal_text::one_line(status[name].as_str().unwrap_or("?"));
    let own = std::env::current_exe().ok().map(|path| path.display().to_string());
    let mut line =
        format!("daemon {} ({}) runs as process {}", text("version"), text("build"), status["pid"]);
    if status["program"].as_str().is_some_and(|program| Some(program) != own.as_deref()) {
        line = format!("{line}\n  its program  {}", text("program"));
    }
    line
}

/// Which Nudge this is and where it keeps things.
fn places(place: &DataPlace) -> String {
    let shown = |path: Option<std::path::PathBuf>| match path {
        Some(path) => terminal_text::one_line(&path.display().to_string()),
        None => "none: nothing is kept".to_owned(),
    };
    format!(
        "  version      {}\n  program      {}\n  data folder  {}\n  log          {}",
        version::LONG,
        shown(std::env::current_exe().ok()),
        shown(place.data_dir()),
        shown(place.log_file()),
    )
}

/// One line a session.
async fn sessions(status: &Value, place: &DataPlace) -> Result<()> {
    let live = status["sessions"].as_array().map_or(&[][..], Vec::as_slice);
    if live.is_empty() {
        output::say("no session is in use")?;
        return Ok(());
    }
    let store_view = StoreView::open(place).await?;
    for entry in live {
        let id = entry[0].as_str().unwrap_or_default();
        let named = match store_view.0.session(id).await? {
            Some(session) => {
                format!("{}  ({})", render::title(&session), terminal_text::one_line(&session.cwd))
            }
            None => "(not in the store)".to_owned(),
        };
        output::say(format!("{}  {}  {named}", terminal_text::one_line(id), doing(&entry[1])))?;
    }
    Ok(())
}

/// What a session in use does.
fn doing(live: &Value) -> String {
    let waiting = live["pending"].as_array().map_or(0, Vec::len);
    let state = match live["state"].as_str().unwrap_or_default() {
        "requires_action" => "waits for you (nudge approve, nudge answer)",
        state => state,
    };
    format!("{state}, {} attached, {waiting} waiting", live["clients"])
}

pub(crate) fn stop(place: &DataPlace) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    let _inside = runtime.enter();
    let ask = || {
        let Some(control) = DaemonLink::connect_at_once(place)? else { return Ok(false) };
        runtime.block_on(control.run(async |client| client.request("_nudge/stop", &json!({})).await))?;
        Ok(true)
    };
    let was_there = daemon::stop(place, ask)?;
    output::say(if was_there { "the daemon has ended" } else { "no daemon runs" })?;
    Ok(ExitCode::SUCCESS)
}

//! `nudge sessions`, `queue`, `steer`, `revoke`, `watch`, `status` and `stop`: sessions from any terminal.

mod control;
mod export;
mod list;
mod render;
mod watch;

use std::{io::Write, process::ExitCode};

use anyhow::{Result, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::{daemon, place::Place};
use control::Control;
use list::Shelf;

/// List sessions, or show, export or delete one
///
/// SESSION is an id, the beginning of one, or `last` for the one used last.
#[derive(Debug, clap::Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    command: Option<SessionsCommand>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// List sessions, newest first
    List(ListArgs),
    /// Show a session and what waits to be delivered
    Show {
        session: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a whole conversation to standard output
    Export {
        session: String,
        /// In which form
        #[arg(long, value_name = "FORM", default_value = "markdown")]
        format: Format,
    },
    /// Delete a session with all that was said and all that waits
    Delete { session: String },
}

#[derive(Debug, Clone, clap::Args)]
struct ListArgs {
    /// Only those of this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Only those whose title or id has TEXT in it
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// How many at the most
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: u32,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object: the session and its updates
    Json,
    /// A text to read
    Markdown,
}

/// A message for a session.
#[derive(Debug, clap::Args)]
pub(crate) struct Say {
    /// An id, the beginning of one, or `last`
    session: String,
    /// What to say
    #[arg(required = true)]
    text: Vec<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Take a message back that has not been delivered
#[derive(Debug, clap::Args)]
pub(crate) struct Revoke {
    /// An id, the beginning of one, or `last`
    session: String,
    /// The id of the message
    message: String,
}

/// Follow a session, live; Ctrl-C leaves it as it is
#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    /// An id, the beginning of one, or `last`
    session: String,
    /// Every update as a line of JSON
    #[arg(long)]
    json: bool,
    /// Only what comes from now on
    #[arg(long)]
    no_history: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Sessions, place: &Place) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        match args.command {
            None => list::list(place, &args.list.filter(), args.list.json).await?,
            Some(SessionsCommand::List(list)) => list::list(place, &list.filter(), list.json).await?,
            Some(SessionsCommand::Show { session, json }) => list::show(place, &session, json).await?,
            Some(SessionsCommand::Export { session, format }) => {
                let shelf = Shelf::open(place).await?;
                let session = shelf.find(&session).await?;
                export::export(&shelf, &session, format == Format::Json).await?;
            }
            Some(SessionsCommand::Delete { session }) => {
                let id = Shelf::open(place).await?.find(&session).await?.id.to_string();
                let control = Control::start(place)?;
                control
                    .run(async |client| client.request("session/delete", &json!({ "sessionId": id })).await)
                    .await?;
                say_line(&format!("deleted {id}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

impl ListArgs {
    fn filter(&self) -> list::Filter {
        list::Filter { cwd: self.cwd.clone(), search: self.search.clone(), limit: self.limit }
    }
}

pub(crate) fn say(args: &Say, mode: &str, place: &Place) -> Result<ExitCode> {
    let text = args.text.join(" ");
    if text.trim().is_empty() {
        bail!("there is nothing to say: give a text");
    }
    let content = json!([{ "type": "text", "text": text }]);
    let answer = on_session(
        place,
        &args.session,
        "session/inject",
        |id| json!({ "sessionId": id, "mode": mode, "content": content }),
    )?;
    match (args.json, answer["messageId"].as_str()) {
        (false, Some(id)) => say_line(id),
        _ => say_line(&answer.to_string()),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn revoke(args: &Revoke, place: &Place) -> Result<ExitCode> {
    on_session(
        place,
        &args.session,
        "session/revoke_inject",
        |id| json!({ "sessionId": id, "messageId": args.message }),
    )?;
    say_line(&format!("revoked {}", args.message));
    Ok(ExitCode::SUCCESS)
}

/// Joins a session, which brings it into use if it is not, and asks for one thing.
fn on_session(
    place: &Place,
    session: &str,
    method: &str,
    params: impl FnOnce(&str) -> Value,
) -> Result<Value> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        let session = Shelf::open(place).await?.find(session).await?;
        let id = session.id.to_string();
        let resume = json!({
            "sessionId": id,
            "additionalDirectories": session.additional_directories,
            // What waits must not be delivered because somebody wants to take it back.
            "_meta": { "nudge": { "hold": method == "session/revoke_inject", "keepDirectories": true } },
        });
        let control = Control::start(place)?;
        control
            .run(async |client| {
                client.request("session/resume", &resume).await?;
                client.request(method, &params(&id)).await
            })
            .await
    })
}

pub(crate) fn watch(args: &Watch, place: &Place) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        let session = Shelf::open(place).await?.find(&args.session).await?;
        watch::watch(place, &session, args.json, !args.no_history).await
    })
}

pub(crate) fn status(args: &StatusArgs, place: &Place) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    let _inside = runtime.enter();
    let Some(control) = Control::connect(place)? else {
        say_line(if args.json { "null" } else { "no daemon runs; it is started when it is needed" });
        return Ok(ExitCode::SUCCESS);
    };
    let status =
        runtime.block_on(control.run(async |client| client.request("_nudge/status", &json!({})).await))?;
    if args.json {
        say_line(&status.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    say_line(&format!(
        "daemon {} runs as process {}",
        status["version"].as_str().unwrap_or("?"),
        status["pid"]
    ));
    for entry in status["sessions"].as_array().into_iter().flatten() {
        say_line(&render::live(&entry[0], &entry[1]));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn stop(place: &Place) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    let _inside = runtime.enter();
    let ask = || {
        let Some(control) = Control::connect_at_once(place)? else { return Ok(false) };
        runtime.block_on(control.run(async |client| client.request("_nudge/stop", &json!({})).await))?;
        Ok(true)
    };
    let was_there = daemon::stop(place, ask)?;
    say_line(if was_there { "the daemon ends" } else { "no daemon runs" });
    Ok(ExitCode::SUCCESS)
}

/// Writes a line to standard output; nobody may be there to read it.
fn say_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

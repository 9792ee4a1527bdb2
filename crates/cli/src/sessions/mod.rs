//! `nudge sessions`, and what is said to and asked of sessions from any terminal.

mod cancel;
mod control;
mod export;
mod list;
mod markdown;
mod question;
mod render;
mod say;
mod status;
mod store_view;
mod watch;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use nudge_chat::{form, permission_text};
use serde_json::json;

use crate::{data_place::DataPlace, output, settings::Settings, terminal_text};
pub(crate) use cancel::{CancelArgs, cancel};
pub(crate) use control::{DaemonLink, runtime};
pub(crate) use question::{ApproveArgs, FillArgs, RejectArgs, answer, approve, reject};
pub(crate) use say::{RevokeArgs, SayArgs, message, revoke, say};
pub(crate) use status::{StatusArgs, status, stop};
pub(crate) use store_view::{LookupPurpose, StoreView};

/// List sessions, or show, export or delete one
///
/// SESSION is an id, the beginning of one, or `last`: the newest session of this folder, or of the nearest folder above it
/// that has one. If none has, `show` and `export` take the newest of all and say so; `delete` does not. `delete` wants at
/// least four characters of an id.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge sessions                        the newest 50
  nudge sessions --cwd . --limit 0      all of this folder
  nudge sessions show last              one, and what waits in it
  nudge sessions export last > talk.md  what was said")]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    command: Option<SessionsCommand>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// List sessions, newest first
    #[command(after_help = "\
Examples:
  nudge sessions list --search parser
  nudge sessions list --json | jq -r '.[].sessionId'")]
    List(ListArgs),
    /// Show a session and what waits to be delivered
    #[command(after_help = "\
Example:
  nudge sessions show last")]
    Show {
        /// An id, the beginning of one, or `last` for the newest of this folder
        session: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a whole conversation to standard output
    ///
    /// What is written is safe for a terminal, also in a file: what would command it is marked, in JSON it is escaped.
    #[command(after_help = "\
Examples:
  nudge sessions export last > talk.md
  nudge sessions export last --format json | jq '.updates | length'")]
    Export {
        /// An id, the beginning of one, or `last` for the newest of this folder
        session: String,
        /// In which form
        #[arg(long, value_name = "FORM", default_value = "markdown")]
        format: Format,
    },
    /// Delete a session with all that was said and all that waits
    #[command(after_help = "\
Example:
  nudge sessions delete sess_b138cf5f")]
    Delete {
        /// An id, four characters or more of the beginning of one, or `last` for the newest of this folder
        session: String,
    },
}

#[derive(Debug, Clone, clap::Args)]
struct ListArgs {
    /// Only those of this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Only those whose title or id has TEXT in it
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// How many at the most; 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: u32,
    /// Print JSON
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

/// Follow a session, live; Ctrl-C leaves it as it is
///
/// What is asked of the user is shown, and can be answered with `nudge approve`, `nudge reject` and `nudge answer`. On a terminal, Markdown
/// is shown in colours, with what tools print; in a pipe, or with `NO_COLOR`, it is plain text.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge watch                           the newest session of this folder
  nudge watch sess_b1 --no-history      only what comes from now on
  nudge watch last --json | jq .sessionUpdate")]
pub(crate) struct WatchArgs {
    /// An id, the beginning of one, or `last` for the newest of this folder
    #[arg(default_value = "last")]
    session: String,
    /// Every update as a line of JSON
    #[arg(long)]
    json: bool,
    /// Only what comes from now on
    #[arg(long)]
    no_history: bool,
}

pub(crate) fn run(args: SessionsArgs, place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        match args.command {
            None => list::list(place, &args.list.filter(), args.list.json).await?,
            Some(SessionsCommand::List(list)) => list::list(place, &list.filter(), list.json).await?,
            Some(SessionsCommand::Show { session, json }) => list::show(place, &session, json).await?,
            Some(SessionsCommand::Export { session, format }) => {
                control::settle(place).await?;
                let store_view = StoreView::open(place).await?;
                let session = store_view.find(&session, LookupPurpose::Join).await?;
                export::export(&store_view, &session, format == Format::Json).await?;
            }
            Some(SessionsCommand::Delete { session }) => delete(&session, place, settings).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn delete(name: &str, place: &DataPlace, settings: &Settings) -> Result<()> {
    let session = StoreView::open(place).await?.find(name, LookupPurpose::Delete).await?;
    let params = json!({ "sessionId": &*session.id });
    let control = DaemonLink::start(place, settings)?;
    control.run(async |client| client.request("session/delete", &params).await).await?;
    output::say(format!("deleted {}", terminal_text::one_line(&session.id)))?;
    output::remark(format!("it was {}", render::named(&session)));
    Ok(())
}

impl ListArgs {
    fn filter(&self) -> list::ListFilter {
        list::ListFilter { cwd: self.cwd.clone(), search: self.search.clone(), limit: self.limit }
    }
}

pub(crate) fn watch(args: &WatchArgs, place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        let session = StoreView::open(place).await?.find(&args.session, LookupPurpose::Join).await?;
        watch::watch(place, settings, &session, args.json, !args.no_history).await
    })
}

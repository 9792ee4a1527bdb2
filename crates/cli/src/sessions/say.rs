//! `nudge queue`, `steer` and `revoke`: something is said to a session from any terminal, or taken back.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    process::ExitCode,
};

use anyhow::{Context, Result, anyhow, bail};
use nudge_store::SessionRow;
use serde_json::{Value, json};

use super::{
    DaemonLink, control, render,
    store_view::{LookupPurpose, StoreView},
};
use crate::{data_place::DataPlace, output, settings::Settings};

/// The longest message that is read from a file or from standard input.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A message for a session.
#[derive(Debug, clap::Args)]
pub(crate) struct SayArgs {
    /// An id, the beginning of one, or `last` for the newest of this folder
    session: String,
    /// What to say; `-` reads it from standard input, `@FILE` from a file, and `@@` begins a text with an @
    #[arg(required = true)]
    text: Vec<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// Take a message back that has not been delivered
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  id=$(nudge queue last \"then run the tests\")
  nudge revoke last \"$id\"")]
pub(crate) struct RevokeArgs {
    /// An id, the beginning of one, or `last` for the newest of this folder
    session: String,
    /// The id of the message, as `nudge queue`, `nudge steer` and `nudge sessions show` print it
    message: String,
}

pub(crate) fn say(args: &SayArgs, mode: &str, place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    let text = message(&args.text)?;
    let content = json!([{ "type": "text", "text": text }]);
    let (session, answer) = on_session(
        place,
        settings,
        &args.session,
        "session/inject",
        |id| json!({ "sessionId": id, "mode": mode, "content": content }),
    )?;
    match (args.json, answer["messageId"].as_str()) {
        (false, Some(id)) => output::say(id)?,
        _ => output::say_json(&answer)?,
    }
    output::remark(format!("for {}", render::named(&session)));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn revoke(args: &RevokeArgs, place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    let (session, _) = on_session(
        place,
        settings,
        &args.session,
        "session/revoke_inject",
        |id| json!({ "sessionId": id, "messageId": args.message }),
    )?;
    output::say(format!("revoked {}", args.message))?;
    output::remark(format!("in {}", render::named(&session)));
    Ok(ExitCode::SUCCESS)
}

/// Joins a session, which brings it into use if it is not, and asks for one thing.
fn on_session(
    place: &DataPlace,
    settings: &Settings,
    session: &str,
    method: &str,
    params: impl FnOnce(&str) -> Value,
) -> Result<(SessionRow, Value)> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        let is_revoked = method == "session/revoke_inject";
        let purpose = if is_revoked { LookupPurpose::Decide } else { LookupPurpose::Join };
        let session = StoreView::open(place).await?.find(session, purpose).await?;
        // What waits must not be delivered because somebody wants to take it back.
        let resume = join(&session, is_revoked);
        let control = DaemonLink::start(place, settings)?;
        let answer = control
            .run(async |client| {
                client.request("session/resume", &resume).await?;
                client.request(method, &params(&session.id)).await
            })
            .await?;
        Ok((session, answer))
    })
}

/// The params with which a terminal joins a session.
pub(super) fn join(session: &SessionRow, holds: bool) -> Value {
    json!({
        "sessionId": &*session.id,
        "additionalDirectories": session.additional_directories,
        "_meta": { "nudge": { "hold": holds, "keepDirectories": true } },
    })
}

/// What is to be said: the words, or what a file or standard input says.
pub(crate) fn message(words: &[String]) -> Result<String> {
    let text = match words {
        [before @ .., dash] if dash == "-" => {
            if io::stdin().is_terminal() {
                output::remark("type the message; Ctrl-D at the beginning of a line ends it");
            }
            let typed = read(io::stdin().lock()).context("cannot read standard input")?;
            if before.is_empty() { typed } else { format!("{}\n\n{typed}", before.join(" ")) }
        }
        [word] if word.starts_with("@@") => word[1..].to_owned(),
        [word] if word.starts_with('@') => {
            let name = &word[1..];
            let opened = File::open(name).map_err(anyhow::Error::from).and_then(read);
            opened.map_err(|error| {
                anyhow!("cannot read the file {name}: {error:#}; a text that begins with @ is written @@")
            })?
        }
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        bail!("there is nothing to say: give a text, `-` for standard input, or @FILE");
    }
    Ok(text)
}

/// A text without the line break at its end.
fn read(from: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        bail!("expected at most {LONGEST} bytes; name a file to the agent instead");
    }
    let text = String::from_utf8(bytes).ok().context("expected text in UTF-8")?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

//! `nudge watch`: a session, live, in a terminal.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Context, Result};
use nudge_store::Session;
use nudge_wire::RawJson;
use serde_json::{Value, json};

use super::{
    Control,
    render::{Markdown, plain},
};
use crate::place::Place;

pub(crate) async fn watch(
    place: &Place,
    session: &Session,
    is_json: bool,
    history: bool,
) -> Result<ExitCode> {
    let control = Control::start(place)?;
    let mut params = json!({
        "sessionId": &*session.id,
        "additionalDirectories": session.additional_directories,
        "_meta": { "nudge": { "hold": true, "keepDirectories": true } },
    });
    if history {
        params["replayFrom"] = json!({ "type": "start" });
    }
    let mut shown = Shown { is_json, markdown: Markdown::default() };
    control
        .run(async |client| {
            // The history is longer than what may wait, so it is read while the answer is awaited.
            let joined = client.ask("session/resume", &params)?;
            let mut joined = std::pin::pin!(joined);
            let mut is_joined = false;
            loop {
                let update = tokio::select! {
                    answer = &mut joined, if !is_joined => {
                        answer?;
                        is_joined = true;
                        continue;
                    }
                    update = client.updates.recv() => update,
                    stopped = tokio::signal::ctrl_c() => {
                        stopped.context("cannot wait for Ctrl-C")?;
                        return Ok(ExitCode::from(130));
                    }
                };
                let Some(update) = update else { return Ok(ExitCode::SUCCESS) };
                let is_left = update.get(&["_meta", "nudge", "left"]).is_some();
                if shown.show(&update).is_err() || is_left {
                    // Whoever reads has read enough, or there is nothing more to see.
                    return Ok(ExitCode::SUCCESS);
                }
            }
        })
        .await
}

struct Shown {
    is_json: bool,
    markdown: Markdown,
}

impl Shown {
    fn show(&mut self, update: &RawJson) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.is_json {
            writeln!(out, "{}", update.as_str())?;
        } else {
            let update: Value = update.to().unwrap_or_default();
            let text = match (update["sessionUpdate"].as_str(), update["state"].as_str()) {
                (Some("state_update"), Some(state)) => format!("\n\n[{state}]\n"),
                (Some("notice"), _) => format!("\n\n[{}]\n", update["title"].as_str().unwrap_or_default()),
                _ => self.markdown.update(&update),
            };
            out.write_all(plain(&text).as_bytes())?;
        }
        out.flush()
    }
}

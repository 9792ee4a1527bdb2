//! `nudge sessions list` and `show`: read from the store itself, whether a daemon runs or not.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use nudge_store::{InputState, Session, SessionFilter, Store};
use serde_json::{Value, json};

use super::{Control, render, say_line};
use crate::place::Place;

/// Which sessions are listed.
pub(crate) struct Filter {
    pub(crate) cwd: Option<String>,
    pub(crate) search: Option<String>,
    pub(crate) limit: u32,
}

/// The store, to look into.
pub(crate) struct Shelf(pub(crate) Arc<dyn Store>);

impl Shelf {
    pub(crate) async fn open(place: &Place) -> Result<Self> {
        let opened =
            nudge_store::open(&place.store_url()).await.context("cannot open the store of sessions")?;
        if let Some(path) = opened.set_aside {
            tracing::error!("the store was damaged; it was set aside as {}", path.display());
        }
        Ok(Self(opened.store))
    }

    /// The session that `name` means: an id, the beginning of one, or `last`.
    pub(crate) async fn find(&self, name: &str) -> Result<Session> {
        if name == "last" {
            let page = self.0.sessions(&SessionFilter::default(), None, 1).await?;
            return page.sessions.into_iter().next().context("there is no session yet");
        }
        if let Some(session) = self.0.session(name).await? {
            return Ok(session);
        }
        let filter = SessionFilter { search: Some(name.to_owned()), ..SessionFilter::default() };
        let found = self.0.sessions(&filter, None, 500).await?.sessions;
        let is_meant = |session: &Session| {
            session.id.starts_with(name)
                || session.id.strip_prefix("sess_").is_some_and(|id| id.starts_with(name))
        };
        let mut meant = found.into_iter().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(session), None) => Ok(session),
            (Some(_), Some(_)) => bail!("several sessions begin with `{name}`; give more of the id"),
            (None, _) => bail!("no session is called `{name}`; `nudge sessions` lists them"),
        }
    }
}

pub(crate) async fn list(place: &Place, filter: &Filter, is_json: bool) -> Result<()> {
    let shelf = Shelf::open(place).await?;
    let cwd = filter.cwd.as_deref().map(std::path::absolute).transpose()?;
    let wanted = SessionFilter {
        cwd: cwd.map(|cwd| cwd.to_string_lossy().trim_end_matches('/').to_owned()),
        search: filter.search.clone(),
        ..SessionFilter::default()
    };
    let sessions = shelf.0.sessions(&wanted, None, filter.limit).await?.sessions;
    if is_json {
        say_line(&Value::from(sessions.iter().map(info).collect::<Vec<_>>()).to_string());
    } else if sessions.is_empty() {
        say_line("no sessions");
    }
    for session in sessions.iter().filter(|_| !is_json) {
        say_line(&render::row(session));
    }
    Ok(())
}

pub(crate) async fn show(place: &Place, name: &str, is_json: bool) -> Result<()> {
    let shelf = Shelf::open(place).await?;
    let session = shelf.find(name).await?;
    let inputs = shelf.0.inputs(&session.id).await?;
    let waiting = inputs.iter().filter(|input| input.state == InputState::Pending);
    let content =
        |text: Option<&String>| text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let pending: Vec<Value> = waiting
        .map(|input| json!({ "messageId": &*input.id, "mode": input.mode, "content": content(input.content.as_ref()) }))
        .collect();
    let entries = shelf.0.last_seq(&session.id).await?.map_or(0, |last| last + 1);
    let state = state(place, &session.id).await?;
    let mut shown = info(&session);
    shown["state"] = json!(state);
    shown["entries"] = json!(entries);
    shown["pending"] = json!(pending);
    say_line(&if is_json { shown.to_string() } else { render::session(&shown) });
    Ok(())
}

/// What the daemon says of a session, if one runs.
async fn state(place: &Place, id: &str) -> Result<Option<String>> {
    let Some(control) = Control::connect(place)? else { return Ok(None) };
    let status = control.run(async |client| client.request("_nudge/status", &json!({})).await).await?;
    let mut sessions = status["sessions"].as_array().into_iter().flatten();
    let live = sessions.find(|entry| entry[0] == id);
    Ok(live.and_then(|entry| entry[1]["state"].as_str()).map(str::to_owned))
}

pub(crate) fn info(session: &Session) -> Value {
    json!({
        "sessionId": &*session.id,
        "title": session.title,
        "cwd": session.cwd,
        "additionalDirectories": session.additional_directories,
        "createdAt": render::time(session.created_at),
        "updatedAt": render::time(session.updated_at),
        "closed": session.closed,
        "parent": session.parent.as_deref(),
    })
}

//! `nudge sessions list` and `show`: read from the store itself, whether a daemon runs or not.

use anyhow::Result;
use nudge_store::{InputState, SessionFilter, SessionRow};
use serde_json::{Value, json};

use super::{
    DaemonLink, control, render,
    store_view::{LookupPurpose, StoreView},
};
use crate::{data_place::DataPlace, output};

/// Which sessions are listed.
pub(crate) struct ListFilter {
    pub(crate) cwd: Option<String>,
    pub(crate) search: Option<String>,
    pub(crate) limit: u32,
}

pub(crate) async fn list(place: &DataPlace, filter: &ListFilter, is_json: bool) -> Result<()> {
    let store_view = StoreView::open(place).await?;
    let cwd = filter.cwd.as_deref().map(std::path::absolute).transpose()?;
    let wanted = SessionFilter {
        cwd: cwd.map(|cwd| cwd.to_string_lossy().trim_end_matches('/').to_owned()),
        search: filter.search.clone(),
        ..SessionFilter::default()
    };
    let (sessions, is_cut) = store_view.newest(&wanted, filter.limit).await?;
    if is_json {
        output::say_json(Value::from(sessions.iter().map(info).collect::<Vec<_>>()))?;
    } else if sessions.is_empty() {
        output::say("no sessions")?;
    }
    for session in sessions.iter().filter(|_| !is_json) {
        output::say(render::row(session))?;
    }
    if is_cut {
        let count = sessions.len();
        output::remark(format!("the newest {count}; there are more: --limit COUNT, or --limit 0 for all"));
    }
    Ok(())
}

pub(crate) async fn show(place: &DataPlace, name: &str, is_json: bool) -> Result<()> {
    control::settle(place).await?;
    let store_view = StoreView::open(place).await?;
    let session = store_view.find(name, LookupPurpose::Join).await?;
    let inputs = store_view.0.inputs(&session.id).await?;
    let waiting = inputs.iter().filter(|input| input.state == InputState::Pending);
    let content =
        |text: Option<&String>| text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let pending: Vec<Value> = waiting
        .map(|input| json!({ "messageId": &*input.id, "mode": input.mode, "content": content(input.content.as_ref()) }))
        .collect();
    let entries = store_view.0.last_seq(&session.id).await?.map_or(0, |last| last + 1);
    let state = state(place, &session.id).await?;
    let mut shown = info(&session);
    shown["state"] = json!(state);
    shown["entries"] = json!(entries);
    shown["pending"] = json!(pending);
    if is_json {
        output::say_json(shown)?;
    } else {
        output::say(render::session(&shown))?;
    }
    Ok(())
}

/// What the daemon says of a session, if one runs.
async fn state(place: &DataPlace, id: &str) -> Result<Option<String>> {
    let Some(control) = DaemonLink::connect(place)? else { return Ok(None) };
    let status = control.run(async |client| client.request("_nudge/status", &json!({})).await).await?;
    let mut sessions = status["sessions"].as_array().into_iter().flatten();
    let live = sessions.find(|entry| entry[0] == id);
    Ok(live.and_then(|entry| entry[1]["state"].as_str()).map(str::to_owned))
}

pub(crate) fn info(session: &SessionRow) -> Value {
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

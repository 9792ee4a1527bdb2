//! `session/list`.

use nudge_store::{SessionCursor, SessionFilter, SessionRow, Store, StoreError};
use nudge_wire::{Error, RawJson};
use serde_json::{Map, Value, json};

use super::LifecycleRequest;
use crate::{
    params::{self, ListParams},
    session::store_error,
    shape, time,
};

/// Sessions on a page unless asked otherwise, and at the most.
const PAGE: u32 = 50;
const MOST: u32 = 500;

impl LifecycleRequest {
    /// The agent's own list if it has one, else what the store has of it.
    pub(super) async fn list(&self, method: &str, params: Option<&RawJson>) -> Result<RawJson, Error> {
        let asked = params::read(method, params)?;
        let Some(agent) = &self.joined_sessions.client.agent else {
            return stored_sessions(&*self.joined_sessions.shared.store, asked, None).await;
        };
        self.reach(agent).await?;
        if agent.offers().await?.list {
            let params = params.cloned().unwrap_or_else(shape::empty);
            let version = self.joined_sessions.client.version;
            return agent.request(version, method, &params, self.origin.clone()).await;
        }
        stored_sessions(&*self.joined_sessions.shared.store, asked, Some(agent.name())).await
    }
}

/// The sessions that were run by this agent, or all.
async fn stored_sessions(
    store: &dyn Store,
    params: ListParams,
    backend: Option<&str>,
) -> Result<RawJson, Error> {
    let created_after = match params.created_after.as_deref().map(|text| (text, time::read(text))) {
        None => None,
        Some((_, Some(at))) => Some(at),
        Some((_, None)) => {
            return Err(Error::invalid_params(
                "Invalid params: `createdAfter` is a time such as 2026-01-31T12:00:00Z",
            ));
        }
    };
    let after: Option<SessionCursor> = match params.cursor.as_deref().map(str::parse).transpose() {
        Ok(after) => after,
        Err(_) => return Err(bad_cursor()),
    };
    let filter = SessionFilter {
        cwd: params.cwd,
        created_after,
        search: params.search,
        backend: backend.map(str::to_owned),
        ..SessionFilter::default()
    };
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MOST);
    let page = match store.sessions(&filter, after.as_ref(), limit).await {
        Ok(page) => page,
        Err(StoreError::BadCursor) => return Err(bad_cursor()),
        Err(error) => return Err(store_error(error)),
    };
    let mut result = Map::new();
    result.insert("sessions".to_owned(), page.sessions.iter().map(info).collect());
    if let Some(next) = page.next {
        result.insert("nextCursor".to_owned(), json!(next.to_string()));
    }
    Ok(shape::raw(&result))
}

fn bad_cursor() -> Error {
    Error::invalid_params("Invalid params: the cursor is not one that was given. List from the start")
}

fn info(session: &SessionRow) -> Value {
    let mut info = json!({
        "sessionId": &*session.id,
        "cwd": session.cwd,
        "updatedAt": time::written(session.updated_at),
        "_meta": { "createdAt": time::written(session.created_at) },
    });
    if !session.additional_directories.is_empty() {
        info["additionalDirectories"] = json!(session.additional_directories);
    }
    if let Some(title) = &session.title {
        info["title"] = json!(title);
    }
    info
}

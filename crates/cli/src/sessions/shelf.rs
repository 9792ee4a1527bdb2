//! The store of sessions, to look into, whether a daemon runs or not; and which session a name means.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, Result, bail};
use nudge_store::{Cursor, Session, SessionFilter, Store};

use crate::{output, place::Place, terminal_text};

/// Sessions that are read from the store at once.
const PAGE: u32 = 500;

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
            return self.last().await;
        }
        if let Some(session) = self.0.session(name).await? {
            return Ok(session);
        }
        let filter = SessionFilter { search: Some(name.to_owned()), ..SessionFilter::default() };
        let found = self.0.sessions(&filter, None, PAGE).await?.sessions;
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

    /// The newest session of this folder; if it has none, the newest of all, with a word about it.
    async fn last(&self) -> Result<Session> {
        for folder in this_folder() {
            let filter = SessionFilter { cwd: Some(folder), ..SessionFilter::default() };
            if let Some(session) = self.0.sessions(&filter, None, 1).await?.sessions.into_iter().next() {
                return Ok(session);
            }
        }
        let newest = self.0.sessions(&SessionFilter::default(), None, 1).await?;
        let session = newest.sessions.into_iter().next().context("there is no session yet")?;
        let folder = terminal_text::one_line(&session.cwd);
        output::remark(format!("this folder has no session; taking the newest of all, in {folder}"));
        Ok(session)
    }

    /// The newest sessions, at most `limit` or all for 0, and whether there are more.
    pub(crate) async fn newest(&self, filter: &SessionFilter, limit: u32) -> Result<(Vec<Session>, bool)> {
        let mut sessions = Vec::new();
        let mut after: Option<Cursor> = None;
        loop {
            let had = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
            let wanted = if limit == 0 { PAGE } else { PAGE.min(limit - had) };
            let page = self.0.sessions(filter, after.as_ref(), wanted).await?;
            sessions.extend(page.sessions);
            after = page.next;
            let is_enough = limit != 0 && sessions.len() >= limit as usize;
            if after.is_none() || is_enough {
                return Ok((sessions, after.is_some()));
            }
        }
    }
}

/// The current folder, by the names it may be known under: the user may have come here by a link.
pub(crate) fn this_folder() -> Vec<String> {
    let here = std::env::current_dir().ok();
    let by_name = std::env::var_os("PWD")
        .map(PathBuf::from)
        .filter(|name| name.is_absolute() && name.canonicalize().ok().is_some_and(|path| Some(path) == here));
    let mut names: Vec<String> =
        [here, by_name].into_iter().flatten().map(|path| path.to_string_lossy().into_owned()).collect();
    names.dedup();
    names
}

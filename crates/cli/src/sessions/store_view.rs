//! The store of sessions, to look into, whether a daemon runs or not; and which session a name means.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use nudge_store::{SessionCursor, SessionFilter, SessionRow, Store};

use super::render;
use crate::{daemon::check_data_folder, data_place::DataPlace, output, terminal_text};

/// Sessions that are read from the store at once.
const PAGE: u32 = 500;

/// How much of an id has to be given to name what cannot be had back, `sess_` aside.
const LEAST_OF_ID: usize = 4;

/// What is to be done with the session that is named, and so how far it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookupPurpose {
    /// To look at it or say something: if this folder has no session, `last` is the newest of all, with a word about it.
    Join,
    /// To go on talking in it: as [`LookupPurpose::Join`], and `last` is none in which nothing was said yet, if there is another.
    GoOn,
    /// To end, permit or take back something: `last` is of this folder or of one above it.
    Decide,
    /// To delete it: as [`LookupPurpose::Decide`], and a few letters of an id do not name it.
    Delete,
}

/// The store, to look into.
pub(crate) struct StoreView(pub(crate) Arc<dyn Store>);

impl StoreView {
    pub(crate) async fn open(place: &DataPlace) -> Result<Self> {
        check_data_folder(place)?;
        let opened =
            nudge_store::open(&place.store_url()).await.context("cannot open the store of sessions")?;
        if let Some(path) = opened.set_aside {
            tracing::error!("the store was damaged; it was set aside as {}", path.display());
        }
        Ok(Self(opened.store))
    }

    /// The session that `name` means: an id, the beginning of one, or `last`.
    pub(crate) async fn find(&self, name: &str, purpose: LookupPurpose) -> Result<SessionRow> {
        if name.is_empty() {
            bail!("expected a session, got an empty name: give an id, the beginning of one, or `last`");
        }
        if name == "last" {
            return self.last(purpose).await;
        }
        if let Some(session) = self.0.session(name).await? {
            return Ok(session);
        }
        let session = self.beginning_with(name).await?;
        if purpose == LookupPurpose::Delete && is_too_short(name) {
            bail!(
                "expected at least {LEAST_OF_ID} characters of the id of what is to be deleted, `sess_` aside; `nudge sessions` lists the ids"
            );
        }
        Ok(session)
    }

    /// The only session whose id begins like this.
    async fn beginning_with(&self, name: &str) -> Result<SessionRow> {
        let filter = SessionFilter { search: Some(name.to_owned()), ..SessionFilter::default() };
        let found = self.0.sessions(&filter, None, PAGE).await?.sessions;
        let is_meant = |session: &SessionRow| {
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

    /// The newest session of this folder, or else of the nearest folder above it that has one. If none has, it is the newest
    /// of all, with a word about it, where that can do no harm.
    async fn last(&self, purpose: LookupPurpose) -> Result<SessionRow> {
        for folder in this_folder_and_above() {
            let filter = SessionFilter { cwd: Some(folder), ..SessionFilter::default() };
            if let Some(session) = self.newest_for(&filter, purpose).await? {
                return Ok(session);
            }
        }
        let newest = self.newest_for(&SessionFilter::default(), purpose).await?;
        let session = newest.context("there is no session yet")?;
        if !matches!(purpose, LookupPurpose::Join | LookupPurpose::GoOn) {
            bail!(
                "this folder has no session; if the newest of all is meant, name it by its id: {}",
                render::named(&session)
            );
        }
        let folder = terminal_text::one_line(&session.cwd);
        output::remark(format!("this folder has no session; taking the newest of all, in {folder}"));
        Ok(session)
    }

    /// The newest of these sessions that is meant.
    async fn newest_for(&self, filter: &SessionFilter, purpose: LookupPurpose) -> Result<Option<SessionRow>> {
        let count = if purpose == LookupPurpose::GoOn { PAGE } else { 1 };
        let mut sessions = self.0.sessions(filter, None, count).await?.sessions;
        let is_empty =
            |session: &SessionRow| session.title.is_none() && session.updated_at == session.created_at;
        let meant = sessions.iter().position(|session| !is_empty(session)).unwrap_or_default();
        Ok((!sessions.is_empty()).then(|| sessions.swap_remove(meant)))
    }

    /// The newest sessions, at most `limit` or all for 0, and whether there are more.
    pub(crate) async fn newest(&self, filter: &SessionFilter, limit: u32) -> Result<(Vec<SessionRow>, bool)> {
        let mut sessions = Vec::new();
        let mut after: Option<SessionCursor> = None;
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

/// Whether so little of an id is given that it may be a slip.
fn is_too_short(name: &str) -> bool {
    let own = name.strip_prefix("sess_").unwrap_or(if "sess_".starts_with(name) { "" } else { name });
    own.chars().count() < LEAST_OF_ID
}

/// The current folder and those above it, the nearest first: who is in a folder of a project is in the project.
pub(crate) fn this_folder_and_above() -> Vec<String> {
    let names = this_folder();
    let mut ways: Vec<_> = names.iter().map(|name| Path::new(name).ancestors()).collect();
    let mut folders: Vec<String> = Vec::new();
    loop {
        let step: Vec<&Path> = ways.iter_mut().filter_map(Iterator::next).collect();
        if step.is_empty() {
            return folders;
        }
        for folder in step.into_iter().map(|folder| folder.to_string_lossy().into_owned()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
}

/// The current folder, by the names it may be known under: the user may have come here by a link.
fn this_folder() -> Vec<String> {
    let here = std::env::current_dir().ok();
    let by_name = std::env::var_os("PWD")
        .map(PathBuf::from)
        .filter(|name| name.is_absolute() && name.canonicalize().ok().is_some_and(|path| Some(path) == here));
    let mut names: Vec<String> =
        [here, by_name].into_iter().flatten().map(|path| path.to_string_lossy().into_owned()).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_letters_are_too_short() {
        for name in ["s", "sess", "sess_", "sess_b13", "b13"] {
            assert!(is_too_short(name), "{name}");
        }
        for name in ["sess_b138", "b138", "other"] {
            assert!(!is_too_short(name), "{name}");
        }
    }
}

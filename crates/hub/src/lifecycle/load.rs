//! `session/load` and `session/resume`: a session is brought into use, or joined.

use nudge_session::{AttachOptions, unknown_session};
use nudge_store::SessionRow;
use nudge_wire::{Error, RawJson};

use super::{LifecycleRequest, Opened};
use crate::{
    directories, params,
    session::{self, RestoreWish, SessionCommand},
    sources::SessionSource,
};

impl LifecycleRequest {
    pub(super) async fn load(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let open: params::OpenParams = params::read(method, params)?;
        let wants_history = match (method, &open.replay_from) {
            ("session/load", _) => true,
            (_, None) => false,
            (_, Some(from)) if from.kind == "start" => true,
            _ => return Err(Error::invalid_params("Invalid params: `replayFrom.type` is `start`")),
        };
        directories::check_named(open.cwd.as_ref(), &open.additional_directories)?;
        let how = AttachOptions { wants_history, keeps_hold: open.keeps_hold(), is_new: false };
        let row = self
            .joined_sessions
            .shared
            .store
            .session(&open.session_id)
            .await
            .map_err(session::store_error)?;
        let is_live = self.joined_sessions.shared.live(&open.session_id).is_some();
        if let Some(row) = &row {
            self.check_same_directories(&open, row).await?;
        }
        if let Some(agent) = self.joined_sessions.client.agent.as_ref().filter(|_| !is_live) {
            match &row {
                None => {
                    directories::check(open.cwd.as_ref(), &open.additional_directories).await?;
                    return self.open_foreign(agent, method, open, params, how).await;
                }
                Some(row) if row.backend != self.joined_sessions.shared.built_in.name() => {
                    self.reach(agent).await?;
                }
                Some(_) => {}
            }
        }
        let directories = Some(open.additional_directories);
        let wish = RestoreWish { additional_directories: directories, ..self.wish(params) };
        let handle = self.joined_sessions.shared.session(&open.session_id, &wish).await?;
        Ok((open.session_id.into(), handle, how))
    }

    /// A session keeps its working directory, and while it is in use the folders beside it. Only what is asked for anew has
    /// to be there: what was said in a folder that is gone can still be read.
    async fn check_same_directories(&self, open: &params::OpenParams, row: &SessionRow) -> Result<(), Error> {
        if let Some(cwd) = &open.cwd {
            directories::check_same(cwd, &row.cwd).await?;
        }
        directories::check(None, &open.additional_directories).await?;
        let Some(handle) = self.joined_sessions.shared.live(&open.session_id) else { return Ok(()) };
        let Some(live) = handle.status().await else { return Ok(()) };
        let asked = &open.additional_directories;
        if asked.is_empty() || *asked == live.additional_directories || open.keeps_directories() {
            return Ok(());
        }
        // If nobody uses it, it comes into use again with what is asked for now.
        let (done, left) = tokio::sync::oneshot::channel();
        if handle.send(SessionCommand::Leave(done)).await.is_ok() && left.await.is_err() {
            let what = "Invalid params: the session is in use with other `additionalDirectories`; leave them out, or \
                        close the session and load it again";
            return Err(Error::invalid_params(what).reason("session_in_use"));
        }
        Ok(())
    }

    /// Has the agent load a session that it has had without us.
    async fn open_foreign(
        &self,
        agent: &SessionSource,
        method: &str,
        open: params::OpenParams,
        params: Option<&RawJson>,
        how: AttachOptions,
    ) -> Opened {
        self.reach(agent).await?;
        let offers = agent.offers().await?;
        let can = if how.wants_history { offers.load } else { offers.resume };
        if !can {
            return Err(unknown_session());
        }
        let cwd = open.cwd.unwrap_or_default();
        let mut row = session::row(cwd, open.additional_directories);
        row.id = open.session_id.into();
        let begun =
            session::begin(&self.joined_sessions.shared, agent, method, row, Vec::new(), &self.wish(params))
                .await?;
        let (id, handle) = begun;
        self.joined_sessions.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, how))
    }
}

//! `session/fork`.

use nudge_session::{AttachOptions, own_updates, unknown_session};
use nudge_store::{SessionRow, StoreOp};
use nudge_wire::{Error, RawJson};

use super::{LifecycleRequest, Opened};
use crate::{
    directories, params,
    session::{self, RestoreWish},
    shape,
    time::now,
};

impl LifecycleRequest {
    /// A new session that begins with what was said in another. What waits there stays there.
    pub(super) async fn fork(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let open: params::OpenParams = params::read(method, params)?;
        directories::check(open.cwd.as_ref(), &open.additional_directories).await?;
        let from = self
            .joined_sessions
            .shared
            .store
            .session(&open.session_id)
            .await
            .map_err(session::store_error)?;
        let from = from.ok_or_else(unknown_session)?;
        let mut row = session::row(open.cwd.unwrap_or_else(|| from.cwd.clone()), open.additional_directories);
        row.title.clone_from(&from.title);
        row.config.clone_from(&from.config);
        row.parent = Some(from.id.clone());
        let id = row.id.clone();
        if from.backend != self.joined_sessions.shared.built_in.name() {
            return self.fork_adapted(method, params, &from, row).await;
        }
        row.backend.clone_from(&from.backend);
        let mut ops = vec![StoreOp::CreateSession(row)];
        if let Some(up_to) = self.last(&from.id).await? {
            ops.push(StoreOp::CopyTranscript { from: from.id, up_to });
            // A turn that runs there does not run here.
            ops.push(StoreOp::Append(session::entry(
                up_to + 1,
                &own_updates::idle(Some("cancelled")),
                now(),
            )));
        }
        self.joined_sessions.shared.write_alone(&id, ops).await?;
        let handle =
            self.joined_sessions.shared.session(&id, &RestoreWish::of(&self.joined_sessions.client)).await?;
        Ok((id, handle, AttachOptions { is_new: true, ..AttachOptions::default() }))
    }

    /// A fork that the agent makes of a session of its own.
    async fn fork_adapted(
        &self,
        method: &str,
        params: Option<&RawJson>,
        from: &SessionRow,
        row: SessionRow,
    ) -> Opened {
        let agent = self.joined_sessions.client.agent.as_ref().filter(|agent| agent.name() == from.backend);
        let agent = agent.ok_or_else(|| Error::method_not_found(method))?;
        self.reach(agent).await?;
        if !agent.offers().await?.fork {
            return Err(Error::method_not_found(method));
        }
        let mut past = Vec::new();
        if let Some(up_to) = self.last(&from.id).await? {
            past.push(StoreOp::CopyTranscript { from: from.id.clone(), up_to });
            past.push(StoreOp::Append(session::entry(
                up_to + 1,
                &own_updates::idle(Some("cancelled")),
                now(),
            )));
        }
        let mut wish = self.wish(params);
        if let (Some(params), Some(id)) = (&wish.params, &from.agent_session_id) {
            wish.params = params.with(&["sessionId"], &shape::raw(id)).ok();
        }
        let (id, handle) =
            session::begin(&self.joined_sessions.shared, agent, method, row, past, &wish).await?;
        self.joined_sessions.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, AttachOptions { is_new: true, ..AttachOptions::default() }))
    }

    /// The number of the last entry that has been shown of a session.
    async fn last(&self, id: &str) -> Result<Option<u64>, Error> {
        if let Some(handle) = self.joined_sessions.shared.live(id)
            && let Some(live) = handle.status().await
        {
            return Ok(live.shown.checked_sub(1));
        }
        self.joined_sessions.shared.store.last_seq(id).await.map_err(session::store_error)
    }
}

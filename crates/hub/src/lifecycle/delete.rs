//! `session/delete`.

use nudge_store::StoreOp;
use nudge_wire::{Error, ErrorCode, RawJson};

use super::LifecycleRequest;
use crate::{
    params,
    session::{self, SessionCommand},
    shape,
    sources::SessionSource,
};

impl LifecycleRequest {
    /// Deletes a session, in use or not.
    pub(super) async fn delete(&self, method: &str, params: Option<&RawJson>) -> Result<RawJson, Error> {
        let id = params::read::<params::SessionIdParams>(method, params)?.session_id;
        self.joined_sessions.leaves(&id);
        if let Some(handle) = self.joined_sessions.shared.live(&id) {
            let (done, deleted) = tokio::sync::oneshot::channel();
            if handle.send(SessionCommand::Delete(done)).await.is_ok()
                && let Ok(deleted) = deleted.await
            {
                return deleted.map(|()| shape::empty());
            }
        }
        let row = self.joined_sessions.shared.store.session(&id).await.map_err(session::store_error)?;
        let known_as = row.as_ref().map_or(Some(&*id), |row| row.agent_session_id.as_deref());
        let there = self.unless_hurried(self.who_deletes(known_as)).await?;
        // An agent does not bring back what it has deleted: that comes when nothing here can fail any more.
        if row.is_some() {
            self.joined_sessions.shared.write_alone(&id, vec![StoreOp::DeleteSession]).await?;
        }
        if let Some((agent, id)) = there {
            self.unless_hurried(self.delete_there(agent, method, id)).await?;
        }
        // What is not there is deleted already.
        Ok(shape::empty())
    }

    /// The agent that knows a session by this id, if it can delete it.
    async fn who_deletes<'a>(
        &'a self,
        id: Option<&'a str>,
    ) -> Result<Option<(&'a SessionSource, &'a str)>, Error> {
        let (Some(agent), Some(id)) = (&self.joined_sessions.client.agent, id) else { return Ok(None) };
        self.reach(agent).await?;
        Ok(agent.offers().await?.delete.then_some((agent, id)))
    }

    /// Has the agent delete what it knows of a session.
    async fn delete_there(&self, agent: &SessionSource, method: &str, id: &str) -> Result<(), Error> {
        let params = shape::raw(&serde_json::json!({ "sessionId": id }));
        let version = self.joined_sessions.client.version;
        match agent.request(version, method, &params, self.origin.clone()).await {
            Err(error) if error.code != ErrorCode::RESOURCE_NOT_FOUND => Err(error),
            _ => Ok(()),
        }
    }
}

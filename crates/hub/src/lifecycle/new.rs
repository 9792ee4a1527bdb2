//! `session/new`.

use nudge_session::AttachOptions;
use nudge_wire::RawJson;

use super::{LifecycleRequest, Opened};
use crate::{directories, params, session};

impl LifecycleRequest {
    pub(super) async fn new_session(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let new: params::NewParams = params::read(method, params)?;
        directories::check(Some(&new.cwd), &new.additional_directories).await?;
        let row = session::row(new.cwd, new.additional_directories);
        let (shared, wish) = (&self.joined_sessions.shared, self.wish(params));
        let source = wish.agent.as_ref().unwrap_or_else(|| wish.built_in(shared));
        self.reach(source).await?;
        let (id, handle) = session::begin(shared, source, method, row, Vec::new(), &wish).await?;
        shared.enter(id.clone(), handle.clone());
        Ok((id, handle, AttachOptions { is_new: true, ..AttachOptions::default() }))
    }
}

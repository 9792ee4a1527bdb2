//! `session/new`.

use nudge_session::AttachOptions;
use nudge_wire::RawJson;

use super::{Opened, Opening};
use crate::{
    directories, params,
    session::{self, Wish},
};

impl Opening {
    pub(super) async fn new_session(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let new: params::New = params::read(method, params)?;
        directories::check(Some(&new.cwd), &new.additional_directories).await?;
        let row = session::row(new.cwd, new.additional_directories);
        if let Some(agent) = &self.door.client.agent {
            self.reach(agent).await?;
            let (id, handle) =
                session::begin(&self.door.shared, agent, method, row, Vec::new(), &self.wish(params)).await?;
            self.door.shared.enter(id.clone(), handle.clone());
            return Ok((id, handle, AttachOptions { is_new: true, ..AttachOptions::default() }));
        }
        let id = row.id.clone();
        let handle = session::create(&self.door.shared, row, &Wish::of(&self.door.client)).await?;
        self.door.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, AttachOptions { is_new: true, ..AttachOptions::default() }))
    }
}

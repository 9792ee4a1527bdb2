//! Requests that bring a session into use or look at the store.

use std::sync::Arc;

use nudge_adapt::Agent;
use nudge_peer::Responder;
use nudge_store::{Op, Session};
use nudge_wire::{Code, Error, RawJson};

use crate::{
    client::Out,
    directories,
    door::Door,
    hub::{Counted, ending},
    listing, own_updates, params,
    session::{self, Attach, Command, How, View, Wish},
    shape,
};

/// A request that brings a session into use or looks at the store.
pub(crate) struct Opening {
    /// The process does not end meanwhile.
    _counted: Counted,
    door: Door,
}

impl Opening {
    pub(crate) fn new(door: Door) -> Self {
        Self { _counted: door.shared.opening(), door }
    }

    pub(crate) async fn run(&self, method: &str, params: Option<&RawJson>, responder: Responder) {
        let failed = match self.outcome(method, params).await {
            Ok(Outcome::Opened(id, handle, how)) => self.join(&id, handle, how, responder).await,
            Ok(Outcome::Answer(answer)) => return self.door.client.push(Out::Answer(responder, Ok(answer))),
            Err(error) => Err((error, Some(responder))),
        };
        if let Err((error, Some(responder))) = failed {
            self.door.client.push(Out::Answer(responder, Err(error)));
        }
    }

    async fn outcome(&self, method: &str, params: Option<&RawJson>) -> Result<Outcome, Error> {
        let (id, handle, how) = match method {
            "session/new" => self.unless_hurried(self.new_session(method, params)).await?,
            "session/load" | "session/resume" => self.unless_hurried(self.open(method, params)).await?,
            "session/fork" => self.unless_hurried(self.fork(method, params)).await?,
            // What is being deleted here is deleted.
            "session/delete" => return self.delete(method, params).await.map(Outcome::Answer),
            _ => return self.unless_hurried(self.list(method, params)).await.map(Outcome::Answer),
        };
        Ok(Outcome::Opened(id, handle, how))
    }

    /// Gives up what takes a while if the process ends at once.
    async fn unless_hurried<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        tokio::select! {
            done = work => done,
            () = self.door.shared.hurry.cancelled() => Err(ending()),
        }
    }

    async fn new_session(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let new: params::New = params::read(method, params)?;
        directories::check(Some(&new.cwd), &new.additional_directories).await?;
        let row = session::row(new.cwd, new.additional_directories);
        if let Some(agent) = &self.door.client.agent {
            self.reach(agent).await?;
            let (id, handle) =
                session::begin(&self.door.shared, agent, method, row, Vec::new(), &self.wish(params)).await?;
            self.door.shared.enter(id.clone(), handle.clone());
            return Ok((id, handle, How { is_new: true, ..How::default() }));
        }
        let id = row.id.clone();
        let handle = session::create(&self.door.shared, row, &Wish::of(&self.door.client)).await?;
        self.door.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, How { is_new: true, ..How::default() }))
    }

    async fn open(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let open: params::Open = params::read(method, params)?;
        let wants_history = match (method, &open.replay_from) {
            ("session/load", _) => true,
            (_, None) => false,
            (_, Some(from)) if from.kind == "start" => true,
            _ => return Err(Error::invalid_params("Invalid params: `replayFrom.type` is `start`")),
        };
        directories::check_named(open.cwd.as_ref(), &open.additional_directories)?;
        let how = How { wants_history, keeps_hold: open.keeps_hold(), is_new: false };
        let row = self.door.shared.store.session(&open.session_id).await.map_err(session::stored)?;
        let is_live = self.door.shared.live(&open.session_id).is_some();
        if let Some(row) = &row {
            self.check_same_directories(&open, row).await?;
        }
        if let Some(agent) = self.door.client.agent.as_ref().filter(|_| !is_live) {
            match &row {
                None => {
                    directories::check(open.cwd.as_ref(), &open.additional_directories).await?;
                    return self.open_foreign(agent, method, open, params, how).await;
                }
                Some(row) if row.backend != session::BUILT_IN => self.reach(agent).await?,
                Some(_) => {}
            }
        }
        let directories = Some(open.additional_directories);
        let wish = Wish { additional_directories: directories, ..self.wish(params) };
        let handle = self.door.shared.session(&open.session_id, &wish).await?;
        Ok((open.session_id.into(), handle, how))
    }

    /// Waits until the agent is there. It is not started for a client that goes meanwhile.
    async fn reach(&self, agent: &Agent) -> Result<(), Error> {
        tokio::select! {
            there = agent.init() => there.map(drop),
            () = self.door.client.gone() => Err(Error::cancelled()),
        }
    }

    /// A session keeps its working directory, and while it is in use the folders beside it. Only what is asked for anew has
    /// to be there: what was said in a folder that is gone can still be read.
    async fn check_same_directories(&self, open: &params::Open, row: &Session) -> Result<(), Error> {
        if let Some(cwd) = &open.cwd {
            directories::check_same(cwd, &row.cwd).await?;
        }
        directories::check(None, &open.additional_directories).await?;
        let Some(handle) = self.door.shared.live(&open.session_id) else { return Ok(()) };
        let Some(live) = handle.status().await else { return Ok(()) };
        let asked = &open.additional_directories;
        if asked.is_empty() || *asked == live.additional_directories || open.keeps_directories() {
            return Ok(());
        }
        // If nobody uses it, it comes into use again with what is asked for now.
        let (done, left) = tokio::sync::oneshot::channel();
        if handle.send(Command::Leave(done)).await.is_ok() && left.await.is_err() {
            let what = "Invalid params: the session is in use with other `additionalDirectories`; leave them out, or \
                        close the session and load it again";
            return Err(Error::invalid_params(what).reason("session_in_use"));
        }
        Ok(())
    }

    /// Has the agent load a session that it has had without us.
    async fn open_foreign(
        &self,
        agent: &Arc<Agent>,
        method: &str,
        open: params::Open,
        params: Option<&RawJson>,
        how: How,
    ) -> Opened {
        self.reach(agent).await?;
        let (_, offers, _) = agent.offers().await?;
        let can = if how.wants_history { offers.load } else { offers.resume };
        if !can {
            return Err(session::unknown());
        }
        let cwd = open.cwd.unwrap_or_default();
        let mut row = session::row(cwd, open.additional_directories);
        row.id = open.session_id.into();
        let begun =
            session::begin(&self.door.shared, agent, method, row, Vec::new(), &self.wish(params)).await?;
        let (id, handle) = begun;
        self.door.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, how))
    }

    fn wish(&self, params: Option<&RawJson>) -> Wish {
        Wish { params: params.cloned(), ..Wish::of(&self.door.client) }
    }

    /// The agent's own list if it has one, else what the store has of it.
    async fn list(&self, method: &str, params: Option<&RawJson>) -> Result<RawJson, Error> {
        let list = params::read(method, params)?;
        let Some(agent) = &self.door.client.agent else {
            return listing::list(&*self.door.shared.store, list, None).await;
        };
        self.reach(agent).await?;
        let (_, offers, _) = agent.offers().await?;
        if offers.list {
            let params = params.cloned().unwrap_or_else(shape::empty);
            return agent.request(self.door.client.version, method, &params).await;
        }
        listing::list(&*self.door.shared.store, list, Some(agent.name())).await
    }

    async fn join(
        &self,
        id: &str,
        handle: session::Handle,
        how: How,
        responder: Responder,
    ) -> Result<(), (Error, Option<Responder>)> {
        self.door.joins(id);
        let view = View::new(Arc::clone(&self.door.client));
        let attach = Box::new(Attach { view, how, responder });
        session::join(&self.door.shared, handle, id, attach).await
    }

    /// A new session that begins with what was said in another. What waits there stays there.
    async fn fork(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let open: params::Open = params::read(method, params)?;
        directories::check(open.cwd.as_ref(), &open.additional_directories).await?;
        let from = self.door.shared.store.session(&open.session_id).await.map_err(session::stored)?;
        let from = from.ok_or_else(session::unknown)?;
        let mut row = session::row(open.cwd.unwrap_or_else(|| from.cwd.clone()), open.additional_directories);
        row.title.clone_from(&from.title);
        row.config.clone_from(&from.config);
        row.parent = Some(from.id.clone());
        let id = row.id.clone();
        if from.backend != session::BUILT_IN {
            return self.fork_adapted(method, params, &from, row).await;
        }
        let mut ops = vec![Op::CreateSession(row)];
        if let Some(up_to) = self.last(&from.id).await? {
            ops.push(Op::CopyTranscript { from: from.id, up_to });
            // A turn that runs there does not run here.
            ops.push(Op::Append(session::entry(up_to + 1, &own_updates::idle(Some("cancelled"), None))));
        }
        self.door.shared.write_alone(&id, ops).await?;
        let handle = self.door.shared.session(&id, &Wish::of(&self.door.client)).await?;
        Ok((id, handle, How { is_new: true, ..How::default() }))
    }

    /// A fork that the agent makes of a session of its own.
    async fn fork_adapted(
        &self,
        method: &str,
        params: Option<&RawJson>,
        from: &Session,
        row: Session,
    ) -> Opened {
        let agent = self.door.client.agent.as_ref().filter(|agent| agent.name() == from.backend);
        let agent = agent.ok_or_else(|| Error::method_not_found(method))?;
        self.reach(agent).await?;
        if !agent.offers().await?.1.fork {
            return Err(Error::method_not_found(method));
        }
        let mut past = Vec::new();
        if let Some(up_to) = self.last(&from.id).await? {
            past.push(Op::CopyTranscript { from: from.id.clone(), up_to });
            past.push(Op::Append(session::entry(up_to + 1, &own_updates::idle(Some("cancelled"), None))));
        }
        let mut wish = self.wish(params);
        if let (Some(params), Some(id)) = (&wish.params, &from.agent_session_id) {
            wish.params = params.with(&["sessionId"], &shape::raw(id)).ok();
        }
        let (id, handle) = session::begin(&self.door.shared, agent, method, row, past, &wish).await?;
        self.door.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, How { is_new: true, ..How::default() }))
    }

    /// The number of the last entry that has been shown of a session.
    async fn last(&self, id: &str) -> Result<Option<u64>, Error> {
        if let Some(handle) = self.door.shared.live(id)
            && let Some(live) = handle.status().await
        {
            return Ok(live.shown.checked_sub(1));
        }
        self.door.shared.store.last_seq(id).await.map_err(session::stored)
    }

    /// Deletes a session, in use or not.
    async fn delete(&self, method: &str, params: Option<&RawJson>) -> Result<RawJson, Error> {
        let id = params::read::<params::Named>(method, params)?.session_id;
        self.door.leaves(&id);
        if let Some(handle) = self.door.shared.live(&id) {
            let (done, deleted) = tokio::sync::oneshot::channel();
            if handle.send(Command::Delete(done)).await.is_ok()
                && let Ok(deleted) = deleted.await
            {
                return deleted.map(|()| shape::empty());
            }
        }
        let row = self.door.shared.store.session(&id).await.map_err(session::stored)?;
        let known_as = row.as_ref().map_or(Some(&*id), |row| row.agent_session_id.as_deref());
        let there = self.unless_hurried(self.who_deletes(known_as)).await?;
        // An agent does not bring back what it has deleted: that comes when nothing here can fail any more.
        if row.is_some() {
            self.door.shared.write_alone(&id, vec![Op::DeleteSession]).await?;
        }
        if let Some((agent, id)) = there {
            self.unless_hurried(self.delete_there(agent, method, id)).await?;
        }
        // What is not there is deleted already.
        Ok(shape::empty())
    }

    /// The agent that knows a session by this id, if it can delete it.
    async fn who_deletes<'a>(&'a self, id: Option<&'a str>) -> Result<Option<(&'a Agent, &'a str)>, Error> {
        let (Some(agent), Some(id)) = (&self.door.client.agent, id) else { return Ok(None) };
        self.reach(agent).await?;
        Ok(agent.offers().await?.1.delete.then_some((agent, id)))
    }

    /// Has the agent delete what it knows of a session.
    async fn delete_there(&self, agent: &Agent, method: &str, id: &str) -> Result<(), Error> {
        let params = shape::raw(&serde_json::json!({ "sessionId": id }));
        match agent.request(self.door.client.version, method, &params).await {
            Err(error) if error.code != Code::RESOURCE_NOT_FOUND => Err(error),
            _ => Ok(()),
        }
    }
}

/// What became of a request.
enum Outcome {
    /// This session is to be joined.
    Opened(Arc<str>, session::Handle, How),
    Answer(RawJson),
}

/// A session that was brought into use, and how the client joins it.
type Opened = Result<(Arc<str>, session::Handle, How), Error>;

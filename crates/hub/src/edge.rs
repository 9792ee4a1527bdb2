//! The session methods of one connection.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use nudge_adapt::Agent;
use nudge_peer::{Responder, Unhandled};
use nudge_store::{Op, Session};
use nudge_wire::{
    Error, RawJson, Version,
    inject::{InjectRequest, ReplaceInjectRequest, RevokeInjectRequest, SteeringRequest},
};

use crate::{
    client::{Client, Out},
    hub::{Counted, Shared},
    listing, params,
    session::{self, Attach, Command, How, Request, View, Wish},
    shape,
    update::Update,
};

/// The session methods of one connection. When it is dropped, the client has left its sessions.
pub struct Edge {
    shared: Arc<Shared>,
    client: Arc<Client>,
    joined: Joined,
}

/// The sessions a client has joined.
#[derive(Clone, Default)]
struct Joined(Arc<Mutex<HashSet<String>>>);

impl Joined {
    fn ids(&self) -> MutexGuard<'_, HashSet<String>> {
        // Nothing panics while it holds this.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Edge {
    pub(crate) fn new(shared: Arc<Shared>, client: Arc<Client>) -> Self {
        Self { shared, client, joined: Joined::default() }
    }

    /// Takes a message about sessions; gives back what is about something else.
    ///
    /// Messages about a session in use are passed to it in the order in which they are given to this.
    pub async fn handle(&self, message: Unhandled) -> Option<Unhandled> {
        match message {
            Unhandled::Notification(note) if matches!(&**note.method(), "session/cancel") => {
                if let Some(id) =
                    params::session_id(note.params()).filter(|id| self.joined.ids().contains(id))
                    && let Some(handle) = self.shared.live(&id)
                {
                    let _ = handle.send(Command::Cancel).await;
                }
                None
            }
            Unhandled::Request(request) => {
                let method = request.method().to_string();
                let method =
                    method.strip_prefix('_').filter(|name| name.ends_with("inject")).unwrap_or(&method);
                let is_ours =
                    is_lifecycle(method, self.client.version) || is_of_session(method, self.client.version);
                if !is_ours || self.is_of_agent(method, request.params()) {
                    return self.pass_on(Unhandled::Request(request)).await;
                }
                let params = request.params().cloned();
                let responder = request.into_responder();
                // From here on the session decides how a request that is cancelled is answered.
                let _ = responder.cancellation();
                if is_lifecycle(method, self.client.version) {
                    self.lifecycle(method, params, responder);
                } else {
                    self.pass(method, params.as_ref(), responder).await;
                }
                None
            }
            other @ Unhandled::Notification(_) => self.pass_on(other).await,
        }
    }

    /// Whether an option is set that is not one of a session here: an agent may have others, for suggestions for one.
    fn is_of_agent(&self, method: &str, params: Option<&RawJson>) -> bool {
        let is_known = || params::session_id(params).is_none_or(|id| self.joined.ids().contains(&id));
        self.client.agent.is_some() && method == "session/set_config_option" && !is_known()
    }

    /// Passes what only an adapted agent understands to the session it is about; gives back what is about none.
    async fn pass_on(&self, message: Unhandled) -> Option<Unhandled> {
        if self.client.agent.is_none() {
            return Some(message);
        }
        let id = params::session_id(message.params()).filter(|id| self.joined.ids().contains(id));
        let Some(handle) = id.and_then(|id| self.shared.live(&id)) else { return Some(message) };
        match handle.send(Command::Pass(self.client.version, message)).await {
            Err(Command::Pass(_, message)) => Some(message),
            _ => None,
        }
    }

    /// Passes a request to the session it is about.
    async fn pass(&self, method: &str, params: Option<&RawJson>, responder: Responder) {
        let request = Self::read(method, params);
        let (id, request) = match request {
            Ok(read) => read,
            Err(error) => return self.client.push(Out::Answer(responder, Err(error))),
        };
        let handle = if self.joined.ids().contains(&id) { self.shared.live(&id) } else { None };
        let Some(handle) = handle else {
            return self.client.push(Out::Answer(responder, Err(session::unknown())));
        };
        if matches!(request, Request::Close) {
            self.joined.ids().remove(&id);
        }
        let client = Arc::clone(&self.client);
        let command = Command::Request { client, request, responder };
        if let Err(Command::Request { responder, .. }) = handle.send(command).await {
            self.client.push(Out::Answer(responder, Err(session::unknown())));
        }
    }

    fn read(method: &str, raw: Option<&RawJson>) -> Result<(String, Request), Error> {
        let id = params::read::<params::Named>(method, raw)?.session_id;
        let request = match method {
            "session/prompt" => {
                let prompt: params::Prompt = params::read(method, raw)?;
                let key = prompt.idempotency_key().map(str::to_owned);
                Request::Prompt(session::Prompt { content: prompt.prompt, key, params: raw.cloned() })
            }
            "session/inject" => {
                let inject: InjectRequest = params::read(method, raw)?;
                let key = inject.idempotency_key().map(str::to_owned);
                Request::Inject { mode: inject.mode, content: inject.content, key }
            }
            "session/revoke_inject" => {
                Request::Revoke { id: params::read::<RevokeInjectRequest>(method, raw)?.message_id }
            }
            "session/replace_inject" => {
                let replace: ReplaceInjectRequest = params::read(method, raw)?;
                Request::Replace { id: replace.message_id, content: replace.content }
            }
            "_session/steering" => {
                let steering: SteeringRequest = params::read(method, raw)?;
                let prompt_required = steering.prompt_required_when_idle();
                Request::Steering { content: steering.prompt, prompt_required }
            }
            "session/set_mode" | "session/set_config_option" => {
                let params = raw.cloned().unwrap_or_else(shape::empty);
                Request::Set { is_mode: method == "session/set_mode", params }
            }
            _ => Request::Close,
        };
        Ok((id, request))
    }

    /// Does what may take a while beside the queue.
    fn lifecycle(&self, method: &str, params: Option<RawJson>, responder: Responder) {
        let edge = Opening {
            _counted: self.shared.opening(),
            shared: Arc::clone(&self.shared),
            client: Arc::clone(&self.client),
            joined: self.joined.clone(),
        };
        let method = method.to_owned();
        tokio::spawn(async move { edge.run(&method, params.as_ref(), responder).await });
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        let joined = std::mem::take(&mut *self.joined.ids());
        let handles: Vec<_> = joined.iter().filter_map(|id| self.shared.live(id)).collect();
        let client = self.client.id;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for handle in handles {
                    let _ = handle.send(Command::Detach(client)).await;
                }
            });
        }
    }
}

/// A request that brings a session into use or looks at the store.
struct Opening {
    /// The process does not end meanwhile.
    _counted: Counted,
    shared: Arc<Shared>,
    client: Arc<Client>,
    joined: Joined,
}

impl Opening {
    async fn run(&self, method: &str, params: Option<&RawJson>, responder: Responder) {
        let opened = match method {
            "session/new" => self.new_session(method, params).await,
            "session/load" | "session/resume" => self.open(method, params).await,
            "session/fork" => self.fork(method, params).await,
            "session/delete" => {
                let outcome = self.delete(method, params).await;
                return self.client.push(Out::Answer(responder, outcome));
            }
            _ => {
                let outcome = self.list(method, params).await;
                return self.client.push(Out::Answer(responder, outcome));
            }
        };
        let failed = match opened {
            Ok((id, handle, how)) => self.join(&id, handle, how, responder).await,
            Err(error) => Err((error, Some(responder))),
        };
        if let Err((error, Some(responder))) = failed {
            self.client.push(Out::Answer(responder, Err(error)));
        }
    }

    async fn new_session(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let new: params::New = params::read(method, params)?;
        params::check_absolute(std::iter::once(&new.cwd).chain(&new.additional_directories))?;
        let row = session::row(new.cwd, new.additional_directories);
        if let Some(agent) = &self.client.agent {
            let (id, handle) =
                session::begin(&self.shared, agent, method, row, Vec::new(), &self.wish(params)).await?;
            self.shared.enter(id.clone(), handle.clone());
            return Ok((id, handle, How { is_new: true, ..How::default() }));
        }
        let id = row.id.clone();
        let handle = session::create(&self.shared, row, &Wish::of(&self.client)).await?;
        self.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, How { is_new: true, ..How::default() }))
    }

    async fn open(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let open: params::Open = params::read(method, params)?;
        params::check_absolute(open.cwd.iter().chain(&open.additional_directories))?;
        let wants_history = match (method, &open.replay_from) {
            ("session/load", _) => true,
            (_, None) => false,
            (_, Some(from)) if from.kind == "start" => true,
            _ => return Err(Error::invalid_params("Invalid params: `replayFrom.type` is `start`")),
        };
        let how = How { wants_history, keeps_hold: open.keeps_hold(), is_new: false };
        if let Some(agent) =
            self.client.agent.as_ref().filter(|_| self.shared.live(&open.session_id).is_none())
            && self.shared.store.session(&open.session_id).await.map_err(session::stored)?.is_none()
        {
            return self.open_foreign(agent, method, open, params, how).await;
        }
        let directories = Some(open.additional_directories);
        let wish = Wish { additional_directories: directories, ..self.wish(params) };
        let handle = self.shared.session(&open.session_id, &wish).await?;
        Ok((open.session_id.into(), handle, how))
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
        let (_, offers, _) = agent.offers().await?;
        let can = if how.wants_history { offers.load } else { offers.resume };
        if !can {
            return Err(session::unknown());
        }
        let cwd = open.cwd.unwrap_or_default();
        let mut row = session::row(cwd, open.additional_directories);
        row.id = open.session_id.into();
        let begun = session::begin(&self.shared, agent, method, row, Vec::new(), &self.wish(params)).await?;
        let (id, handle) = begun;
        self.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, how))
    }

    fn wish(&self, params: Option<&RawJson>) -> Wish {
        Wish { params: params.cloned(), ..Wish::of(&self.client) }
    }

    /// The agent's own list if it has one, else what the store has of it.
    async fn list(&self, method: &str, params: Option<&RawJson>) -> Result<RawJson, Error> {
        let list = params::read(method, params)?;
        let Some(agent) = &self.client.agent else {
            return listing::list(&*self.shared.store, list, None).await;
        };
        let (_, offers, _) = agent.offers().await?;
        if offers.list {
            let params = params.cloned().unwrap_or_else(shape::empty);
            return agent.request(self.client.version, method, &params).await;
        }
        listing::list(&*self.shared.store, list, Some(agent.name())).await
    }

    async fn join(
        &self,
        id: &str,
        handle: session::Handle,
        how: How,
        responder: Responder,
    ) -> Result<(), (Error, Option<Responder>)> {
        self.joined.ids().insert(id.to_owned());
        let view = View::new(Arc::clone(&self.client));
        let attach = Box::new(Attach { view, how, responder });
        session::join(&self.shared, handle, id, attach).await
    }

    /// A new session that begins with what was said in another. What waits there stays there.
    async fn fork(&self, method: &str, params: Option<&RawJson>) -> Opened {
        let open: params::Open = params::read(method, params)?;
        params::check_absolute(open.cwd.iter().chain(&open.additional_directories))?;
        let from = self.shared.store.session(&open.session_id).await.map_err(session::stored)?;
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
            ops.push(Op::Append(session::entry(up_to + 1, &Update::idle(Some("cancelled"), None))));
        }
        self.shared.write_alone(&id, ops).await?;
        let handle = self.shared.session(&id, &Wish::of(&self.client)).await?;
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
        let agent = self.client.agent.as_ref().filter(|agent| agent.name() == from.backend);
        let agent = agent.ok_or_else(|| Error::method_not_found(method))?;
        if !agent.offers().await?.1.fork {
            return Err(Error::method_not_found(method));
        }
        let mut past = Vec::new();
        if let Some(up_to) = self.last(&from.id).await? {
            past.push(Op::CopyTranscript { from: from.id.clone(), up_to });
            past.push(Op::Append(session::entry(up_to + 1, &Update::idle(Some("cancelled"), None))));
        }
        let mut wish = self.wish(params);
        if let (Some(params), Some(id)) = (&wish.params, &from.agent_session_id) {
            wish.params = params.with(&["sessionId"], &shape::raw(id)).ok();
        }
        let (id, handle) = session::begin(&self.shared, agent, method, row, past, &wish).await?;
        self.shared.enter(id.clone(), handle.clone());
        Ok((id, handle, How { is_new: true, ..How::default() }))
    }

    /// The number of the last entry that has been shown of a session.
    async fn last(&self, id: &str) -> Result<Option<u64>, Error> {
        if let Some(handle) = self.shared.live(id)
            && let Some(live) = handle.status().await
        {
            return Ok(live.shown.checked_sub(1));
        }
        self.shared.store.last_seq(id).await.map_err(session::stored)
    }

    /// Deletes a session, in use or not.
    async fn delete(&self, method: &str, params: Option<&RawJson>) -> Result<RawJson, Error> {
        let id = params::read::<params::Named>(method, params)?.session_id;
        self.joined.ids().remove(&id);
        if let Some(handle) = self.shared.live(&id) {
            let (done, deleted) = tokio::sync::oneshot::channel();
            if handle.send(Command::Delete(done)).await.is_ok() && deleted.await.is_ok() {
                return Ok(shape::empty());
            }
        }
        let row = self.shared.store.session(&id).await.map_err(session::stored)?;
        let known_as = row.as_ref().map_or(Some(&*id), |row| row.agent_session_id.as_deref());
        let is_told = self.delete_there(method, known_as).await?;
        if row.is_none() {
            return if is_told { Ok(shape::empty()) } else { Err(session::unknown()) };
        }
        self.shared.write_alone(&id, vec![Op::DeleteSession]).await?;
        Ok(shape::empty())
    }

    /// Has the agent delete what it knows of a session, if it can; whether it did.
    async fn delete_there(&self, method: &str, id: Option<&str>) -> Result<bool, Error> {
        let (Some(agent), Some(id)) = (&self.client.agent, id) else { return Ok(false) };
        if !agent.offers().await?.1.delete {
            return Ok(false);
        }
        let params = shape::raw(&serde_json::json!({ "sessionId": id }));
        agent.request(self.client.version, method, &params).await?;
        Ok(true)
    }
}

/// A session that was brought into use, and how the client joins it.
type Opened = Result<(Arc<str>, session::Handle, How), Error>;

fn is_lifecycle(method: &str, version: Version) -> bool {
    match method {
        "session/new" | "session/resume" | "session/list" | "session/fork" | "session/delete" => true,
        "session/load" => version == Version::V1,
        _ => false,
    }
}

fn is_of_session(method: &str, version: Version) -> bool {
    match method {
        "session/prompt"
        | "session/inject"
        | "session/revoke_inject"
        | "session/replace_inject"
        | "_session/steering"
        | "session/set_config_option"
        | "session/close" => true,
        "session/set_mode" => version == Version::V1,
        _ => false,
    }
}

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edge").field("client", &self.client).finish_non_exhaustive()
    }
}

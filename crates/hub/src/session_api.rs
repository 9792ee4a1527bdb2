//! The session methods of one connection.

use std::sync::Arc;

use nudge_peer::{Responder, Unhandled};
use nudge_wire::{
    Error, RawJson, Version,
    inject::{InjectRequest, ReplaceInjectRequest, RevokeInjectRequest, SteeringRequest},
};

use crate::{
    client::{Client, Out},
    door::{Door, Visit},
    hub::Shared,
    lifecycle::Opening,
    methods::{InUse, Lifecycle, SessionMethod},
    params,
    session::{self, Command, Request},
    shape,
};

/// The session methods of one connection. When it is dropped, the client has left its sessions.
pub struct SessionApi {
    door: Door,
}

impl SessionApi {
    pub(crate) fn new(shared: Arc<Shared>, client: Arc<Client>) -> Self {
        Self { door: Door::new(shared, client) }
    }

    /// Takes a message about sessions; gives back what is about something else.
    ///
    /// Messages about a session in use are passed to it in the order in which they are given to this.
    pub async fn handle(&self, message: Unhandled) -> Option<Unhandled> {
        match message {
            Unhandled::Notification(note) if matches!(&**note.method(), "session/cancel") => {
                if let Some(id) = params::session_id(note.params()) {
                    self.door.enter(id, Visit::Cancel).await;
                }
                None
            }
            Unhandled::Request(request) => {
                let known = SessionMethod::of(request.method(), self.door.client.version);
                let Some(method) = known.filter(|method| !self.is_of_agent(*method, request.params())) else {
                    return self.pass_on(Unhandled::Request(request)).await;
                };
                let (method, params) = self.as_known(method, request.params());
                let responder = request.into_responder();
                // From here on the session decides how a request that is cancelled is answered.
                let _ = responder.cancellation();
                match method {
                    SessionMethod::Lifecycle(method) => self.lifecycle(method, params, responder),
                    SessionMethod::InUse(method) => self.pass(method, params.as_ref(), responder).await,
                }
                None
            }
            other @ Unhandled::Notification(_) => self.pass_on(other).await,
        }
    }

    /// A request under the name that its version has now: early pages of version 2 have `session/load`.
    fn as_known(&self, method: SessionMethod, params: Option<&RawJson>) -> (SessionMethod, Option<RawJson>) {
        let is_load = method == SessionMethod::Lifecycle(Lifecycle::Load);
        if !is_load || self.door.client.version == Version::V1 {
            return (method, params.cloned());
        }
        let from_start = shape::raw(&serde_json::json!({ "type": "start" }));
        let params = params.map(|params| params.with(&["replayFrom"], &from_start));
        (SessionMethod::Lifecycle(Lifecycle::Resume), params.and_then(Result::ok))
    }

    /// Whether an option is set that is not one of a session here: an agent may have others, for suggestions for one.
    fn is_of_agent(&self, method: SessionMethod, params: Option<&RawJson>) -> bool {
        let is_known = || params::session_id(params).is_none_or(|id| self.door.has_joined(&id));
        let is_set = method == SessionMethod::InUse(InUse::SetConfigOption);
        self.door.client.agent.is_some() && is_set && !is_known()
    }

    /// Passes what only an adapted agent understands to the session it is about; gives back what is about none.
    async fn pass_on(&self, message: Unhandled) -> Option<Unhandled> {
        if self.door.client.agent.is_none() {
            return Some(message);
        }
        let id = params::session_id(message.params()).filter(|id| self.door.has_joined(id));
        let Some(handle) = id.and_then(|id| self.door.shared.live(&id)) else { return Some(message) };
        handle.pass(self.door.client.version, message).await.err()
    }

    /// Passes a request to the session it is about.
    async fn pass(&self, method: InUse, params: Option<&RawJson>, responder: Responder) {
        match Self::read(method, params) {
            Ok((id, Some(request))) => self.door.enter(id, Visit::Request(request, responder)).await,
            Ok((id, None)) => self.door.enter(id, Visit::Close(responder)).await,
            Err(error) => self.door.client.push(Out::Answer(responder, Err(error))),
        }
    }

    /// The session and what is asked of it; `None` is to close it.
    fn read(in_use: InUse, raw: Option<&RawJson>) -> Result<(String, Option<Request>), Error> {
        let method = in_use.name();
        let id = params::read::<params::Named>(method, raw)?.session_id;
        let request = match in_use {
            InUse::Prompt => {
                let prompt: params::Prompt = params::read(method, raw)?;
                let key = prompt.idempotency_key().map(str::to_owned);
                Request::Prompt(session::Prompt { content: prompt.prompt, key, params: raw.cloned() })
            }
            InUse::Inject => {
                let inject: InjectRequest = params::read(method, raw)?;
                let key = inject.idempotency_key().map(str::to_owned);
                Request::Inject { mode: inject.mode, content: inject.content, key }
            }
            InUse::RevokeInject => {
                Request::Revoke { id: params::read::<RevokeInjectRequest>(method, raw)?.message_id }
            }
            InUse::ReplaceInject => {
                let replace: ReplaceInjectRequest = params::read(method, raw)?;
                Request::Replace { id: replace.message_id, content: replace.content }
            }
            InUse::Steering => {
                let steering: SteeringRequest = params::read(method, raw)?;
                let prompt_required = steering.prompt_required_when_idle();
                Request::Steering { content: steering.prompt, prompt_required }
            }
            InUse::SetMode | InUse::SetConfigOption => {
                let params = raw.cloned().unwrap_or_else(shape::empty);
                Request::Set { is_mode: in_use == InUse::SetMode, params }
            }
            InUse::Close => return Ok((id, None)),
        };
        Ok((id, Some(request)))
    }

    /// Does what may take a while beside the queue.
    fn lifecycle(&self, method: Lifecycle, params: Option<RawJson>, responder: Responder) {
        // What follows about the session comes after this.
        let opens = matches!(method, Lifecycle::Load | Lifecycle::Resume)
            .then(|| params::session_id(params.as_ref()));
        let ajar = opens.flatten().and_then(|id| self.door.opens(&id));
        let opening = Opening::new(self.door.clone());
        tokio::spawn(async move {
            opening.run(method, params.as_ref(), responder).await;
            if let Some(ajar) = ajar {
                ajar.open().await;
            }
        });
    }
}

impl Drop for SessionApi {
    fn drop(&mut self) {
        let joined = self.door.leaves_all();
        let handles: Vec<_> = joined.iter().filter_map(|id| self.door.shared.live(id)).collect();
        let client = self.door.client.id;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for handle in handles {
                    let _ = handle.send(Command::Detach(client)).await;
                }
            });
        }
    }
}

impl std::fmt::Debug for SessionApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionApi").field("client", &self.door.client).finish_non_exhaustive()
    }
}

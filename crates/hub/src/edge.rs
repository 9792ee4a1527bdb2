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
    opening::Opening,
    params,
    session::{self, Command, Request},
    shape,
};

/// The session methods of one connection. When it is dropped, the client has left its sessions.
pub struct Edge {
    door: Door,
}

impl Edge {
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
                let method = request.method().to_string();
                let method =
                    method.strip_prefix('_').filter(|name| name.ends_with("inject")).unwrap_or(&method);
                let is_ours = is_lifecycle(method) || is_of_session(method, self.door.client.version);
                if !is_ours || self.is_of_agent(method, request.params()) {
                    return self.pass_on(Unhandled::Request(request)).await;
                }
                let (method, params) = self.as_known(method, request.params());
                let responder = request.into_responder();
                // From here on the session decides how a request that is cancelled is answered.
                let _ = responder.cancellation();
                if is_lifecycle(method) {
                    self.lifecycle(method, params, responder);
                } else {
                    self.pass(method, params.as_ref(), responder).await;
                }
                None
            }
            other @ Unhandled::Notification(_) => self.pass_on(other).await,
        }
    }

    /// A request under the name that its version has now: early pages of version 2 have `session/load`.
    fn as_known<'a>(&self, method: &'a str, params: Option<&RawJson>) -> (&'a str, Option<RawJson>) {
        if method != "session/load" || self.door.client.version == Version::V1 {
            return (method, params.cloned());
        }
        let from_start = shape::raw(&serde_json::json!({ "type": "start" }));
        let params = params.map(|params| params.with(&["replayFrom"], &from_start));
        ("session/resume", params.and_then(Result::ok))
    }

    /// Whether an option is set that is not one of a session here: an agent may have others, for suggestions for one.
    fn is_of_agent(&self, method: &str, params: Option<&RawJson>) -> bool {
        let is_known = || params::session_id(params).is_none_or(|id| self.door.has_joined(&id));
        self.door.client.agent.is_some() && method == "session/set_config_option" && !is_known()
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
    async fn pass(&self, method: &str, params: Option<&RawJson>, responder: Responder) {
        match Self::read(method, params) {
            Ok((id, Some(request))) => self.door.enter(id, Visit::Request(request, responder)).await,
            Ok((id, None)) => self.door.enter(id, Visit::Close(responder)).await,
            Err(error) => self.door.client.push(Out::Answer(responder, Err(error))),
        }
    }

    /// The session and what is asked of it; `None` is to close it.
    fn read(method: &str, raw: Option<&RawJson>) -> Result<(String, Option<Request>), Error> {
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
            _ => return Ok((id, None)),
        };
        Ok((id, Some(request)))
    }

    /// Does what may take a while beside the queue.
    fn lifecycle(&self, method: &str, params: Option<RawJson>, responder: Responder) {
        // What follows about the session comes after this.
        let opens =
            matches!(method, "session/load" | "session/resume").then(|| params::session_id(params.as_ref()));
        let ajar = opens.flatten().and_then(|id| self.door.opens(&id));
        let opening = Opening::new(self.door.clone());
        let method = method.to_owned();
        tokio::spawn(async move {
            opening.run(&method, params.as_ref(), responder).await;
            if let Some(ajar) = ajar {
                ajar.open().await;
            }
        });
    }
}

impl Drop for Edge {
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

fn is_lifecycle(method: &str) -> bool {
    matches!(
        method,
        "session/new"
            | "session/load"
            | "session/resume"
            | "session/list"
            | "session/fork"
            | "session/delete"
    )
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
        f.debug_struct("Edge").field("client", &self.door.client).finish_non_exhaustive()
    }
}

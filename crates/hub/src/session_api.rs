//! The session methods of one connection.

use std::sync::Arc;

use nudge_backend::CancellableWork;
use nudge_peer::{RequestResponder, UnhandledMessage};
use nudge_wire::{
    Error, RawJson, Version,
    acp::v2,
    inject::{InjectRequest, ReplaceInjectRequest, RevokeInjectRequest, SteeringRequest},
};

use crate::{
    client::{ClientMessage, ConnectedClient},
    hub::HubShared,
    joined_sessions::{JoinedSessions, SessionCall},
    lifecycle::LifecycleRequest,
    methods::{InUseMethod, LifecycleMethod, SessionMethod},
    params,
    session::{self, InUseRequest, SessionCommand, SessionHandle},
    shape,
};

/// The session methods of one connection. When it is dropped, the client has left its sessions.
pub struct SessionApi {
    joined_sessions: JoinedSessions,
}

impl SessionApi {
    pub(crate) fn new(shared: Arc<HubShared>, client: Arc<ConnectedClient>) -> Self {
        Self { joined_sessions: JoinedSessions::new(shared, client) }
    }

    /// Takes a message about sessions; gives back what is about something else.
    ///
    /// Messages about a session in use are passed to it in the order in which they are given to this.
    pub async fn handle(&self, message: UnhandledMessage) -> Option<UnhandledMessage> {
        match message {
            UnhandledMessage::Notification(note) if matches!(&**note.method(), "session/cancel") => {
                if let Some(id) = params::session_id(note.params()) {
                    self.joined_sessions.enter(id, SessionCall::Cancel).await;
                }
                None
            }
            UnhandledMessage::Request(request) => {
                let known = SessionMethod::of(request.method(), self.joined_sessions.client.version);
                let agents = known.and_then(|method| self.where_agent_ends_work(method, request.params()));
                if let Some(handle) = agents {
                    return self.pass_to(&handle, UnhandledMessage::Request(request)).await;
                }
                let Some(method) = known.filter(|method| !self.is_of_agent(*method, request.params())) else {
                    return self.pass_on(UnhandledMessage::Request(request)).await;
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
            other @ UnhandledMessage::Notification(_) => self.pass_on(other).await,
        }
    }

    /// A request under the name that its version has now: early pages of version 2 have `session/load`.
    fn as_known(&self, method: SessionMethod, params: Option<&RawJson>) -> (SessionMethod, Option<RawJson>) {
        let is_load = method == SessionMethod::Lifecycle(LifecycleMethod::Load);
        if !is_load || self.joined_sessions.client.version == Version::V1 {
            return (method, params.cloned());
        }
        let from_start = shape::raw(&serde_json::json!({ "type": "start" }));
        let params = params.map(|params| params.with(&["replayFrom"], &from_start));
        (SessionMethod::Lifecycle(LifecycleMethod::Resume), params.and_then(Result::ok))
    }

    /// Whether an option is set that is not one of a session here: an agent may have others, for suggestions for one.
    fn is_of_agent(&self, method: SessionMethod, params: Option<&RawJson>) -> bool {
        let is_known = || params::session_id(params).is_none_or(|id| self.joined_sessions.has_joined(&id));
        let is_set = method == SessionMethod::InUse(InUseMethod::SetConfigOption);
        self.joined_sessions.client.agent.is_some() && is_set && !is_known()
    }

    /// The session in which something is to be ended that another than the built-in agent runs, who ends it itself. The client may
    /// have an agent of its own, or none.
    fn where_agent_ends_work(
        &self,
        method: SessionMethod,
        params: Option<&RawJson>,
    ) -> Option<SessionHandle> {
        let SessionMethod::InUse(InUseMethod::CancelToolCall | InUseMethod::CancelTerminal) = method else {
            return None;
        };
        self.live(params).filter(|handle| *handle.backend != *self.joined_sessions.shared.built_in.name())
    }

    /// The session that a message is about, if the client has joined it.
    fn live(&self, params: Option<&RawJson>) -> Option<SessionHandle> {
        let id = params::session_id(params).filter(|id| self.joined_sessions.has_joined(id))?;
        self.joined_sessions.shared.live(&id)
    }

    /// Passes what only an adapted agent understands to the session it is about; gives back what is about none.
    async fn pass_on(&self, message: UnhandledMessage) -> Option<UnhandledMessage> {
        if self.joined_sessions.client.agent.is_none() {
            return Some(message);
        }
        match self.live(message.params()) {
            Some(handle) => self.pass_to(&handle, message).await,
            None => Some(message),
        }
    }

    async fn pass_to(&self, handle: &SessionHandle, message: UnhandledMessage) -> Option<UnhandledMessage> {
        handle.pass(self.joined_sessions.client.version, message).await.err()
    }

    /// Passes a request to the session it is about.
    async fn pass(&self, method: InUseMethod, params: Option<&RawJson>, responder: RequestResponder) {
        match Self::read(method, params) {
            Ok((id, Some(request))) => {
                self.joined_sessions.enter(id, SessionCall::Request(request, responder)).await;
            }
            Ok((id, None)) => self.joined_sessions.enter(id, SessionCall::Close(responder)).await,
            Err(error) => self.joined_sessions.client.push(ClientMessage::Answer(responder, Err(error))),
        }
    }

    /// The session and what is asked of it; `None` is to close it.
    fn read(in_use: InUseMethod, raw: Option<&RawJson>) -> Result<(String, Option<InUseRequest>), Error> {
        let method = in_use.name();
        let id = params::read::<params::SessionIdParams>(method, raw)?.session_id;
        let request = match in_use {
            InUseMethod::Prompt => {
                let prompt: params::SessionPromptParams = params::read(method, raw)?;
                let key = prompt.idempotency_key().map(str::to_owned);
                InUseRequest::Prompt(session::PromptInput {
                    content: prompt.prompt,
                    key,
                    params: raw.cloned(),
                })
            }
            InUseMethod::Inject => {
                let inject: InjectRequest = params::read(method, raw)?;
                let key = inject.idempotency_key().map(str::to_owned);
                InUseRequest::Inject { mode: inject.mode, content: inject.content, key }
            }
            InUseMethod::RevokeInject => {
                InUseRequest::Revoke { id: params::read::<RevokeInjectRequest>(method, raw)?.message_id }
            }
            InUseMethod::ReplaceInject => {
                let replace: ReplaceInjectRequest = params::read(method, raw)?;
                InUseRequest::Replace { id: replace.message_id, content: replace.content }
            }
            InUseMethod::Steering => {
                let steering: SteeringRequest = params::read(method, raw)?;
                let prompt_required = steering.prompt_required_when_idle();
                InUseRequest::Steering { content: steering.prompt, prompt_required }
            }
            InUseMethod::SetMode | InUseMethod::SetConfigOption => {
                let params = raw.cloned().unwrap_or_else(shape::empty);
                InUseRequest::Set { is_mode: in_use == InUseMethod::SetMode, params }
            }
            InUseMethod::CancelToolCall => {
                let cancel: v2::CancelToolCallRequest = params::read(method, raw)?;
                InUseRequest::CancelWork(CancellableWork::ToolCall(cancel.tool_call_id.to_string()))
            }
            InUseMethod::CancelTerminal => {
                let cancel: v2::CancelTerminalRequest = params::read(method, raw)?;
                InUseRequest::CancelWork(CancellableWork::Terminal(cancel.terminal_id.to_string()))
            }
            InUseMethod::Close => return Ok((id, None)),
        };
        Ok((id, Some(request)))
    }

    /// Does what may take a while beside the queue.
    fn lifecycle(&self, method: LifecycleMethod, params: Option<RawJson>, responder: RequestResponder) {
        // What follows about the session comes after this.
        let opens = matches!(method, LifecycleMethod::Load | LifecycleMethod::Resume)
            .then(|| params::session_id(params.as_ref()));
        let opening_guard = opens.flatten().and_then(|id| self.joined_sessions.opens(&id));
        let opening = LifecycleRequest::new(self.joined_sessions.clone(), responder.id());
        tokio::spawn(async move {
            opening.run(method, params.as_ref(), responder).await;
            if let Some(opening_guard) = opening_guard {
                opening_guard.open().await;
            }
        });
    }
}

impl Drop for SessionApi {
    fn drop(&mut self) {
        let joined = self.joined_sessions.leaves_all();
        let handles: Vec<_> = joined.iter().filter_map(|id| self.joined_sessions.shared.live(id)).collect();
        let client = self.joined_sessions.client.id;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for handle in handles {
                    let _ = handle.send(SessionCommand::Detach(client)).await;
                }
            });
        }
    }
}

impl std::fmt::Debug for SessionApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionApi").field("client", &self.joined_sessions.client).finish_non_exhaustive()
    }
}

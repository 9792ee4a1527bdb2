//! What a client says to its agent and to no session in use: passed on as it came, but for what sets something of the process.

use std::{sync::Arc, time::Duration};

use nudge_bridge::{MethodCall, request_between};
use nudge_peer::{CallError, ConnectionClosed, RawRequest, UnhandledMessage};
use nudge_wire::{ConnectionId, Error, RawJson, RequestOrigin, Version};

use crate::{
    DownstreamAgent, open::failed, open_requests::RequestPurpose, remembered::ProcessSetting,
    running::RunningAgent,
};

/// By which an agent learns that an answer is not waited for any more.
const CANCEL: &str = "$/cancel_request";
/// How long a setting may take to be answered that was called off.
const CALLED_OFF: Duration = Duration::from_mins(1);

impl DownstreamAgent {
    /// Passes a message of a client on to a process that runs, as it came, written in the agent's version. The answer goes back
    /// by itself.
    pub(crate) async fn pass_to(
        self: &Arc<Self>,
        running: &Arc<RunningAgent>,
        message: UnhandledMessage,
        (from, connection): (Version, Option<ConnectionId>),
    ) -> Result<(), ConnectionClosed> {
        let Some(message) = running.routes.auth_status.answer(message).await else { return Ok(()) };
        let message = match (ProcessSetting::of(message.method()), message) {
            (Some(setting), UnhandledMessage::Request(request)) => {
                return self.pass_setting(running, setting, request, (from, connection)).await;
            }
            (_, message) => message,
        };
        let call = message
            .params()
            .and_then(|params| request_between(from, running.init.version, message.method(), params));
        let passed = match call {
            Some(MethodCall { method, params }) => {
                message.forward_as(&running.cx, &method, Some(&params)).await
            }
            None => message.forward_to(&running.cx).await,
        };
        // Whoever asked was told; the connection of the client goes on.
        passed.or(Ok(()))
    }

    /// Passes a message on that is about the session that the agent knows as `id`.
    pub(crate) async fn pass_about(
        self: &Arc<Self>,
        id: &str,
        message: UnhandledMessage,
        from: Version,
    ) -> Result<(), ConnectionClosed> {
        let running = match self.running_for_waiting().await {
            Ok(running) => running,
            Err(error) => return refuse(message, error).await,
        };
        let named = RawJson::of(id).expect("a string is JSON");
        let is_named = |params: &RawJson| params.get(&["sessionId"]).is_some_and(|other| other == named);
        let params = match message.params() {
            Some(params) if !is_named(params) => params.with(&["sessionId"], &named).ok(),
            _ => None,
        };
        let Some(params) = params else { return self.pass_to(&running, message, (from, None)).await };
        let method = message.method().to_string();
        let call = request_between(from, running.init.version, &method, &params);
        let MethodCall { method, params } = call.unwrap_or(MethodCall { method, params });
        message.forward_as(&running.cx, &method, Some(&params)).await.or(Ok(()))
    }

    /// Passes a request on that sets something of the process, and remembers it if the agent agrees. Later messages do not wait
    /// for the answer: it may take as long as a user takes.
    async fn pass_setting(
        self: &Arc<Self>,
        running: &Arc<RunningAgent>,
        setting: ProcessSetting,
        request: RawRequest,
        (from, connection): (Version, Option<ConnectionId>),
    ) -> Result<(), ConnectionClosed> {
        let (method, params) = (request.method().to_string(), request.params().cloned());
        let params = params.unwrap_or_else(|| RawJson::object(&[]));
        let room = match self.family.make_room(setting, &params) {
            Ok(room) => room,
            Err(error) => return request.respond::<()>(Err(error)).await,
        };
        let call = request_between(from, running.init.version, &method, &params);
        let MethodCall { method, params } = call.unwrap_or(MethodCall { method, params });
        let origin = connection.map(|connection| RequestOrigin { connection, id: request.id().clone() });
        let purpose = origin.map(RequestPurpose::Client);
        let (answer, noted) = running.send_for(purpose, &method, &params);
        let (agent, running) = (Arc::clone(self), Arc::clone(running));
        let asked = AskedSetting { agent, running, setting, params, _room: room };
        tokio::spawn(async move {
            let (number, mut answer) = (answer.number(), answer.in_order());
            let unwanted = request.cancellation();
            let answered = tokio::select! {
                answer = &mut answer => Some(answer),
                () = unwanted.cancelled() => None,
            };
            drop(noted);
            // Whoever asked may be gone.
            if let Some(answer) = answered {
                asked.answered(&answer);
                let _ = match answer {
                    Ok(result) => request.into_responder().respond_raw(&result).await,
                    Err(error) => request.respond::<()>(Err(failed(error))).await,
                };
            } else {
                let _ = request.respond::<()>(Err(Error::cancelled())).await;
                asked.call_off(number);
                // It may be done all the same, or have been done before.
                if let Ok(answer) = tokio::time::timeout(CALLED_OFF, answer).await {
                    asked.answered(&answer);
                }
            }
        });
        Ok(())
    }
}

/// A setting that a process was asked for.
struct AskedSetting {
    agent: Arc<DownstreamAgent>,
    running: Arc<RunningAgent>,
    setting: ProcessSetting,
    params: RawJson,
    /// Kept until it is answered.
    _room: Arc<()>,
}

impl AskedSetting {
    /// Remembers it if the process has agreed.
    fn answered(&self, answer: &Result<RawJson, CallError>) {
        if answer.is_ok() {
            let by = (self.agent.state(), &self.running);
            self.agent.family.remember(self.setting, self.params.clone(), by);
        }
    }

    /// Tells the process that the answer is not waited for, which it knows by this number.
    fn call_off(&self, number: u64) {
        let number = RawJson::of(&number).expect("a number is JSON");
        self.running.cx.notify_now(CANCEL, Some(&RawJson::object(&[("requestId", &number)])));
    }
}

pub(crate) async fn refuse(message: UnhandledMessage, error: Error) -> Result<(), ConnectionClosed> {
    match message {
        UnhandledMessage::Request(request) => request.respond::<()>(Err(error)).await,
        UnhandledMessage::Notification(_) => Ok(()),
    }
}

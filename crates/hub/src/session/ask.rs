//! The agent asks for something that an editor has: a file, a terminal, a form.

use std::{path::PathBuf, sync::Arc};

use nudge_bridge::{Call, request_to_v1, request_to_v2};
use nudge_peer::{CallError, CancellationToken, RawNotification, RawRequest};
use nudge_wire::{Error, RawJson, Version};
use nudge_workspace::Workspace;
use tokio::sync::oneshot;

use crate::{
    backend::ClientRequest,
    client::{Ask, Client, Out, is_form},
    session::{Command, actor::Actor, question::FORM},
    shape,
};

impl Actor {
    /// Passes a request of the agent to the client that prompted, if it offers that.
    pub(crate) fn ask_client(&mut self, request: ClientRequest) {
        match request {
            ClientRequest::BuiltIn { method, params, answer } => {
                self.ask_for_built_in(method, params, answer);
            }
            ClientRequest::Adapted { version, request } => self.ask_for_adapted(version, request),
        }
    }

    /// Passes a notification of the agent on that is no update: as it came where it can be read as it is.
    pub(crate) fn pass(&self, note: &RawNotification) {
        let params = note.params().map(|params| shape::for_session(params, &self.row.id));
        let is_same = params.as_ref() == note.params();
        for view in &self.views {
            let client = &view.client;
            let out = match &params {
                Some(params) if !is_same || client.version != self.backend.version() => {
                    let call = translated(self.backend.version(), client.version, note.method(), params);
                    Out::Notify(call.method, call.params)
                }
                _ => Out::Note(note.clone()),
            };
            client.push(out);
        }
    }

    fn prompter(&self) -> Option<Arc<Client>> {
        let prompter = self.turn.as_ref().map(|turn| turn.prompter).or(self.last_prompter);
        let view = self.views.iter().find(|view| Some(view.client.id) == prompter);
        view.map(|view| Arc::clone(&view.client))
    }

    fn ask_for_built_in(
        &mut self,
        method: &'static str,
        params: RawJson,
        mut reply: oneshot::Sender<nudge_agent::ClientAnswer>,
    ) {
        let client =
            self.prompter().filter(|client| client.version == Version::V1 && client.offers.has(method));
        let Some(client) = client else {
            let _ = reply.send(None);
            return;
        };
        let (answer, answered) = oneshot::channel();
        let withdrawn = CancellationToken::new();
        let dropped = withdrawn.clone().drop_guard();
        client.push(Out::Ask(Ask { method: method.into(), params, answer, withdrawn }));
        let handle = self.handle();
        // It is meant for the editor alone, and nobody has to wait for it.
        let is_last_word = matches!(method, "terminal/kill" | "terminal/release");
        tokio::spawn(async move {
            let _withdraws = dropped;
            let outcome = tokio::select! {
                outcome = answered => outcome,
                // The agent does not want it any more.
                () = reply.closed(), if !is_last_word => return,
            };
            let outcome = match outcome {
                Ok(Ok(result)) => Some(Ok(result)),
                Ok(Err(CallError::Rpc(error))) => Some(Err(error)),
                Ok(Err(_)) | Err(_) => None,
            };
            if let Some(Ok(result)) = &outcome {
                own_terminal(&handle, &client, method, result).await;
            }
            let _ = reply.send(outcome);
        });
    }

    /// Files and terminals come from the editor if it offers them, else from Nudge; forms from one that offers them; all
    /// else from the editor.
    fn ask_for_adapted(&mut self, version: Version, request: RawRequest) {
        let method = request.method().to_string();
        let is_served = Workspace::serves(&method);
        let is_able = |client: &Client| !is_form(&method) || client.offers.has(&method);
        // Somebody who looks can answer as well as the one who prompted.
        let anyone = || self.views.iter().map(|view| &view.client).find(|client| is_able(client)).cloned();
        let client = self.prompter().filter(|client| is_able(client)).or_else(anyone);
        let client = client.filter(|client| !is_served || client.offers.has(&method));
        match client {
            Some(client) => {
                let elsewhere = (method == FORM).then(|| self.hold_form(version, &request));
                self.pass_request(version, request, &method, client, elsewhere);
            }
            None if is_served => self.serve(request, method),
            None => {
                let error = if is_form(&method) { Error::method_not_found(&method) } else { nobody(&method) };
                tokio::spawn(async move { request.respond::<()>(Err(error)).await });
            }
        }
    }

    /// What Nudge serves to an adapted agent in the session's folders. Terminals are shown as they go.
    fn workspace(&mut self) -> Arc<Workspace> {
        if let Some(workspace) = &self.workspace {
            return Arc::clone(workspace);
        }
        let folders = self.row.additional_directories.iter().map(PathBuf::from).collect();
        let workspace = Arc::new(Workspace::new(PathBuf::from(&self.row.cwd), folders));
        self.workspace = Some(Arc::clone(&workspace));
        if let Some(mut updates) = workspace.updates() {
            let handle = self.handle();
            tokio::spawn(async move {
                while let Some(update) = updates.next().await {
                    if handle.send(Command::Terminal(update)).await.is_err() {
                        return;
                    }
                }
            });
        }
        workspace
    }

    fn serve(&mut self, request: RawRequest, method: String) {
        let workspace = self.workspace();
        let params = request.params().cloned().unwrap_or_else(shape::empty);
        let environment = self.environments.now().cloned();
        tokio::spawn(async move {
            let outcome = workspace.request(&method, &params, environment.as_ref()).await;
            request.respond(outcome).await
        });
    }

    /// Passes a request to a client. The answer may also come from `elsewhere`; then the client is not asked any more.
    fn pass_request(
        &mut self,
        version: Version,
        request: RawRequest,
        method: &str,
        client: Arc<Client>,
        elsewhere: Option<oneshot::Receiver<RawJson>>,
    ) {
        let params = request.params().cloned().unwrap_or_else(shape::empty);
        let params = shape::for_session(&params, &self.row.id);
        let Call { method, params } = translated(version, client.version, method, &params);
        let (answer, answered) = oneshot::channel();
        let withdrawn = CancellationToken::new();
        let dropped = withdrawn.clone().drop_guard();
        client.push(Out::Ask(Ask { method: method.clone().into(), params, answer, withdrawn }));
        let handle = self.handle();
        let responder = request.into_responder();
        let unwanted = responder.cancellation();
        tokio::spawn(async move {
            let _withdraws = dropped;
            let outcome = tokio::select! {
                outcome = answered => outcome,
                answer = from_elsewhere(elsewhere) => Ok(Ok(answer)),
                () = unwanted.cancelled() => {
                    let _ = responder.respond::<()>(Err(Error::cancelled())).await;
                    return;
                }
            };
            let _ = match outcome {
                Ok(Ok(result)) => {
                    own_terminal(&handle, &client, &method, &result).await;
                    responder.respond_raw(&result).await
                }
                Ok(Err(error)) => responder.respond::<()>(Err(error.into())).await,
                Err(_) => responder.respond::<()>(Err(nobody(&method))).await,
            };
        });
    }
}

fn translated(from: Version, to: Version, method: &str, params: &RawJson) -> Call {
    match (from, to) {
        (Version::V1, Version::V2) => request_to_v2(method, params),
        (Version::V2, Version::V1) => request_to_v1(method, params),
        _ => Call { method: method.to_owned(), params: params.clone() },
    }
}

/// An answer that comes from elsewhere, if ever.
async fn from_elsewhere(elsewhere: Option<oneshot::Receiver<RawJson>>) -> RawJson {
    if let Some(elsewhere) = elsewhere
        && let Ok(answer) = elsewhere.await
    {
        return answer;
    }
    std::future::pending().await
}

/// Notes that a terminal is the editor's own.
async fn own_terminal(handle: &super::Handle, client: &Client, method: &str, result: &RawJson) {
    if method == "terminal/create"
        && let Some(terminal) = result.get(&["terminalId"]).and_then(|id| id.to::<String>().ok())
    {
        let _ = handle.send(Command::OwnTerminal { client: client.id, terminal }).await;
    }
}

fn nobody(method: &str) -> Error {
    Error::internal(format!("Nobody is attached to the session who could answer {method}"))
}

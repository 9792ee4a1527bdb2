//! The agent asks for something that an editor has: a file, a terminal, a form.

use std::{path::PathBuf, sync::Arc};

use nudge_backend::{Question, QuestionId, is_last_word, nobody_answers};
use nudge_bridge::{Call, request_between};
use nudge_peer::{CallError, CancellationToken, RawNotification};
use nudge_wire::{Error, RawJson, Version};
use nudge_workspace::Workspace;
use tokio::sync::oneshot;

use crate::{
    client::{Ask, Client, Out, is_form},
    session::{
        Command,
        actor::{Actor, OpenQuestion},
        question::FORM,
    },
    shape,
};

impl Actor {
    /// Asks the client that prompted, if it can answer. Files and terminals come else from Nudge, or from an agent that has its
    /// own; forms from anybody who offers them; all else from anybody.
    pub(crate) fn ask_client(&mut self, question: Question) {
        let Question { id, version, method, params } = question;
        if !self.questions.contains_key(&id) {
            // It was withdrawn while it waited for its place.
            return;
        }
        let is_served = Workspace::serves(&method);
        let is_able = |client: &Client| !(is_served || is_form(&method)) || client.offers.has(&method);
        let mut clients = self.views.iter().map(|view| &view.client);
        // Somebody who looks can answer as well as the one who prompted.
        let client = match self.prompter() {
            None if is_served && self.backend.has_own_tools() => None,
            None if is_served => clients.next().filter(|client| is_able(client)).cloned(),
            Some(prompter) if is_served || is_able(&prompter) => {
                Some(prompter).filter(|client| is_able(client))
            }
            _ => clients.find(|client| is_able(client)).cloned(),
        };
        match client {
            Some(client) => {
                let elsewhere = (&*method == FORM).then(|| self.hold_form(version, &params));
                let params = shape::for_session(&params, &self.row.id);
                let call = translated(version, client.version, &method, &params);
                self.pass_question(id, call, client, elsewhere);
            }
            None if is_served && !self.backend.has_own_tools() => self.serve(id, method, params),
            None if is_form(&method) => self.answered(id, Err(Error::method_not_found(&method))),
            None => self.answered(id, Err(nobody_answers(&method))),
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

    fn serve(&mut self, question: QuestionId, method: Arc<str>, params: RawJson) {
        self.questions.insert(question, OpenQuestion::Answering);
        let (workspace, handle) = (self.workspace(), self.handle());
        let environment = self.environments.now().cloned();
        tokio::spawn(async move {
            let answer = workspace.request(&method, &params, environment.as_ref()).await;
            let _ = handle.send(Command::Answered { question, answer }).await;
        });
    }

    /// Passes a question to a client. The answer may also come from `elsewhere`; then the client is not asked any more.
    fn pass_question(
        &mut self,
        question: QuestionId,
        call: Call,
        client: Arc<Client>,
        elsewhere: Option<oneshot::Receiver<RawJson>>,
    ) {
        let Call { method, params } = call;
        let (answer, answered) = oneshot::channel();
        let withdrawn = CancellationToken::new();
        let mut guard = Some(withdrawn.clone().drop_guard());
        let asked =
            if is_last_word(&method) { OpenQuestion::Answering } else { OpenQuestion::Client(guard.take()) };
        self.questions.insert(question, asked);
        let unwanted = withdrawn.clone();
        client.push(Out::Ask(Ask { method: method.clone().into(), params, answer, withdrawn }));
        let handle = self.handle();
        tokio::spawn(async move {
            let _guard = guard;
            let outcome = tokio::select! {
                outcome = answered => outcome,
                answer = from_elsewhere(elsewhere) => Ok(Ok(answer)),
                () = unwanted.cancelled() => return,
            };
            let answer = match outcome {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(CallError::Rpc(error))) => Err(error),
                Ok(Err(_)) | Err(_) => Err(nobody_answers(&method)),
            };
            if let Ok(result) = &answer {
                own_terminal(&handle, &client, &method, result).await;
            }
            // A session that is left does not need it.
            let _ = handle.send(Command::Answered { question, answer }).await;
        });
    }
}

fn translated(from: Version, to: Version, method: &str, params: &RawJson) -> Call {
    let as_it_is = || Call { method: method.to_owned(), params: params.clone() };
    request_between(from, to, method, params).unwrap_or_else(as_it_is)
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

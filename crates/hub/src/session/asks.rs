//! What the agent asks, on its way to a client and back.

use std::{sync::Arc, time::Duration};

use nudge_backend::{AgentQuestion, REQUEST_PERMISSION, check_elicitation_answer, is_last_word};
use nudge_bridge::{MethodCall, ToV2, request_between, request_to_v2};
use nudge_mailbox::ClientId;
use nudge_peer::{CallError, CancellationToken, RawNotification};
use nudge_session::{AskId, ClientAnswer, FORMER_CLIENT, OpenAsk, SessionInput};
use nudge_store::SessionRow;
use nudge_wire::{Error, ErrorCode, Message, RawJson, Version};
use serde::{Deserialize, Serialize};
use tokio::{sync::oneshot, time::timeout};

use crate::{
    client::{ClientMessage, ClientRequest, ConnectedClient},
    session::{SessionCommand, SessionHandle, driver::SessionDriver, waiters::AnswerWaiter},
    shape,
};

/// Within which time a client is gone that calls off what it is asked because it leaves: it has not answered then.
const LEAVES: Duration = Duration::from_secs(2);

/// A question that is open.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestion {
    /// The session that waits.
    pub session_id: String,
    /// Which question of the session it is.
    pub question_id: u64,
    /// `session/request_permission` or `elicitation/create`.
    pub method: &'static str,
    /// Its params, as version 2 writes them.
    pub request: RawJson,
}

/// What somebody who is not attached wants.
#[derive(Debug)]
pub(crate) enum QuestionWish {
    /// To know what the session waits for.
    List(oneshot::Sender<Vec<OpenQuestion>>),
    /// To answer with this result, and to know whether the question was open; an error if it is no answer to that.
    Answer { question: u64, result: RawJson, reply: oneshot::Sender<Result<bool, Error>> },
}

impl SessionDriver {
    /// Asks a client.
    pub(crate) fn ask(&mut self, ask: AskId, client: ClientId, question: &AgentQuestion) {
        let session = self.row.id.clone();
        let Some(view) = self.view(client) else {
            // The core is told that it is gone.
            return self.feed(SessionInput::Answered { ask, client, answer: ClientAnswer::Gone });
        };
        let asked = Arc::clone(&view.client);
        let AgentQuestion { version, method, params, .. } = question;
        let call = if question.is_permission() {
            let params = view.permission(&session, *version, params);
            MethodCall { method: method.to_string(), params }
        } else if question.is_form() {
            translated(*version, asked.version, method, &self.about_turn(client, params))
        } else {
            translated(*version, asked.version, method, &shape::for_session(params, &session))
        };
        self.send_ask(ask, &asked, call);
    }

    /// What a form is about: this session, or the client's own prompt, where the agent names the prompt that it works on. That may
    /// be none of this client's, or be answered.
    fn about_turn(&self, client: ClientId, params: &RawJson) -> RawJson {
        let session = &self.row.id;
        let names = |name: &str| params.get(&[name]).is_some_and(|value| value.as_str() != "null");
        if !names("requestId") {
            return shape::for_session(params, session);
        }
        let waiter = self.core.open_prompt_of(client).and_then(|prompt| self.waiters.get(&prompt));
        let own = waiter.and_then(AnswerWaiter::request_id).filter(|_| !names("sessionId"));
        match own {
            Some(id) => params.with(&["requestId"], &id.to_json()).unwrap_or_else(|_| params.clone()),
            None => shape::for_session(&shape::without(params, "requestId"), session),
        }
    }

    fn send_ask(&mut self, ask: AskId, client: &Arc<ConnectedClient>, call: MethodCall) {
        let MethodCall { method, params } = call;
        let (answer, answered) = oneshot::channel();
        let withdrawn = CancellationToken::new();
        let (unwanted, guard) = (withdrawn.clone(), withdrawn.clone().drop_guard());
        // What is to be done in any case is not withdrawn: its guard lives as long as its task.
        let kept = if is_last_word(&method) {
            Some(guard)
        } else {
            self.asks.insert((ask, client.id), guard);
            None
        };
        client.push(ClientMessage::Ask(ClientRequest {
            method: method.clone().into(),
            params,
            answer,
            withdrawn,
        }));
        let (handle, client) = (self.handle(), Arc::clone(client));
        tokio::spawn(async move {
            let _kept = kept;
            let outcome = tokio::select! {
                biased;
                outcome = answered => outcome,
                () = unwanted.cancelled() => return,
            };
            let is_called_off = matches!(&outcome, Ok(Err(CallError::Rpc(error))) if error.code == ErrorCode::REQUEST_CANCELLED);
            let leaves = is_called_off && timeout(LEAVES, client.gone()).await.is_ok();
            let answer = match outcome {
                Ok(Ok(result)) => ClientAnswer::Answer(result),
                Ok(Err(CallError::Closed(_))) => ClientAnswer::Gone,
                Ok(Err(_)) if leaves => ClientAnswer::Gone,
                Ok(Err(error)) => {
                    let error = Error::from(error);
                    if method == REQUEST_PERMISSION {
                        let code = error.code.0;
                        tracing::warn!(client = client.id.0, code, "a permission request was not answered");
                    }
                    ClientAnswer::Refused(error)
                }
                // It was withdrawn, or the connection is over.
                Err(_) if unwanted.is_cancelled() => return,
                Err(_) => ClientAnswer::Gone,
            };
            if let ClientAnswer::Answer(result) = &answer {
                own_terminal(&handle, &client, &method, result).await;
            }
            // A session that is left does not need it.
            let _ = handle.send(SessionCommand::Answered { ask, client: client.id, answer }).await;
        });
    }

    /// Passes a notification of the agent on that is no update.
    pub(crate) fn notify(&self, message: Message) {
        self.notify_those(message, |_| true);
    }

    /// As [`notify`](Self::notify), but to one client alone.
    pub(crate) fn notify_one(&self, client: ClientId, message: Message) {
        self.notify_those(message, |other| other == client);
    }

    /// As it came where it can be read as it is.
    fn notify_those(&self, message: Message, is_told: impl Fn(ClientId) -> bool) {
        let Some(note) = RawNotification::from_message(message) else { return };
        let params = note.params().map(|params| shape::for_session(params, &self.row.id));
        let is_same = params.as_ref() == note.params();
        let version = self.agent.version();
        for client in self.views.iter().map(|view| &view.client).filter(|client| is_told(client.id)) {
            let out = match &params {
                Some(params) if !is_same || client.version != version => {
                    let call = translated(version, client.version, note.method(), params);
                    ClientMessage::Notify(call.method, call.params)
                }
                _ => ClientMessage::Note(note.clone()),
            };
            client.push(out);
        }
    }

    pub(crate) fn question(&mut self, wanted: QuestionWish) {
        // Whoever asked may be gone.
        match wanted {
            QuestionWish::List(reply) => {
                let open = self.core.open_asks();
                let _ = reply.send(open.into_iter().map(|ask| open_question(&self.row, ask)).collect());
            }
            QuestionWish::Answer { question, result, reply } => {
                let _ = reply.send(self.answer_elsewhere(AskId(question), result));
            }
        }
    }

    /// Takes the answer of somebody who is not attached; whether the question was open. Both versions write it alike.
    fn answer_elsewhere(&mut self, ask: AskId, result: RawJson) -> Result<bool, Error> {
        let Some(open) = self.core.open_asks().into_iter().find(|open| open.ask == ask) else {
            return Ok(false);
        };
        if open.method == REQUEST_PERMISSION {
            check_permission_answer(&open.params, &result)?;
        } else {
            let checked = check_elicitation_answer(&open.params, &result);
            checked.map_err(|wrong| Error::invalid_params(format!("Invalid params: {wrong}")))?;
        }
        let answer = ClientAnswer::Answer(result);
        self.feed(SessionInput::Answered { ask, client: FORMER_CLIENT, answer });
        Ok(true)
    }
}

fn open_question(session: &SessionRow, open: OpenAsk) -> OpenQuestion {
    let OpenAsk { ask, version, method, params } = open;
    let params = if method == REQUEST_PERMISSION { params } else { shape::without(&params, "requestId") };
    let params = shape::for_session(&params, &session.id);
    let request = match version {
        Version::V2 => params,
        Version::V1 if method == REQUEST_PERMISSION => {
            ToV2::new("nudge-").with_cwd(&session.cwd).permission(&params)
        }
        Version::V1 => request_to_v2(method, &params).params,
    };
    OpenQuestion { session_id: session.id.to_string(), question_id: ask.0, method, request }
}

fn translated(from: Version, to: Version, method: &str, params: &RawJson) -> MethodCall {
    let as_it_is = || MethodCall { method: method.to_owned(), params: params.clone() };
    request_between(from, to, method, params).unwrap_or_else(as_it_is)
}

/// Notes that a terminal is the editor's own.
async fn own_terminal(handle: &SessionHandle, client: &ConnectedClient, method: &str, result: &RawJson) {
    if method == "terminal/create"
        && let Some(terminal) = result.get(&["terminalId"]).and_then(|id| id.to::<String>().ok())
    {
        let _ = handle.send(SessionCommand::OwnTerminal { client: client.id, terminal }).await;
    }
}

fn word(value: &RawJson, path: &[&str]) -> Option<String> {
    value.get(path)?.to().ok()
}

/// Whether an answer is one of those that the question offers. Both versions write them alike.
fn check_permission_answer(request: &RawJson, result: &RawJson) -> Result<(), Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Choice {
        option_id: String,
    }
    let offered: Vec<Choice> =
        request.get(&["options"]).and_then(|options| options.to().ok()).unwrap_or_default();
    let chosen = word(result, &["outcome", "optionId"]);
    let is_offered = || offered.iter().any(|option| Some(&option.option_id) == chosen.as_ref());
    match word(result, &["outcome", "outcome"]).as_deref() {
        Some("cancelled") => Ok(()),
        Some("selected") if is_offered() => Ok(()),
        _ => Err(Error::invalid_params(
            "Invalid params: the `result` for a permission has the `outcome` `selected` with the `optionId` of an \
             option of the question, or `cancelled`",
        )),
    }
}

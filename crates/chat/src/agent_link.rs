//! The connection to Nudge: what is asked and told goes out, and all that comes back is one row of events.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use nudge_peer::{CallError, Cx, InOrder, Peer, RequestResponder, Transport, UnhandledMessage};
use nudge_wire::{Error, ErrorCode, RawJson};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// How many events may wait; then nothing more is read.
const EVENTS: usize = 1024;

/// What comes from Nudge.
#[derive(Debug)]
pub(crate) enum LinkEvent {
    /// An update of a session.
    Update { session: String, update: RawJson },
    /// What waits in a session.
    Pending { session: String, pending: Value },
    /// The user is asked something, under this number.
    Asked { number: u64, method: String, params: Value },
    /// A question is not asked any more.
    Withdrawn { number: u64 },
    /// What the user was sent to a page for is done.
    PageDone { elicitation: String },
    /// The answer to a request of this number.
    Answered { number: u64, outcome: Result<Value, LinkError> },
    /// The connection is over, for this reason.
    Over(String),
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct LinkError {
    /// For people; safe to show.
    pub(crate) message: String,
    /// The code of JSON-RPC; none if the connection broke.
    pub(crate) code: Option<ErrorCode>,
    /// The word for it, if there is one.
    pub(crate) reason: Option<String>,
    /// What belongs to it.
    pub(crate) data: Value,
}

/// A running connection.
pub(crate) struct AgentLink {
    cx: Cx,
    questions: OpenResponders,
    events: mpsc::Sender<LinkEvent>,
}

type OpenResponders = Arc<Mutex<HashMap<u64, RequestResponder>>>;

/// What is asked of the user.
const QUESTIONS: [&str; 2] = ["session/request_permission", "elicitation/create"];

impl AgentLink {
    /// Runs a connection over this transport; its events come out of the receiver.
    pub(crate) fn open(transport: Transport) -> std::io::Result<(Self, mpsc::Receiver<LinkEvent>)> {
        let (events, receiver) = mpsc::channel(EVENTS);
        let questions = OpenResponders::default();
        let next = Arc::new(AtomicU64::new(1));
        let peer = Peer::client().name("nudge").on_unknown({
            let (events, questions) = (events.clone(), Arc::clone(&questions));
            move |message, cx: InOrder| {
                let (events, questions) = (events.clone(), Arc::clone(&questions));
                let number = next.fetch_add(1, Ordering::Relaxed);
                async move {
                    match message {
                        UnhandledMessage::Notification(note) => {
                            if let Some(event) = heard(note.method(), note.params()) {
                                let _ = events.send(event).await;
                            }
                            Ok(())
                        }
                        UnhandledMessage::Request(request) if QUESTIONS.contains(&&**request.method()) => {
                            let method = request.method().to_string();
                            let params = request.params().and_then(|params| params.to().ok());
                            let cancelled = request.cancellation();
                            questions.lock().insert(number, request.into_responder());
                            let params = params.unwrap_or_default();
                            let _ = events.send(LinkEvent::Asked { number, method, params }).await;
                            cx.spawn(move |_| async move {
                                cancelled.cancelled().await;
                                let asked = questions.lock().remove(&number);
                                if let Some(asked) = asked {
                                    let _ = asked.respond::<()>(Err(Error::cancelled())).await;
                                    let _ = events.send(LinkEvent::Withdrawn { number }).await;
                                }
                            });
                            Ok(())
                        }
                        other @ UnhandledMessage::Request(_) => other.refuse().await,
                    }
                }
            }
        });
        let connection = peer.connect(transport)?;
        let cx = connection.cx();
        tokio::spawn({
            let (cx, questions) = (cx.clone(), Arc::clone(&questions));
            async move {
                cx.input_ended().await;
                // Nobody is there any more to be answered; the end does not wait for that.
                questions.lock().clear();
            }
        });
        let over = events.clone();
        tokio::spawn(async move {
            let why = match connection.serve().await {
                Ok(()) => "Nudge has ended the connection".to_owned(),
                Err(why) => why.to_string(),
            };
            let _ = over.send(LinkEvent::Over(why)).await;
        });
        Ok((Self { cx, questions, events }, receiver))
    }

    /// Says who this is and what it can do; what Nudge answers.
    pub(crate) async fn initialize(&self, capabilities: &Value) -> Result<Value, LinkError> {
        let info = json!({ "name": "nudge-chat", "title": "Nudge", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": 2, "info": info, "capabilities": capabilities });
        self.ask("initialize", &params).await
    }

    /// Asks and waits for the answer. It goes out at once: what is asked later comes later.
    pub(crate) fn ask(
        &self,
        method: &str,
        params: &Value,
    ) -> impl Future<Output = Result<Value, LinkError>> + Send + use<> {
        let params = RawJson::of(params).expect("a tree of JSON values can be written");
        // Behind all that was said before it.
        let answer = self.cx.request_raw(method, Some(&params)).in_order();
        async move {
            match answer.await {
                Ok(answer) => answer.to().map_err(|error| LinkError::broken(error.to_string())),
                Err(CallError::Rpc(error)) => Err(LinkError::of(&error)),
                Err(error) => Err(LinkError::broken(error.to_string())),
            }
        }
    }

    /// Asks; the answer comes as an event.
    pub(crate) fn ask_later(&self, number: u64, method: &'static str, params: &Value) {
        let (events, answer) = (self.events.clone(), self.ask(method, params));
        tokio::spawn(async move {
            let outcome = answer.await;
            let _ = events.send(LinkEvent::Answered { number, outcome }).await;
        });
    }

    /// Says something that is not answered.
    pub(crate) fn tell(&self, method: &str, params: &Value) {
        if let Ok(params) = RawJson::of(params) {
            self.cx.notify_now(method, Some(&params));
        }
    }

    /// Answers what the user was asked under this number.
    pub(crate) fn answer(&self, number: u64, result: Value) {
        let asked = self.questions.lock().remove(&number);
        if let Some(asked) = asked {
            tokio::spawn(async move {
                let _ = asked.respond(Ok(result)).await;
            });
        }
    }

    /// Ends the connection once what was said has gone out.
    pub(crate) async fn close(self) {
        // Who leaves has not answered.
        let open: Vec<_> = self.questions.lock().drain().collect();
        for (_, asked) in open {
            let _ = asked.respond::<()>(Err(Error::cancelled())).await;
        }
        self.cx.close();
        self.cx.closed().await;
    }
}

/// What a notification means.
fn heard(method: &str, params: Option<&RawJson>) -> Option<LinkEvent> {
    let params = params?;
    let text = |name: &str| params.get(&[name])?.to::<String>().ok();
    match method {
        "session/update" => {
            Some(LinkEvent::Update { session: text("sessionId")?, update: params.get(&["update"])? })
        }
        "_nudge/pending" => {
            let pending = params.get(&["pending"])?.to().ok()?;
            Some(LinkEvent::Pending { session: text("sessionId")?, pending })
        }
        "elicitation/complete" => Some(LinkEvent::PageDone { elicitation: text("elicitationId")? }),
        _ => None,
    }
}

impl LinkError {
    fn of(error: &Error) -> Self {
        let data = error.data.as_ref().and_then(|data| serde_json::to_value(data).ok()).unwrap_or_default();
        Self {
            message: crate::terminal_text::one_line(&error.message),
            code: Some(error.code),
            reason: error.get_reason().map(|reason| crate::terminal_text::one_line(&reason)),
            data,
        }
    }

    fn broken(message: String) -> Self {
        Self { message, code: None, reason: None, data: Value::Null }
    }
}

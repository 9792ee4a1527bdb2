//! Requests of an agent that wait for an answer.

use std::{
    collections::BTreeMap,
    task::{Context, Waker},
};

use nudge_backend::{AgentQuestion, QuestionAnswer, QuestionId};
use nudge_peer::{CancellationToken, DropGuard, RawRequest, RequestResponder};
use nudge_wire::{Error, RawJson, Version};
use tokio::sync::mpsc;

/// The requests of one session's agent that are open.
pub(crate) struct OpenQuestions {
    last: u64,
    open: BTreeMap<QuestionId, OpenQuestion>,
    withdraw: mpsc::UnboundedSender<QuestionId>,
    withdrawn: mpsc::UnboundedReceiver<QuestionId>,
}

struct OpenQuestion {
    responder: RequestResponder,
    /// Ends the watch for its cancellation.
    _watched: DropGuard,
}

impl Default for OpenQuestions {
    fn default() -> Self {
        let (withdraw, withdrawn) = mpsc::unbounded_channel();
        Self { last: 0, open: BTreeMap::new(), withdraw, withdrawn }
    }
}

impl OpenQuestions {
    /// Takes a request of an agent of this version.
    pub(crate) fn ask(&mut self, version: Version, request: RawRequest) -> AgentQuestion {
        self.last += 1;
        let id = QuestionId(self.last);
        let method = (&**request.method()).into();
        let params = request.params().cloned().unwrap_or_else(|| RawJson::object(&[]));
        let responder = request.into_responder();
        let over = CancellationToken::new();
        let (unwanted, withdraw) = (responder.cancellation(), self.withdraw.clone());
        let watched = over.clone().drop_guard();
        tokio::spawn(async move {
            tokio::select! {
                () = over.cancelled() => {}
                // Nobody is told of it after the session is gone.
                () = unwanted.cancelled() => { let _ = withdraw.send(id); }
            }
        });
        self.open.insert(id, OpenQuestion { responder, _watched: watched });
        AgentQuestion { id, version, method, params }
    }

    /// Whether the agent still waits for the answer.
    pub(crate) fn is_open(&self, id: QuestionId) -> bool {
        self.open.contains_key(&id)
    }

    pub(crate) fn answer(&mut self, id: QuestionId, answer: QuestionAnswer) {
        let Some(OpenQuestion { responder, .. }) = self.open.remove(&id) else { return };
        let mut answered = Box::pin(async move {
            match answer {
                Ok(result) => responder.respond_raw(&result).await,
                Err(error) => responder.respond::<()>(Err(error)).await,
            }
        });
        // Where there is room it goes ahead of what is said later, such as a steer that waited for it.
        let mut at_once = Context::from_waker(Waker::noop());
        if answered.as_mut().poll(&mut at_once).is_pending() {
            tokio::spawn(answered);
        }
    }

    /// Gives who waits for the answer, to be answered elsewhere.
    pub(crate) fn take(&mut self, id: QuestionId) -> Option<RequestResponder> {
        self.open.remove(&id).map(|question| question.responder)
    }

    /// The next one that the agent does not want answered any more. It is told so.
    pub(crate) async fn withdrawn(&mut self) -> QuestionId {
        loop {
            let Some(id) = self.withdrawn.recv().await else { return std::future::pending().await };
            if self.open.contains_key(&id) {
                self.answer(id, Err(Error::cancelled()));
                return id;
            }
        }
    }

    /// The session leaves the agent: nobody answers it any more, and it is told so.
    pub(crate) fn withdraw_all(&mut self) -> Vec<QuestionId> {
        let open: Vec<_> = self.open.keys().copied().collect();
        for id in &open {
            self.answer(*id, Err(Error::cancelled()));
        }
        open
    }

    /// The agent is gone, and with it whoever asked.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}

//! What a session waits for the user to decide or fill in, for a client that is not attached: a terminal that helps on.

use nudge_mailbox::ClientId;
use nudge_peer::RawRequest;
use nudge_wire::{
    RawJson, Version,
    bridge::{ToV2, request_to_v2},
};
use serde::Serialize;
use tokio::sync::oneshot;

use crate::{session::actor::Actor, shape, update};

/// The method by which an agent asks for permission.
const PERMISSION: &str = "session/request_permission";
/// The method by which an agent asks for a form to be filled in.
pub(crate) const FORM: &str = "elicitation/create";

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
pub(crate) enum Wanted {
    /// To know what the session waits for.
    List(oneshot::Sender<Vec<OpenQuestion>>),
    /// To answer with this result, and to know whether the question was open.
    Answer { question: u64, result: RawJson, reply: oneshot::Sender<bool> },
}

/// A form that a client is asked to fill in.
pub(crate) struct Form {
    id: u64,
    request: RawJson,
    answer: oneshot::Sender<RawJson>,
}

/// Nobody who is attached: numbers of clients begin with 1.
const NOBODY: ClientId = ClientId(0);

impl Actor {
    pub(crate) fn question(&mut self, wanted: Wanted) {
        // Whoever asked may be gone.
        match wanted {
            Wanted::List(reply) => drop(reply.send(self.questions())),
            Wanted::Answer { question, result, reply } => {
                let _ = reply.send(self.answer_question(question, result));
            }
        }
    }

    /// Notes a form that a client is asked to fill in; gives where the answer of somebody else comes from.
    pub(crate) fn hold_form(&mut self, version: Version, request: &RawRequest) -> oneshot::Receiver<RawJson> {
        let (answer, answered) = oneshot::channel();
        let params = request.params().cloned().unwrap_or_else(shape::empty);
        let params = update::for_session(&params, &self.row.id);
        let request = if version == Version::V1 { request_to_v2(FORM, &params).params } else { params };
        self.asks += 1;
        self.forms.retain(|form| !form.answer.is_closed());
        self.forms.push(Form { id: self.asks, request, answer });
        answered
    }

    /// Whether it waits for the user.
    pub(crate) fn is_asking(&self) -> bool {
        !self.permissions.is_empty() || self.forms.iter().any(|form| !form.answer.is_closed())
    }

    /// What the session waits for.
    fn questions(&self) -> Vec<OpenQuestion> {
        let open = |question_id, method, request| {
            let session_id = self.row.id.to_string();
            OpenQuestion { session_id, question_id, method, request }
        };
        let permissions = self.permissions.iter().map(|permission| {
            let request = update::for_session(&permission.request, &self.row.id);
            let request = match permission.version {
                Version::V1 => ToV2::new("nudge-").permission(&request),
                Version::V2 => request,
            };
            open(permission.id, PERMISSION, request)
        });
        let forms = self.forms.iter().filter(|form| !form.answer.is_closed());
        permissions.chain(forms.map(|form| open(form.id, FORM, form.request.clone()))).collect()
    }

    /// Takes the answer of somebody who is not attached; whether the question was open. Both versions write it alike.
    fn answer_question(&mut self, id: u64, result: RawJson) -> bool {
        if let Some(at) = self.forms.iter().position(|form| form.id == id) {
            return self.forms.remove(at).answer.send(result).is_ok();
        }
        let is_open = self.permissions.iter().any(|permission| permission.id == id);
        if is_open {
            self.permission_answered(id, NOBODY, Ok(result));
        }
        is_open
    }
}

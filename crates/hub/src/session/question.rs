//! What a session waits for the user to decide or fill in, for a client that is not attached: a terminal that helps on.

use nudge_backend::REQUEST_PERMISSION;
use nudge_bridge::{ToV2, request_to_v2};
use nudge_mailbox::ClientId;
use nudge_wire::{Error, RawJson, Version};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::{session::actor::Actor, shape};

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
    /// To answer with this result, and to know whether the question was open; an error if it is no answer to that.
    Answer { question: u64, result: RawJson, reply: oneshot::Sender<Result<bool, Error>> },
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
    pub(crate) fn hold_form(&mut self, version: Version, params: &RawJson) -> oneshot::Receiver<RawJson> {
        let (answer, answered) = oneshot::channel();
        let params = shape::for_session(params, &self.row.id);
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
            let request = shape::for_session(&permission.request, &self.row.id);
            let request = match permission.version {
                Version::V1 => ToV2::new("nudge-").permission(&request),
                Version::V2 => request,
            };
            open(permission.id, REQUEST_PERMISSION, request)
        });
        let forms = self.forms.iter().filter(|form| !form.answer.is_closed());
        permissions.chain(forms.map(|form| open(form.id, FORM, form.request.clone()))).collect()
    }

    /// Takes the answer of somebody who is not attached; whether the question was open. Both versions write it alike.
    fn answer_question(&mut self, id: u64, result: RawJson) -> Result<bool, Error> {
        if let Some(at) = self.forms.iter().position(|form| form.id == id) {
            check_form_answer(&result)?;
            return Ok(self.forms.remove(at).answer.send(result).is_ok());
        }
        let Some(permission) = self.permissions.iter().find(|permission| permission.id == id) else {
            return Ok(false);
        };
        check_permission_answer(&permission.request, &result)?;
        self.permission_answered(id, NOBODY, Ok(result));
        Ok(true)
    }
}

fn word(value: &RawJson, path: &[&str]) -> Option<String> {
    value.get(path)?.to().ok()
}

fn check_form_answer(result: &RawJson) -> Result<(), Error> {
    let content = result.get(&["content"]);
    let is_object = content.is_none_or(|content| content.as_str().starts_with('{'));
    match word(result, &["action"]).as_deref() {
        Some("accept" | "decline" | "cancel") if is_object => Ok(()),
        _ => Err(Error::invalid_params(
            "Invalid params: the `result` for a form has the `action` `accept`, `decline` or `cancel`, and what is \
             filled in as an object in `content`",
        )),
    }
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

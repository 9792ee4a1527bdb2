//! Forms and pages that Nudge itself shows a client: `elicitation/create` about one of its requests, and
//! `elicitation/complete`.

use nudge_backend::{CREATE_ELICITATION, ElicitationAnswer, check_form};
use nudge_peer::Cx;
use nudge_wire::{Error, Id, RawJson};
use serde_json::{Value, json};

/// What can be shown to a client about one of its requests, and how.
pub(crate) struct RequestForms {
    pub(crate) cx: Cx,
    /// The request that it is about.
    pub(crate) request: Id,
}

impl RequestForms {
    /// Has a form filled in.
    pub(crate) async fn form(&self, message: &str, schema: &Value) -> Result<ElicitationAnswer, Error> {
        let asked = json!({ "requestId": self.request.to_json(), "mode": "form", "message": message, "requestedSchema": schema });
        let answer = self.create(&asked).await?;
        if let ElicitationAnswer::Accepted(content) = &answer {
            check_form(schema, content)
                .map_err(|wrong| Error::invalid_params(format!("Invalid params: {wrong}")))?;
        }
        Ok(answer)
    }

    /// Has a page opened. That it was opened does not mean that it is done with.
    pub(crate) async fn page(
        &self,
        page: &str,
        url: &str,
        message: &str,
    ) -> Result<ElicitationAnswer, Error> {
        let asked = json!({ "requestId": self.request.to_json(), "mode": "url", "elicitationId": page, "url": url,
            "message": message });
        self.create(&asked).await
    }

    /// The page is done with.
    pub(crate) fn complete(&self, page: &str) {
        let params = RawJson::of(&json!({ "elicitationId": page })).expect("it is plain data");
        self.cx.notify_now("elicitation/complete", Some(&params));
    }

    async fn create(&self, asked: &Value) -> Result<ElicitationAnswer, Error> {
        let params = RawJson::of(asked).expect("it is plain data");
        let answer = self.cx.request_raw(CREATE_ELICITATION, Some(&params)).await;
        let answer = answer.map_err(|error| Error::internal(format!("The client shows no form: {error}")))?;
        // What is no answer is not to be taken for a yes or a no.
        ElicitationAnswer::read(&answer).map_err(|wrong| Error::internal(wrong.to_string()))
    }
}

//! Forms and pages that Nudge itself shows a client: `elicitation/create` about one of its requests, and
//! `elicitation/complete`.

use nudge_backend::{CREATE_ELICITATION, check_form};
use nudge_peer::Cx;
use nudge_wire::{Error, Id, RawJson};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What can be shown to a client about one of its requests, and how.
pub(crate) struct RequestForms {
    pub(crate) cx: Cx,
    /// The request that it is about.
    pub(crate) request: Id,
}

/// What the user did with a form or a page.
#[derive(Debug, PartialEq)]
pub(crate) enum FormAnswer {
    /// Filled in, as its schema wants it; empty for a page.
    Accepted(Map<String, Value>),
    /// Not wanted.
    Declined,
}

#[derive(Deserialize)]
struct CreateAnswer {
    action: String,
    #[serde(default)]
    content: Option<Map<String, Value>>,
}

impl RequestForms {
    /// Has a form filled in.
    pub(crate) async fn form(&self, message: &str, schema: &Value) -> Result<FormAnswer, Error> {
        let asked = json!({ "requestId": self.request.to_json(), "mode": "form", "message": message, "requestedSchema": schema });
        let answer = self.create(&asked).await?;
        if let FormAnswer::Accepted(content) = &answer {
            check_form(schema, content)
                .map_err(|wrong| Error::invalid_params(format!("Invalid params: {wrong}")))?;
        }
        Ok(answer)
    }

    /// Has a page opened. That it was opened does not mean that it is done with.
    pub(crate) async fn page(&self, page: &str, url: &str, message: &str) -> Result<FormAnswer, Error> {
        let asked = json!({ "requestId": self.request.to_json(), "mode": "url", "elicitationId": page, "url": url,
            "message": message });
        self.create(&asked).await
    }

    /// The page is done with.
    pub(crate) fn complete(&self, page: &str) {
        let params = RawJson::of(&json!({ "elicitationId": page })).expect("it is plain data");
        self.cx.notify_now("elicitation/complete", Some(&params));
    }

    async fn create(&self, asked: &Value) -> Result<FormAnswer, Error> {
        let params = RawJson::of(asked).expect("it is plain data");
        let answer = self.cx.request_raw(CREATE_ELICITATION, Some(&params)).await;
        let answer = answer.map_err(|error| Error::internal(format!("The client shows no form: {error}")))?;
        let read = answer.to::<CreateAnswer>();
        let CreateAnswer { action, content } =
            read.map_err(|_| Error::internal("The client's answer to `elicitation/create` cannot be read"))?;
        match action.as_str() {
            "accept" => Ok(FormAnswer::Accepted(content.unwrap_or_default())),
            "decline" | "cancel" => Ok(FormAnswer::Declined),
            // Not to be taken for a yes or a no.
            _ => Err(Error::internal(
                "The client's answer to `elicitation/create` is neither accept, decline nor cancel",
            )),
        }
    }
}

//! What a proxy does with messages it has no handler for: it passes them on along its chain.
//!
//! A proxy has one connection, to a conductor. Messages from the side of the client arrive as they are and go to the
//! successor inside `proxy/successor`; messages from the successor arrive inside `proxy/successor` and go to the side
//! of the client as they are.

use nudge_wire::{Error, RawJson, raw::NotAnObject};
use serde::Deserialize;

use crate::{ConnectionClosed, InOrder, UnhandledMessage};

const SUCCESSOR: &str = "proxy/successor";
const INITIALIZE: &str = "proxy/initialize";

#[derive(Deserialize)]
struct Wrapped {
    method: String,
    #[serde(default)]
    params: Option<RawJson>,
}

/// Passes `message` on along the chain.
pub(crate) async fn pass_on(message: UnhandledMessage, cx: InOrder) -> Result<(), ConnectionClosed> {
    let params = message.params().cloned();
    match message.method().as_ref() as &str {
        SUCCESSOR => match params.as_ref().map(RawJson::to::<Wrapped>) {
            Some(Ok(inner)) => message.replaced_by(&cx.shared, &inner.method, inner.params.as_ref()).await,
            _ => refuse(message).await,
        },
        // A proxy is told by this method that it has a successor, which decides for itself what it is.
        INITIALIZE => forward_wrapped(message, &cx, "initialize", params.as_ref()).await,
        _ => {
            let method = message.method().to_string();
            forward_wrapped(message, &cx, &method, params.as_ref()).await
        }
    }
}

async fn forward_wrapped(
    message: UnhandledMessage,
    cx: &InOrder,
    method: &str,
    params: Option<&RawJson>,
) -> Result<(), ConnectionClosed> {
    match wrap(method, params) {
        Ok(wrapped) => message.replaced_by(&cx.shared, SUCCESSOR, Some(&wrapped)).await,
        Err(_) => refuse(message).await,
    }
}

fn wrap(method: &str, params: Option<&RawJson>) -> Result<RawJson, NotAnObject> {
    let name = RawJson::of(method).expect("a string can be written as JSON");
    let wrapped = RawJson::of(&serde_json::json!({})).expect("an empty object can be written as JSON");
    let wrapped = wrapped.with(&["method"], &name)?;
    match params {
        Some(params) => wrapped.with(&["params"], params),
        None => Ok(wrapped),
    }
}

async fn refuse(message: UnhandledMessage) -> Result<(), ConnectionClosed> {
    match message {
        UnhandledMessage::Request(request) => {
            let error = Error::invalid_params("Invalid params for proxy/successor: expected a `method`");
            request.respond::<()>(Err(error)).await
        }
        UnhandledMessage::Notification(_) => Ok(()),
    }
}

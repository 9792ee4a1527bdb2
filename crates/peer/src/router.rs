//! Which handler takes which message.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use nudge_wire::{Body, Error, Message, Notification, Request};

use crate::{Closed, Cx, InOrder, Responder, Unhandled, call::Call, cx::decode, shared::Shared};

pub(crate) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A message for a handler, with the duty to answer it if it is a request.
pub(crate) struct Delivery {
    pub(crate) message: Message,
    pub(crate) call: Option<Arc<Call>>,
    pub(crate) shared: Arc<Shared>,
}

pub(crate) type Handler = Box<dyn Fn(Delivery) -> Running + Send + Sync>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    InOrder,
    Beside,
}

#[derive(Default)]
pub(crate) struct Router {
    /// Requests and notifications may share a name (`proxy/successor`, `mcp/message`).
    requests: HashMap<&'static str, (Lane, Handler)>,
    notifications: HashMap<&'static str, (Lane, Handler)>,
    pub(crate) unknown: Option<Handler>,
}

impl Router {
    pub(crate) fn find(&self, message: &Message) -> Option<(Lane, &Handler)> {
        let found = match &message.body {
            Body::Request { method, .. } => self.requests.get(method.as_ref() as &str),
            Body::Notification { method, .. } => self.notifications.get(method.as_ref() as &str),
            Body::Response { .. } => None,
        };
        match found {
            Some((lane, handler)) => Some((*lane, handler)),
            None => self.unknown.as_ref().map(|handler| (Lane::InOrder, handler)),
        }
    }

    pub(crate) fn add_request<R: Request>(&mut self, lane: Lane, handler: impl Fn() -> Handler) {
        for name in std::iter::once(&R::METHOD).chain(R::ALIASES) {
            self.requests.insert(name, (lane, handler()));
        }
    }

    pub(crate) fn add_notification<N: Notification>(&mut self, lane: Lane, handler: impl Fn() -> Handler) {
        for name in std::iter::once(&N::METHOD).chain(N::ALIASES) {
            self.notifications.insert(name, (lane, handler()));
        }
    }
}

/// A typed request handler, whichever context it wants.
pub(crate) fn request_handler<R, C, F, Fut>(
    lane: Lane,
    context: fn(Arc<Shared>, Arc<Call>) -> C,
    handler: Arc<F>,
) -> Handler
where
    R: Request,
    C: Send + 'static,
    F: Fn(R, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R::Response, Error>> + Send + 'static,
{
    Box::new(move |Delivery { message, call, shared }| {
        let Some(call) = call else { return Box::pin(async {}) };
        let responder = Responder::new(Arc::clone(&shared), Arc::clone(&call));
        // The frame may be large; a handler that runs for long must not keep it.
        let begun =
            decode::<R>(R::METHOD, message.params()).map(|request| handler(request, context(shared, call)));
        Box::pin(async move {
            let outcome = match begun {
                Ok(running) => running.await,
                Err(error) => Err(error),
            };
            log_closed(match lane {
                Lane::InOrder => responder.respond_in_order(outcome).await,
                Lane::Beside => responder.respond(outcome).await,
            });
        })
    })
}

/// A typed notification handler, whichever context it wants.
pub(crate) fn notification_handler<N, C, F, Fut>(context: fn(Arc<Shared>) -> C, handler: Arc<F>) -> Handler
where
    N: Notification,
    C: Send + 'static,
    F: Fn(N, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Error>> + Send + 'static,
{
    Box::new(move |Delivery { message, shared, .. }| {
        let decoded = decode::<N>(N::METHOD, message.params());
        let begun = decoded.map(|notification| handler(notification, context(Arc::clone(&shared))));
        Box::pin(async move {
            let outcome = match begun {
                Ok(running) => running.await,
                Err(error) => Err(error),
            };
            if let Err(error) = outcome {
                tracing::debug!(connection = shared.name, method = N::METHOD, %error, "notification failed");
            }
        })
    })
}

/// The handler of what nobody registered for.
pub(crate) fn unknown_handler<F, Fut>(handler: F) -> Handler
where
    F: Fn(Unhandled, InOrder) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Closed>> + Send + 'static,
{
    let handler = Arc::new(handler);
    Box::new(move |Delivery { message, call, shared }| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            let responder = call.clone().map(|call| Responder::new(Arc::clone(&shared), call));
            let unhandled = Unhandled::new(message, responder);
            log_closed(handler(unhandled, Cx::new(shared, call)).await);
        })
    })
}

pub(crate) fn in_order(shared: Arc<Shared>, call: Arc<Call>) -> InOrder {
    Cx::new(shared, Some(call))
}

pub(crate) fn beside(shared: Arc<Shared>, call: Arc<Call>) -> Cx {
    Cx::new(shared, Some(call))
}

fn log_closed(sent: Result<(), Closed>) {
    if let Err(closed) = sent {
        tracing::debug!(%closed, "nobody is there to take the answer");
    }
}

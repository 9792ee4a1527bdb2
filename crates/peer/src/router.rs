//! Which handler takes which message.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use nudge_wire::{Error, Message, MessageBody, Notification, RawJson, Request, Version};
use serde_json::Value;

use crate::{
    ConnectionClosed, Cx, InOrder, RequestResponder, UnhandledMessage,
    call::CallState,
    cx::decode,
    shared::ConnectionShared,
    version::{is_initialize, said_version},
};

pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A message for a handler, with the duty to answer it if it is a request.
pub(crate) struct HandlerDelivery {
    pub(crate) message: Message,
    pub(crate) call: Option<Arc<CallState>>,
    pub(crate) shared: Arc<ConnectionShared>,
}

pub(crate) type MethodHandler = Box<dyn Fn(HandlerDelivery) -> HandlerFuture + Send + Sync>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HandlerLane {
    InOrder,
    Beside,
}

#[derive(Default)]
pub(crate) struct MethodRouter {
    /// Requests and notifications may share a name (`proxy/successor`, `mcp/message`).
    requests: HashMap<&'static str, Routes>,
    notifications: HashMap<&'static str, Routes>,
    pub(crate) unknown: Option<MethodHandler>,
    /// The version of the protocol that what is added is for; of any, if there is none.
    pub(crate) version: Option<Version>,
}

/// The handlers of one method.
enum Routes {
    OfAny(HandlerLane, MethodHandler),
    OfVersion([Option<(HandlerLane, MethodHandler)>; 2]),
}

impl Routes {
    /// The handler for a connection whose version was agreed on.
    fn find(&self, agreed: Option<Version>) -> Option<(HandlerLane, &MethodHandler)> {
        match self {
            Self::OfAny(lane, handler) => Some((*lane, handler)),
            Self::OfVersion(routes) => {
                let (lane, handler) = routes[slot(agreed?)].as_ref()?;
                Some((*lane, handler))
            }
        }
    }

    /// The handler for `initialize`: that of the version which is asked for, or of the one there is.
    fn find_initialize(&self, params: Option<&RawJson>) -> Option<(HandlerLane, &MethodHandler)> {
        let asked = Version::negotiate(params.and_then(said_version).map(Value::from).as_ref());
        let other = if asked == Version::V1 { Version::V2 } else { Version::V1 };
        self.find(Some(asked)).or_else(|| self.find(Some(other)))
    }
}

fn slot(version: Version) -> usize {
    match version {
        Version::V1 => 0,
        Version::V2 => 1,
    }
}

impl MethodRouter {
    /// The handler of a message on a connection whose version was agreed on, or was not yet.
    pub(crate) fn find(
        &self,
        message: &Message,
        agreed: Option<Version>,
    ) -> Option<(HandlerLane, &MethodHandler)> {
        let found = match &message.body {
            MessageBody::Request { method, params, .. } => {
                self.requests.get(method.as_ref() as &str).and_then(|routes| match routes {
                    Routes::OfVersion(_) if is_initialize(method) => routes.find_initialize(params.as_ref()),
                    _ => routes.find(agreed),
                })
            }
            MessageBody::Notification { method, .. } => {
                self.notifications.get(method.as_ref() as &str).and_then(|routes| routes.find(agreed))
            }
            MessageBody::Response { .. } => None,
        };
        found.or_else(|| self.unknown.as_ref().map(|handler| (HandlerLane::InOrder, handler)))
    }

    pub(crate) fn add_request<R: Request>(&mut self, lane: HandlerLane, handler: impl Fn() -> MethodHandler) {
        for name in std::iter::once(&R::METHOD).chain(R::ALIASES) {
            add(&mut self.requests, name, self.version, lane, handler());
        }
    }

    pub(crate) fn add_notification<N: Notification>(
        &mut self,
        lane: HandlerLane,
        handler: impl Fn() -> MethodHandler,
    ) {
        for name in std::iter::once(&N::METHOD).chain(N::ALIASES) {
            add(&mut self.notifications, name, self.version, lane, handler());
        }
    }
}

/// Adds a handler beside those of other versions.
fn add(
    all: &mut HashMap<&'static str, Routes>,
    name: &'static str,
    version: Option<Version>,
    lane: HandlerLane,
    handler: MethodHandler,
) {
    let Some(version) = version else {
        let before = all.insert(name, Routes::OfAny(lane, handler));
        assert!(before.is_none(), "{}", second_handler(name));
        return;
    };
    match all.entry(name).or_insert_with(|| Routes::OfVersion([None, None])) {
        Routes::OfVersion(routes) if routes[slot(version)].is_none() => {
            routes[slot(version)] = Some((lane, handler));
        }
        _ => panic!("{}", second_handler(name)),
    }
}

fn second_handler(name: &str) -> String {
    format!(
        "`{name}` has two handlers and only one could be called: remove one of them, or register each for a protocol \
         version of its own with `Peer::version`"
    )
}

/// A typed request handler, whichever context it wants.
pub(crate) fn request_handler<R, C, F, Fut>(
    lane: HandlerLane,
    context: fn(Arc<ConnectionShared>, Arc<CallState>) -> C,
    handler: Arc<F>,
) -> MethodHandler
where
    R: Request,
    C: Send + 'static,
    F: Fn(R, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R::Response, Error>> + Send + 'static,
{
    Box::new(move |HandlerDelivery { message, call, shared }| {
        let Some(call) = call else { return Box::pin(async {}) };
        let responder = RequestResponder::new(Arc::clone(&shared), Arc::clone(&call));
        // The frame may be large; a handler that runs for long must not keep it.
        let begun =
            decode::<R>(R::METHOD, message.params()).map(|request| handler(request, context(shared, call)));
        Box::pin(async move {
            let outcome = match begun {
                Ok(running) => running.await,
                Err(error) => Err(error),
            };
            log_closed(match lane {
                HandlerLane::InOrder => responder.respond_in_order(outcome).await,
                HandlerLane::Beside => responder.respond(outcome).await,
            });
        })
    })
}

/// A typed notification handler, whichever context it wants.
pub(crate) fn notification_handler<N, C, F, Fut>(
    context: fn(Arc<ConnectionShared>) -> C,
    handler: Arc<F>,
) -> MethodHandler
where
    N: Notification,
    C: Send + 'static,
    F: Fn(N, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Error>> + Send + 'static,
{
    Box::new(move |HandlerDelivery { message, shared, .. }| {
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
pub(crate) fn unknown_handler<F, Fut>(handler: F) -> MethodHandler
where
    F: Fn(UnhandledMessage, InOrder) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), ConnectionClosed>> + Send + 'static,
{
    let handler = Arc::new(handler);
    Box::new(move |HandlerDelivery { message, call, shared }| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            let responder = call.clone().map(|call| RequestResponder::new(Arc::clone(&shared), call));
            let unhandled = UnhandledMessage::new(message, responder);
            log_closed(handler(unhandled, Cx::new(shared, call)).await);
        })
    })
}

pub(crate) fn in_order(shared: Arc<ConnectionShared>, call: Arc<CallState>) -> InOrder {
    Cx::new(shared, Some(call))
}

pub(crate) fn beside(shared: Arc<ConnectionShared>, call: Arc<CallState>) -> Cx {
    Cx::new(shared, Some(call))
}

fn log_closed(sent: Result<(), ConnectionClosed>) {
    if let Err(closed) = sent {
        tracing::debug!(%closed, "nobody is there to take the answer");
    }
}

//! Handlers that are given a state they share, before the message.

use std::{future::Future, sync::Arc};

use nudge_wire::{Error, Notification, Request};

use crate::{ConnectionClosed, Cx, InOrder, Peer, UnhandledMessage};

impl<T: Send + Sync + 'static> Peer<Arc<T>> {
    /// Handles a request in order: no later message is handed over before this handler has answered.
    pub fn on_request<R, F, Fut>(self, handler: F) -> Self
    where
        R: Request,
        F: Fn(Arc<T>, R, InOrder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R::Response, Error>> + Send + 'static,
    {
        self.register(|peer, state| {
            peer.on_request(move |request: R, cx| handler(Arc::clone(&state), request, cx))
        })
    }

    /// Handles a request beside the queue: later messages do not wait for it, and it may await responses.
    pub fn on_request_beside<R, F, Fut>(self, handler: F) -> Self
    where
        R: Request,
        F: Fn(Arc<T>, R, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R::Response, Error>> + Send + 'static,
    {
        self.register(|peer, state| {
            peer.on_request_beside(move |request: R, cx| handler(Arc::clone(&state), request, cx))
        })
    }

    /// Handles a notification in order: it is fully applied before a later message is handed over.
    pub fn on_notification<N, F, Fut>(self, handler: F) -> Self
    where
        N: Notification,
        F: Fn(Arc<T>, N, InOrder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Error>> + Send + 'static,
    {
        self.register(|peer, state| {
            peer.on_notification(move |notification: N, cx| handler(Arc::clone(&state), notification, cx))
        })
    }

    /// Handles a notification beside the queue.
    pub fn on_notification_beside<N, F, Fut>(self, handler: F) -> Self
    where
        N: Notification,
        F: Fn(Arc<T>, N, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Error>> + Send + 'static,
    {
        self.register(|peer, state| {
            let handler = move |notification: N, cx| handler(Arc::clone(&state), notification, cx);
            peer.on_notification_beside(handler)
        })
    }

    /// Handles, in order, every request and notification without a handler of its own, as it came. Without this,
    /// requests are answered with -32601 and notifications are ignored.
    pub fn on_unknown<F, Fut>(self, handler: F) -> Self
    where
        F: Fn(Arc<T>, UnhandledMessage, InOrder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), ConnectionClosed>> + Send + 'static,
    {
        self.register(|peer, state| {
            peer.on_unknown(move |message, cx| handler(Arc::clone(&state), message, cx))
        })
    }

    /// Registers a handler that has the state.
    fn register(self, register: impl FnOnce(Peer, Arc<T>) -> Peer) -> Self {
        let state = Arc::clone(&self.state);
        register(self.give(()), Arc::clone(&state)).give(state)
    }
}

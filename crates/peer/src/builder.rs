//! How a connection is described, opened and run.

use std::{
    fmt,
    future::{Future, poll_fn},
    io,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use nudge_wire::{Error, Notification, Request, Version};

use crate::{
    Connect, ConnectionClosed, ConnectionLimits, Cx, FrameTap, InOrder, UnhandledMessage,
    driver::ConnectionDriver,
    proxy,
    router::{
        HandlerLane, MethodRouter, beside, in_order, notification_handler, request_handler, unknown_handler,
    },
    shared::ConnectionShared,
};

/// How long the other side may take to be told the end, and a child to leave by itself after its input was closed.
const GRACE: Duration = Duration::from_secs(2);

/// One side of a connection, before it is connected.
///
/// A method has one handler, or one for each version of the protocol ([`Peer::version`]); a second is a mistake in the
/// program, and registering it panics.
///
/// `S` is what handlers are given beside the message: nothing, or an [`Arc`] of what [`Peer::with`] was given.
pub struct Peer<S = ()> {
    role: &'static str,
    name: Option<String>,
    limits: ConnectionLimits,
    tap: Option<FrameTap>,
    router: MethodRouter,
    /// Whether `on_unknown` was called.
    has_own_unknown: bool,
    pub(crate) state: S,
}

impl Peer {
    /// A client: the editor's side.
    pub fn client() -> Self {
        Self::new("client")
    }

    /// An agent. Requests it has no handler for are answered with -32601.
    pub fn agent() -> Self {
        Self::new("agent")
    }

    /// A proxy of a chain, connected to its conductor. Messages it has no handler for are passed on along the chain.
    pub fn proxy() -> Self {
        let mut peer = Self::new("proxy");
        peer.router.unknown = Some(unknown_handler(proxy::pass_on));
        peer
    }

    fn new(role: &'static str) -> Self {
        Self {
            role,
            name: None,
            limits: ConnectionLimits::default(),
            tap: None,
            router: MethodRouter::default(),
            has_own_unknown: false,
            state: (),
        }
    }
}

impl<S> Peer<S> {
    /// The name in logs; that of the transport unless set.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The bounds; see [`ConnectionLimits`] for the defaults.
    pub fn limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Records every frame.
    pub fn tap(mut self, tap: Option<FrameTap>) -> Self {
        self.tap = tap;
        self
    }

    /// Registers what `handlers` registers only for connections that speak `version`, which the answer to `initialize` says;
    /// before it, they take no message. Of two handlers of `initialize` the one of the version that is asked for is called.
    ///
    /// ```
    /// # use nudge_peer::Peer;
    /// # use nudge_wire::{Version, acp::{v1, v2}};
    /// Peer::agent()
    ///     .version(Version::V1, |peer| {
    ///         peer.on_request(async |_: v1::ListSessionsRequest, _| Ok(v1::ListSessionsResponse::new(vec![])))
    ///     })
    ///     .version(Version::V2, |peer| {
    ///         peer.on_request(async |_: v2::ListSessionsRequest, _| Ok(v2::ListSessionsResponse::new(vec![])))
    ///     });
    /// ```
    pub fn version(mut self, version: Version, handlers: impl FnOnce(Self) -> Self) -> Self {
        let around = self.router.version.replace(version);
        self = handlers(self);
        self.router.version = around;
        self
    }

    /// Gives `state` to the handlers that are registered from here on, as their first argument.
    ///
    /// ```
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// # use nudge_peer::Peer;
    /// # use nudge_wire::acp::v1;
    /// let peer = Peer::agent().with(Arc::new(AtomicU64::new(0))).on_request(
    ///     async |number, _: v1::NewSessionRequest, _| {
    ///         let number = number.fetch_add(1, Ordering::Relaxed);
    ///         Ok(v1::NewSessionResponse::new(v1::SessionId::new(number.to_string())))
    ///     },
    /// );
    /// ```
    pub fn with<T: Send + Sync + 'static>(self, state: Arc<T>) -> Peer<Arc<T>> {
        self.give(state)
    }

    /// The same peer with another state.
    pub(crate) fn give<T>(self, state: T) -> Peer<T> {
        let Self { role, name, limits, tap, router, has_own_unknown, state: _ } = self;
        Peer { role, name, limits, tap, router, has_own_unknown, state }
    }
}

impl Peer {
    /// Handles a request in order: no later message is handed over before this handler has answered.
    pub fn on_request<R, F, Fut>(mut self, handler: F) -> Self
    where
        R: Request,
        F: Fn(R, InOrder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R::Response, Error>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.router.add_request::<R>(HandlerLane::InOrder, || {
            request_handler(HandlerLane::InOrder, in_order, Arc::clone(&handler))
        });
        self
    }

    /// Handles a request beside the queue: later messages do not wait for it, and it may await responses.
    pub fn on_request_beside<R, F, Fut>(mut self, handler: F) -> Self
    where
        R: Request,
        F: Fn(R, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R::Response, Error>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.router.add_request::<R>(HandlerLane::Beside, || {
            request_handler(HandlerLane::Beside, beside, Arc::clone(&handler))
        });
        self
    }

    /// Handles a notification in order: it is fully applied before a later message is handed over.
    pub fn on_notification<N, F, Fut>(mut self, handler: F) -> Self
    where
        N: Notification,
        F: Fn(N, InOrder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let context = |shared| Cx::new(shared, None);
        self.router.add_notification::<N>(HandlerLane::InOrder, || {
            notification_handler(context, Arc::clone(&handler))
        });
        self
    }

    /// Handles a notification beside the queue.
    pub fn on_notification_beside<N, F, Fut>(mut self, handler: F) -> Self
    where
        N: Notification,
        F: Fn(N, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let context = |shared| Cx::new(shared, None);
        self.router.add_notification::<N>(HandlerLane::Beside, || {
            notification_handler(context, Arc::clone(&handler))
        });
        self
    }

    /// Handles, in order, every request and notification without a handler of its own, as it came. Without this,
    /// requests are answered with -32601 and notifications are ignored.
    pub fn on_unknown<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(UnhandledMessage, InOrder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), ConnectionClosed>> + Send + 'static,
    {
        assert!(
            !self.has_own_unknown,
            "`on_unknown` was called twice and only one handler could be called: remove one"
        );
        self.has_own_unknown = true;
        self.router.unknown = Some(unknown_handler(handler));
        self
    }
}

impl<S> Peer<S> {
    /// Opens the transport. Nothing is read or written before the connection is run.
    pub fn connect(self, transport: impl Connect) -> io::Result<Connection> {
        let transport = transport.open()?;
        let name = self.name.or_else(|| transport.name.clone()).unwrap_or_else(|| self.role.to_owned());
        let shared = ConnectionShared::new(name, self.limits, self.tap);
        Ok(Connection {
            cx: Cx::new(Arc::clone(&shared), None),
            driver: ConnectionDriver::new(shared, self.router, transport),
        })
    }

    /// Opens the transport and runs the connection to its end.
    pub async fn serve(self, transport: impl Connect) -> Result<(), ConnectionClosed> {
        self.connect(transport)?.serve().await
    }
}

/// An open connection that somebody has to run.
pub struct Connection {
    cx: Cx,
    driver: ConnectionDriver,
}

impl Connection {
    /// A handle to send with, from anywhere. It sends nothing while the connection is not run.
    pub fn cx(&self) -> Cx {
        self.cx.clone()
    }

    /// Runs the connection until the other side closes it, which is `Ok`, or it fails.
    pub async fn serve(mut self) -> Result<(), ConnectionClosed> {
        let why = poll_fn(|cx| self.driver.poll(cx)).await;
        part(self.driver).await;
        match why {
            ConnectionClosed::Eof | ConnectionClosed::Local => Ok(()),
            why => Err(why),
        }
    }

    /// Runs the connection while `task` runs, then handles what has been received, writes what is left and closes it. A
    /// child process gets the end of its input and a moment to leave by itself.
    ///
    /// If the connection ends first, `task` goes on and its calls fail.
    pub async fn run_until<T>(mut self, task: impl AsyncFnOnce(Cx) -> T) -> T {
        let output = {
            let mut task = pin!(task(self.cx.clone()));
            let mut over = false;
            poll_fn(|cx| {
                over = over || self.driver.poll(cx).is_ready();
                let polled = task.as_mut().poll(cx);
                // What the task has just sent goes out before it sleeps.
                over = over || self.driver.poll(cx).is_ready();
                polled
            })
            .await
        };
        self.finish().await;
        output
    }

    async fn finish(mut self) {
        let drain = self.cx.shared.limits.drain;
        let caught_up = poll_fn(|cx| {
            let over = self.driver.poll(cx).is_ready();
            if over || self.driver.has_caught_up() { Poll::Ready(()) } else { Poll::Pending }
        });
        let _ = tokio::time::timeout(drain, caught_up).await;
        self.cx.shared.begin_closing();
        let written = poll_fn(|cx| self.driver.poll(cx).map(drop));
        let _ = tokio::time::timeout(drain, written).await;
        part(self.driver).await;
    }
}

/// Closes the transport and gives a child a moment to leave by itself, before it is made to.
async fn part(mut driver: ConnectionDriver) {
    let _ = tokio::time::timeout(GRACE, poll_fn(|cx| driver.poll_close(cx))).await;
    if let Some(mut exit) = driver.close() {
        let _ = tokio::time::timeout(GRACE, exit.ended()).await;
    }
}

impl<S> fmt::Debug for Peer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("role", &self.role).field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("cx", &self.cx).finish_non_exhaustive()
    }
}

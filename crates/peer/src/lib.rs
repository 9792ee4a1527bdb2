//! One ACP connection, and the Rust SDK of Nudge: a client, an agent or a proxy in a few lines.
//!
//! ```no_run
//! use nudge_peer::{Peer, StdioTransport};
//! use nudge_wire::acp::v1::{InitializeRequest, InitializeResponse};
//!
//! # async fn agent() -> Result<(), nudge_peer::ConnectionClosed> {
//! Peer::agent()
//!     .on_request(|request: InitializeRequest, _| async move {
//!         Ok(InitializeResponse::new(request.protocol_version))
//!     })
//!     .serve(StdioTransport)
//!     .await
//! # }
//! ```
//!
//! # Order
//!
//! Messages are handed over one at a time in the order they arrived: the handlers of `on_request`, `on_notification` and
//! `on_unknown` run *in order*, each to its end before the next begins. Handlers registered with `on_request_beside`
//! and `on_notification_beside` begin in order, up to the first time they wait, and then go on beside the queue.
//!
//! A response is given to its caller as soon as it is read, ahead of messages that still wait to be handled;
//! [`PendingResponse::in_order`] gives it in its turn instead.
//!
//! # No deadlock
//!
//! Responses and `$/cancel_request` are taken by the reader ahead of the queue. An in-order handler gets an
//! [`InOrder`] context, which can send notifications but has no way to await a response; what needs one runs beside
//! the queue, with a [`Cx`]. Answers have room of their own on the way out, so that they never wait behind requests.
//! Reading goes on past the soft limit of the inbound queue while the queue cannot move without what is behind it, up to
//! a hard limit; if nothing moves there for long, the connection is given up and says why.
//!
//! # Bounds
//!
//! Every queue is limited in bytes ([`ConnectionLimits`]). A slow handler stops the reading of the pipe; a peer that does not
//! read makes [`Cx::notify`] and [`Cx::request`] wait.
#![allow(clippy::disallowed_methods, reason = "this room does IO and drives time")]

mod builder;
mod call;
mod closed;
mod cx;
mod driver;
mod inbound;
mod limits;
mod outbound;
mod pace;
mod pending;
mod proxy;
mod quiet;
mod relay;
mod router;
mod running;
mod shared;
mod stall;
mod state;
mod tap;
mod transport;
mod unhandled;
mod version;

pub use builder::{Connection, Peer};
pub use call::RequestResponder;
pub use closed::{CallError, ConnectionClosed};
pub use cx::{Beside, Cx, HandlerPlace, InOrder, Ordered, PendingResponse};
pub use limits::ConnectionLimits;
pub use relay::relay;
pub use tap::FrameTap;
pub use tokio_util::sync::{CancellationToken, DropGuard};
pub use transport::{
    ChildProgram, Connect, DescriptorTransport, ExitReport, FrameTransport, OutgoingFrames, StdioTransport,
    Transport, TransportCut, pair,
};
pub use unhandled::{ForwardedRequest, PassedMessage, RawNotification, RawRequest, UnhandledMessage};

// The code of the page is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sdk.md")]
struct SdkPage;

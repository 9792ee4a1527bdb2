//! Durable, shared sessions: ties clients, mailbox, store and a backend together.
//!
//! A process has one [`Hub`]. Each connection gets a [`SessionApi`] from it, which answers the session methods of the version
//! the client speaks. A session that is in use is one task (`session/driver.rs`), which drives the session's core
//! (`nudge_session`): it feeds inputs, commits what the core decides, and performs its effects. It decides nothing itself.
#![allow(clippy::disallowed_methods, reason = "this room drives time and reads the clock")]

mod boundary;
mod client;
mod directories;
mod history;
mod hub;
mod joined_sessions;
mod lifecycle;
mod methods;
mod params;
mod recap;
mod session;
mod session_api;
mod shape;
mod sources;
mod time;

pub use boundary::{BoundaryObserver, DurableBoundary};
pub use hub::{Hub, HubError, HubOptions, HubStatus};
pub use nudge_session::PendingMessage;
pub use nudge_wire::{ClientContext, Environment};
pub use session::{LiveStatus, OpenQuestion};
pub use session_api::SessionApi;
pub use sources::SessionSource;

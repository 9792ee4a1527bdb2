//! Durable, shared sessions: ties clients, mailbox, store and a backend together.
//!
//! A process has one [`Hub`]. Each connection gets an [`Edge`] from it, which answers the session methods of the version
//! the client speaks. A session that is in use is one task (`session/driver.rs`), which drives the session's core
//! (`nudge_session`): it feeds inputs, commits what the core decides, and performs its effects. It decides nothing itself.
#![allow(clippy::disallowed_methods, reason = "this room drives time and reads the clock")]

mod boundary;
mod client;
mod directories;
mod door;
mod edge;
mod history;
mod hub;
mod lifecycle;
mod methods;
mod params;
mod recap;
mod session;
mod shape;
mod sources;
mod time;

pub use boundary::{Boundary, BoundaryObserver};
pub use edge::Edge;
pub use hub::{Hub, HubError, Options, Status};
pub use nudge_session::PendingMessage;
pub use nudge_wire::Environment;
pub use session::{Live, OpenQuestion};
pub use sources::Source;

use nudge_wire::inject::{InjectCapability, Mode, SteerInStream};

/// What sessions do with mid-turn input, to be told in the result of `initialize`.
pub fn inject() -> InjectCapability {
    let in_stream = vec![SteerInStream::Interrupt, SteerInStream::Finish];
    InjectCapability::new(vec![Mode::Queue, Mode::Steer], in_stream).with_replace()
}

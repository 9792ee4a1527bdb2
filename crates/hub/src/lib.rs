//! Durable, shared sessions: ties clients, mailbox, store and a backend together.
//!
//! A process has one [`Hub`]. Each connection gets an [`Edge`] from it, which answers the session methods of the version
//! the client speaks. A session that is in use is one task (`session/actor.rs`); it alone owns the session's mailbox and
//! writes its transcript. What it shows to anybody (answers, updates, a prompt to the backend) waits in an outbox
//! until the commit it depends on is on disk.
#![allow(clippy::disallowed_methods, reason = "this room drives time and reads the clock")]

mod backend;
mod client;
mod directories;
mod door;
mod edge;
mod history;
mod hub;
mod lifecycle;
mod message_runs;
mod methods;
mod own_updates;
mod params;
mod permission;
mod recap;
mod session;
mod shape;
mod time;

pub use edge::Edge;
pub use hub::{Hub, HubError, Options, Status};
pub use nudge_wire::Environment;
pub use session::{Live, OpenQuestion, Pending};

use nudge_wire::inject::{InjectCapability, Mode, SteerInStream};

/// What sessions do with mid-turn input, to be told in the result of `initialize`.
pub fn inject() -> InjectCapability {
    let in_stream = vec![SteerInStream::Interrupt, SteerInStream::Finish];
    InjectCapability::new(vec![Mode::Queue, Mode::Steer], in_stream).with_replace()
}

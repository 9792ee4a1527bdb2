//! The pending input of one session: what waits, in which order, and when it may be delivered.
//!
//! [`Mailbox`] is a value. Input goes in by [`Mailbox::accept`], [`Mailbox::revoke`], [`Mailbox::replace`],
//! [`Mailbox::handle`] and [`Mailbox::cancel`]; what is to be delivered comes out of [`Mailbox::poll`], and what is to
//! be written down out of [`Mailbox::take_changes`]. It does not look into the content of a message.
//!
//! This room is pure: ids come in as arguments, nothing is read and nothing is waited for.

mod mailbox;
mod message;
mod outcome;
mod saved;
mod turn;

pub use mailbox::Mailbox;
pub use message::{ClientId, Dialect, Fate, Key, Message, MessageId, Mode};
pub use outcome::{Accepted, Cancelled, Delivery, Refusal, Revoked};
pub use saved::{Change, Saved};
pub use turn::{Event, InStream, PermissionId, ToolCallId};

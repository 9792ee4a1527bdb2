//! The pending input of one session: what waits, in which order, and what became of it.
//!
//! [`Mailbox`] is a value. Input goes in by [`Mailbox::accept`], [`Mailbox::revoke`] and [`Mailbox::replace`]; what is
//! delivered comes out of [`Mailbox::take_for_turn`] and [`Mailbox::take_steers`], and what is to be written down out of
//! [`Mailbox::take_changes`]. It does not look into the content of a message and knows no turn: when something may be
//! delivered is decided by the session that holds it.
//!
//! This room is pure: ids come in as arguments, nothing is read and nothing is waited for.

mod mailbox;
mod message;
mod outcome;
mod saved;

pub use mailbox::Mailbox;
pub use message::{
    ClientId, DeliveryMode, IdempotencyKey, InputDialect, MailboxMessage, MessageFate, MessageId,
};
pub use outcome::{AcceptedMessage, MailboxRefusal, RevokedMessage};
pub use saved::{MailboxChange, SavedMailbox};

//! The built-in agent: the tool loop of one session.
//!
//! [`start`] gives a [`Handle`], which takes what the user wants, and a stream of [`Event`]s, which tells what the agent
//! does. The agent knows nothing of connections, clients, pending input and storage. Its events are in the words of
//! version 2 of the protocol.
//!
//! A turn: the model is asked, what it says is passed on, the tools it calls are run one after the other, and so on until
//! it calls none. Before every question but the first, and before the turn ends, the agent comes to an
//! [`Event::BreakPoint`] and waits: what the user said meanwhile is taken in there.
//!
//! Every [`Handle::prompt`] is followed by exactly one [`Event::Idle`], also after [`Handle::cancel`], in whatever state it
//! comes. Before a cancelled turn's `Idle` the commands it started are stopped, its open tool calls are reported as
//! cancelled, and every `StreamStarted`, `ToolStarted` and `Paused` has got its counterpart.
//!
//! What the model says is untrusted. Tools reach files inside the session's directories only, with symbolic links
//! resolved; writing and running ask for permission first, as the session's mode says.
#![allow(clippy::disallowed_methods, reason = "this room reads and writes files and runs commands")]

mod config;
mod control;
mod error;
mod event;
mod handle;
mod history;
mod session;
mod tools;
mod update;

pub use error::Error;
pub use event::{ClientAnswer, Event, Setup, UserMessage};
pub use handle::{Handle, start};
pub use history::History;
pub use nudge_workspace::Environment;

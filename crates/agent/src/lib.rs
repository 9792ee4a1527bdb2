//! The built-in agent: the tool loop of one session.
//!
//! [`BuiltInAgent`] is a [`Backend`](nudge_backend::Backend): it takes what the user wants and tells what the agent does. The
//! agent knows nothing of connections, clients, pending input and storage. Its updates are version 2 `update` objects, never
//! `user_message` nor `state_update`: who owns the session reports those.
//!
//! A turn: the model is asked, what it says is passed on, the tools it calls are run one after the other, and so on until
//! it calls none. Before every question but the first, and before the turn ends, the agent comes to an
//! break-point and waits: what the user said meanwhile is taken in there.
//!
//! Every prompt is followed by exactly one end of a turn, also after a cancel, in whatever state it comes. Before the end of a
//! cancelled turn the commands it started are stopped, its open tool calls are reported as
//! cancelled, and every `StreamStarted`, `ToolStarted` and `Paused` has got its counterpart.
//!
//! What the model says is untrusted. Tools reach files inside the session's directories only, with symbolic links
//! resolved; writing and running ask for permission first, as the session's mode says.
#![allow(clippy::disallowed_methods, reason = "this room reads and writes files and runs commands")]

mod asked;
mod built_in;
mod config;
mod control;
mod error;
mod history;
mod model_options;
mod running_work;
mod session;
mod setup;
mod source;
mod tools;
mod update;

pub use built_in::BuiltInAgent;
pub use error::SetOptionError;
pub use history::Conversation;
pub use setup::AgentSetup;
pub use source::BuiltInSource;

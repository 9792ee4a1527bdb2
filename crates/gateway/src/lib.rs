//! One connection of a client, whatever carries it: what is offered to it, and who answers.
//!
//! A process has one [`Gateway`]. [`Gateway::connect`] makes a [`ClientConnection`] of any transport: standard input and
//! output, a socket, a pair in memory. Each message of the client goes the same way:
//!
//! | message | who answers | file |
//! | --- | --- | --- |
//! | `initialize` | what is offered, by Nudge and by the agent behind it | `initialize.rs`, `capabilities.rs` |
//! | `nes/*`, `document/*`, options of suggestion sessions | next edit suggestions, or the agent if it was chosen for them | `nes_methods.rs` |
//! | `_nudge/status`, `settle`, `questions`, `answer`, `agent_signed_in`, `stop` | the process itself | `control.rs` |
//! | `providers/*`, with the built-in agent | how its models are reached | `provider_methods.rs` |
//! | `authenticate`, `logout`, `auth/*`, with the built-in agent | how a user signs in | `sign_in.rs`, `setup_page/` |
//! | `session/new`, with the built-in agent and no model | a form first, if the client shows one | `first_run.rs` |
//! | `session/*` | the hub, `nudge_hub::SessionApi` | `crates/hub/src/methods.rs` |
//! | `authenticate`, `auth/login` by a method of the agent's that the client runs on a terminal | nobody: -32602 | `agent_behind.rs` |
//! | anything else | the agent behind the connection, on its lane, byte for byte; without one -32601 | `agent_behind.rs` |
//!
//! A connection ends with its transport, and no sooner. A transport whose sockets come and go, one end of a
//! [`pair`](nudge_peer::pair) for one, makes a connection that outlives each of them.
#![allow(clippy::disallowed_methods, reason = "this room reads the clock and says where the program is")]

mod agent_behind;
mod capabilities;
mod connection;
mod control;
mod first_run;
mod forms;
mod gateway;
mod initialize;
mod logins;
mod nes_methods;
mod provider_methods;
mod setup_page;
mod sign_in;

pub use agent_behind::{AgentFinder, ConnectionAgent};
pub use connection::{ClientConnection, ConnectionOptions};
pub use control::ProgramInfo;
pub use gateway::Gateway;
pub use logins::{LoginStore, SetupLogin};
pub use nes_methods::{NesClock, NesProvider};
pub use sign_in::LOGIN_VARIABLE;

//! Makes any downstream ACP agent offer the whole protocol.
//!
//! A [`DownstreamAgent`] is a program, or what another [`LaunchAgent`] reaches. It is started when it is needed and started again when it
//! dies. Connections that want the same agent share it, and with it the process, through an [`AgentPool`]. An [`AdaptedSession`] is one
//! session of it: it takes prompts, steers and cancels, and reports what the agent does, so that whoever owns the session can
//! treat it as it treats the built-in agent. How a steer gets into the agent is its [`SteerTier`].
//!
//! What is not about a session passes through an [`AgentLane`] as it came.
#![allow(clippy::disallowed_methods, reason = "this room starts processes and drives time")]

mod agent;
mod agent_messages;
mod agent_program;
mod auth_status;
mod calls;
mod chosen_options;
mod client_agent;
mod client_servers;
mod echo;
mod family;
mod goose_steers;
mod lane;
mod late_replay;
mod launch;
mod offers;
mod open;
mod open_requests;
mod pool;
mod prompt_run;
mod question;
mod qwen_steers;
mod recap;
mod remembered;
mod route;
mod routed;
mod running;
mod say;
mod serve;
mod session;
mod source;
mod standing;
mod terminal_sign_in;
mod tier;
mod tool_calls;
mod turn_so_far;
mod unnamed;

pub use agent::{DownstreamAgent, ListenerGuard};
pub use agent_program::{AgentProgram, AgentSettings};
pub use client_agent::ClientAgent;
pub use lane::AgentLane;
pub use launch::LaunchAgent;
pub use offers::AgentOffers;
pub use open::AgentSessionOpened;
pub use pool::AgentPool;
pub use remembered::sets_process;
pub use session::AdaptedSession;
pub use source::AdaptedSource;
pub use terminal_sign_in::{AGENT_LOGIN_VARIABLE, AgentLogin, SignInPlace, terminal_methods, through_nudge};
pub use tier::SteerTier;

//! The bridge between v1 and v2 of ACP: what one side says, as the other side says it.
//!
//! Frames of a session pass as they came where both sides speak the same version. Across versions they go through
//! here. What has no place in the other version is kept in `_meta.nudge`, and what passes untouched passes byte for
//! byte. The table of what becomes what is `spec/mapping.md`; each of its rows is tested.
//!
//! - [`UpdateKind`] says how each kind of update is treated, and [`IndexedUpdate`] is one of a session with what is looked
//!   at in it, found once.
//! - [`ToV1`] and [`ToV2`] remember what one client has seen of one session, because v2 changes what v1 can only
//!   append to, and names what v1 leaves nameless. What they remember is bounded.
//! - [`request_to_v1`], [`request_to_v2`], [`agent_to_v1`], [`agent_to_v2`] and [`prompt_answer`] take no memory.
//!
//! This room is pure: it reads and writes text, nothing else.
//!
//! Input that is not what it should be passes as it came: the one who reads it is the one to complain.

mod call;
mod call_members;
mod command;
mod config;
mod content;
mod diff;
mod indexed;
mod init;
mod join;
mod kind;
mod mcp;
mod message;
mod object;
mod patch;
mod permission;
mod plan;
mod recent;
mod request;
mod terminal;
mod to_v1;
mod to_v2;
mod turn;

pub use call::{CALL_CONTENT, SESSION_CONTENT};
pub use indexed::{CallProgress, IndexedUpdate, update_params};
pub use init::{agent_to_v1, agent_to_v2, client_init, client_to_v1, client_to_v2};
pub use join::JoinChunks;
pub use kind::{UpdateKind, UpdatePortion, UpdateSpeaker};
pub use request::{MethodCall, request_between, request_to_v1, request_to_v2};
pub use terminal::TERMINAL_TAIL;
pub use to_v1::{ToV1, V1Client};
pub use to_v2::ToV2;
pub use turn::{prompt_answer, turn_ended, turn_failed, turn_started};

use nudge_wire::RawJson;

/// How a session begins, or goes on, for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSessionSetup {
    /// The result of the request.
    pub result: RawJson,
    /// Updates that the client gets after it.
    pub updates: Vec<RawJson>,
}

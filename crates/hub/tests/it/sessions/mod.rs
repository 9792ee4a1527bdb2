//! Sessions of the built-in agent as clients see them, in both versions.

mod cancel;
mod content;
mod dialects;
mod environment;
mod lifecycle;
mod pending;
mod permission;
mod protocol;
mod queue;
mod shared;
mod steer;

use crate::connected::{Client, Place, both, content, is_turn_end};

//! Child processes that end with their owner, and everything they have started with them.
//!
//! A [`ProcessCommand`] starts a [`RunningChild`] in a process group of its own. Its [`ProcessTree`] is the child with everything it has started,
//! also what left the group, the session or lost its parent: it is found by a variable in its environment and by its
//! ancestors. Dropping a tree kills it.
//!
//! That needs a living owner. For an owner that is killed there is the [`shim`]: the child is then started by a small
//! keeper process, which outlives the owner by the moment it takes to kill what the owner has left behind.
#![allow(clippy::disallowed_methods, reason = "this room starts processes and reads /proc")]

mod command;
mod proc;
pub mod shim;
mod tree;

pub use command::{ProcessCommand, RunningChild, StartedProcess};
pub use tree::{ProcessTree, unmark};

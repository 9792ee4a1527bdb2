//! What an agent may do in a session's directories: files and terminals.
//!
//! A version 1 agent asks its client for files and terminals. Where no client offers them, a [`Workspace`] answers in its
//! place; what a version 2 client is to see of the terminals comes out of its [`TerminalUpdates`].
//!
//! Below are the parts of it, which the built-in agent uses as well: [`SessionDirectories`] say which files may be reached,
//! [`files`] reads and writes them, [`RunningCommand`] is a command with what it says, [`output`] is what is kept of that.
//!
//! Files are confined to the directories: links are resolved first, and then no link is followed, so that one that is put
//! in the way between the look and the deed leads nowhere. Commands begin in the directories; what they do there is theirs.
#![allow(clippy::disallowed_methods, reason = "this room reads and writes files and runs commands")]

mod directories;
mod environment;
pub mod files;
mod guarded;
mod ids;
mod line;
pub mod output;
mod running;
mod tail;
mod terminal;
mod terminals;
pub mod update;
mod updates;
mod workspace;

pub use directories::{PathError, SessionDirectories, WorkspacePath};
pub use environment::in_environment;
pub use guarded::GuardedReason;
pub use ids::IdSource;
pub use running::{CommandEvent, CommandExit, RunningCommand};
pub use updates::TerminalUpdates;
pub use workspace::Workspace;

/// Does what blocks on a thread for it.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going down, and with it whoever waits.
            Err(_) => std::future::pending().await,
        },
    }
}

//! Durable sessions: what was said, what is pending, and who may write.
//!
//! [`open`] gives a [`Store`]. What changes a session is a [`WriteBatch`] of [`StoreOp`]s, which is written as a whole or not at
//! all, and only with the session's current [`SessionLease`]. Its [`WriteTicket`] resolves once it is on the disk for good. Batches
//! that come while the disk is busy share the next transaction.
//!
//! ```
//! use nudge_store::{SessionRow, StoreOp, WriteBatch, open};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = open("memory").await?.store;
//! let lease = store.acquire("s1", "me", 1_000, 60_000).await?.expect("nobody else is here");
//! let session = SessionRow { id: "s1".into(), cwd: "/project".into(), ..SessionRow::default() };
//! store.commit(WriteBatch { session: "s1".into(), lease, ops: vec![StoreOp::CreateSession(session)] }).await?;
//! assert!(store.session("s1").await?.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! No clock decides what is stored: time is an argument.
#![allow(clippy::disallowed_methods, reason = "this room keeps files and times how long a write may wait")]

mod body;
mod entry;
mod error;
mod input;
mod lease;
mod observer;
mod pages;
mod queue;
mod session;
mod sql;
mod sqlite;
mod store;

use std::{fmt, path::PathBuf, sync::Arc};

pub use entry::{EntrySeq, FrameDialect, MAX_SEQ, PageLimit, TranscriptEntry};
pub use error::StoreError;
pub use input::{InputId, InputState, StoredInput};
pub use lease::{HeldLease, SessionLease};
pub use observer::{CommitMoment, CommitObserver};
pub use pages::TranscriptPages;
pub use session::{Millis, SessionChange, SessionCursor, SessionFilter, SessionId, SessionPage, SessionRow};
pub use store::{ReadReply, Store, StoreOp, WriteBatch, WriteCounts, WriteTicket};

/// A store that was opened.
#[derive(Clone)]
pub struct OpenedStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Where a damaged file was moved to, if there was one. The store is then a new one.
    pub set_aside: Option<PathBuf>,
}

impl fmt::Debug for OpenedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedStore").field("set_aside", &self.set_aside).finish_non_exhaustive()
    }
}

/// Opens the store at `url`: `sqlite:PATH` or a plain path for a file, which is begun if there is none, or `memory`.
pub async fn open(url: &str) -> Result<OpenedStore, StoreError> {
    open_observed(url, None).await
}

/// As [`open`], and tells `observer` of every commit.
pub async fn open_observed(url: &str, observer: Option<CommitObserver>) -> Result<OpenedStore, StoreError> {
    let (store, set_aside) = sqlite::open(sqlite::StorePlace::parse(url)?, observer).await?;
    Ok(OpenedStore { store: Arc::new(store), set_aside })
}

/// Looks at the whole store at `url` and changes nothing: a damaged file stays where it is, and one that is not there is not
/// begun. Gives the number of sessions.
pub async fn check(url: &str) -> Result<u64, StoreError> {
    sqlite::check(&sqlite::StorePlace::parse(url)?).await
}

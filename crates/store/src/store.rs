//! What a store can do, whichever database is behind it.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::oneshot;

use crate::{
    StoreError,
    entry::{EntrySeq, PageLimit, TranscriptEntry},
    input::{InputId, InputState, StoredInput},
    lease::{HeldLease, SessionLease},
    session::{Millis, SessionChange, SessionCursor, SessionFilter, SessionId, SessionPage, SessionRow},
};

/// What a read gives, later.
pub type ReadReply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// One thing that a commit does to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreOp {
    /// Creates the session; its id is that of the batch.
    CreateSession(SessionRow),
    /// Changes its row.
    UpdateSession(SessionChange),
    /// Deletes it with its transcript, its inputs and its lease.
    DeleteSession,
    /// Adds an entry to the transcript. Its number has to be above all those there are.
    Append(TranscriptEntry),
    /// Copies the entries of another session up to and with a number, for a fork. There must be none with these numbers.
    CopyTranscript {
        /// The session to copy from.
        from: SessionId,
        /// The last number to copy.
        up_to: EntrySeq,
    },
    /// Adds an input.
    AddInput(StoredInput),
    /// Gives a pending input another content (raw JSON text).
    ReplaceInput {
        /// Which one.
        id: InputId,
        /// Its content from now on.
        content: String,
    },
    /// Says what became of a pending input; its content is dropped.
    SetInput {
        /// Which one.
        id: InputId,
        /// What became of it: anything but pending.
        state: InputState,
    },
    /// Forgets an input that was not to be taken: a pending one is removed, of any other the key is free again.
    ForgetInput {
        /// Which one.
        id: InputId,
    },
}

/// What is written together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteBatch {
    /// The session all of it is about.
    pub session: SessionId,
    /// The right to write to it.
    pub lease: SessionLease,
    /// What to do, in this order.
    pub ops: Vec<StoreOp>,
}

impl WriteBatch {
    /// About how many bytes it takes up while it waits.
    pub(crate) fn weight(&self) -> usize {
        self.ops.iter().map(|op| size_of::<StoreOp>() + op.text()).sum()
    }
}

impl StoreOp {
    fn text(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::Append(entry) => {
                let ids = optional(&entry.message_id) + optional(&entry.tool_call_id);
                entry.frame.len() + entry.kind.len() + ids
            }
            Self::AddInput(input) => optional(&input.content) + optional(&input.key),
            Self::ReplaceInput { content, .. } => content.len(),
            Self::CreateSession(session) => session.config.len() + optional(&session.title),
            Self::UpdateSession(change) => {
                optional(&change.config) + change.title.as_ref().map_or(0, optional)
            }
            Self::SetInput { .. }
            | Self::ForgetInput { .. }
            | Self::CopyTranscript { .. }
            | Self::DeleteSession => 0,
        }
    }
}

/// How much was written since the store was opened, for measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// Transactions committed: each is one wait for the disk.
    pub transactions: u64,
    /// Batches committed in them.
    pub batches: u64,
    /// Batches refused.
    pub refused: u64,
    /// Transactions written a second time, batch by batch, because one of several batches could not be written.
    pub repeated: u64,
}

/// Durable sessions.
///
/// Reads see everything whose ticket has resolved.
pub trait Store: Send + Sync + 'static {
    /// Writes a batch as soon as possible, together with all that waits. Batches are written in the order of the calls.
    fn commit(&self, batch: WriteBatch) -> WriteTicket;

    /// Writes a batch that is not urgent: it may wait a few milliseconds for company. The order is that of the calls to
    /// this and to [`commit`](Self::commit).
    fn append(&self, batch: WriteBatch) -> WriteTicket;

    /// Whether so little waits to be written that more may come. Past a bound far beyond that a batch is refused, so
    /// whoever can wait waits for [`room`](Self::room) first.
    fn has_room(&self) -> bool;

    /// Waits until there is room. Safe to drop and call again.
    fn room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The row of a session.
    fn session<'a>(&'a self, id: &'a str) -> ReadReply<'a, Option<SessionRow>>;

    /// A page of at most `limit` sessions, the last changed first.
    fn sessions<'a>(
        &'a self,
        filter: &'a SessionFilter,
        after: Option<&'a SessionCursor>,
        limit: u32,
    ) -> ReadReply<'a, SessionPage>;

    /// The transcript from entry `from` on, as much as `limit` allows; nothing for a session that is not there.
    fn transcript<'a>(
        &'a self,
        id: &'a str,
        from: EntrySeq,
        limit: PageLimit,
    ) -> ReadReply<'a, Vec<TranscriptEntry>>;

    /// The number of the last entry.
    fn last_seq<'a>(&'a self, id: &'a str) -> ReadReply<'a, Option<EntrySeq>>;

    /// The inputs of a session, whatever became of them, in order.
    fn inputs<'a>(&'a self, id: &'a str) -> ReadReply<'a, Vec<StoredInput>>;

    /// Takes the lease of a session, existing or not, if nobody holds it at `now`; it runs out after `ttl` milliseconds.
    ///
    /// A lease that is held is held for its own owner too.
    fn acquire<'a>(
        &'a self,
        session: &'a str,
        owner: &'a str,
        now: Millis,
        ttl: Millis,
    ) -> ReadReply<'a, Result<SessionLease, HeldLease>>;

    /// Lets leases run until `ttl` milliseconds after `now`; gives back those that are lost.
    fn renew<'a>(
        &'a self,
        leases: &'a [SessionLease],
        now: Millis,
        ttl: Millis,
    ) -> ReadReply<'a, Vec<SessionLease>>;

    /// Gives a lease back: anyone may take it, and nothing more is written with it. One that is lost stays lost.
    fn release(&self, lease: SessionLease) -> ReadReply<'_, ()>;

    /// Frees all leases of an owner whose process is known to be gone; says how many.
    fn release_owner<'a>(&'a self, owner: &'a str) -> ReadReply<'a, u64>;

    /// Waits until all that was given before is on the disk, or was refused.
    fn settle(&self) -> ReadReply<'_, ()>;

    /// What was written so far.
    fn counts(&self) -> WriteCounts;

    /// Writes what waits and closes the files. Whatever is asked for later fails with [`StoreError::Closed`].
    fn close(&self) -> ReadReply<'_, ()>;
}

/// A batch on its way to the disk: a future that resolves once it is there for good, or not there at all.
///
/// Dropping it does not call the batch back.
#[derive(Debug)]
#[must_use = "a batch is durable only when its ticket says so"]
pub struct WriteTicket(Waiting);

#[derive(Debug)]
enum Waiting {
    For(oneshot::Receiver<Result<(), StoreError>>),
    Refused(Option<StoreError>),
}

impl WriteTicket {
    /// For what the store tells by this channel. If it tells nothing, it was closed.
    pub fn new(told: oneshot::Receiver<Result<(), StoreError>>) -> Self {
        Self(Waiting::For(told))
    }

    /// For what is refused at once.
    pub fn refused(error: StoreError) -> Self {
        Self(Waiting::Refused(Some(error)))
    }
}

impl Future for WriteTicket {
    type Output = Result<(), StoreError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Waiting::For(told) => Pin::new(told).poll(cx).map(|told| told.unwrap_or(Err(StoreError::Closed))),
            Waiting::Refused(error) => Poll::Ready(Err(error.take().unwrap_or(StoreError::Closed))),
        }
    }
}

//! What a store can do, whichever database is behind it.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::oneshot;

use crate::{
    StoreError,
    entry::{Entry, Limit, Seq},
    input::{Input, InputId, InputState},
    lease::{Held, Lease},
    session::{Cursor, Millis, Page, Session, SessionChange, SessionFilter, SessionId},
};

/// What a read gives, later.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// One thing that a commit does to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Creates the session; its id is that of the batch.
    CreateSession(Session),
    /// Changes its row.
    UpdateSession(SessionChange),
    /// Deletes it with its transcript, its inputs and its lease.
    DeleteSession,
    /// Adds an entry to the transcript. Its number has to be above all those there are.
    Append(Entry),
    /// Copies the entries of another session up to and with a number, for a fork. There must be none with these numbers.
    CopyTranscript {
        /// The session to copy from.
        from: SessionId,
        /// The last number to copy.
        up_to: Seq,
    },
    /// Adds an input.
    AddInput(Input),
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
}

/// What is written together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The session all of it is about.
    pub session: SessionId,
    /// The right to write to it.
    pub lease: Lease,
    /// What to do, in this order.
    pub ops: Vec<Op>,
}

impl Batch {
    /// About how many bytes it takes up while it waits.
    pub(crate) fn weight(&self) -> usize {
        self.ops.iter().map(|op| size_of::<Op>() + op.text()).sum()
    }
}

impl Op {
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
            Self::SetInput { .. } | Self::CopyTranscript { .. } | Self::DeleteSession => 0,
        }
    }
}

/// How much was written since the store was opened, for measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
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
    fn commit(&self, batch: Batch) -> Ticket;

    /// Writes a batch that is not urgent: it may wait a few milliseconds for company. The order is that of the calls to
    /// this and to [`commit`](Self::commit).
    fn append(&self, batch: Batch) -> Ticket;

    /// Whether so little waits to be written that more may come. Past a bound far beyond that a batch is refused, so
    /// whoever can wait waits for [`room`](Self::room) first.
    fn has_room(&self) -> bool;

    /// Waits until there is room. Safe to drop and call again.
    fn room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The row of a session.
    fn session<'a>(&'a self, id: &'a str) -> Reply<'a, Option<Session>>;

    /// A page of at most `limit` sessions, the last changed first.
    fn sessions<'a>(
        &'a self,
        filter: &'a SessionFilter,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Reply<'a, Page>;

    /// The transcript from entry `from` on, as much as `limit` allows; nothing for a session that is not there.
    fn transcript<'a>(&'a self, id: &'a str, from: Seq, limit: Limit) -> Reply<'a, Vec<Entry>>;

    /// The number of the last entry.
    fn last_seq<'a>(&'a self, id: &'a str) -> Reply<'a, Option<Seq>>;

    /// The inputs of a session, whatever became of them, in order.
    fn inputs<'a>(&'a self, id: &'a str) -> Reply<'a, Vec<Input>>;

    /// Takes the lease of a session, existing or not, if nobody holds it at `now`; it runs out after `ttl` milliseconds.
    ///
    /// A lease that is held is held for its own owner too.
    fn acquire<'a>(
        &'a self,
        session: &'a str,
        owner: &'a str,
        now: Millis,
        ttl: Millis,
    ) -> Reply<'a, Result<Lease, Held>>;

    /// Lets leases run until `ttl` milliseconds after `now`; gives back those that are lost.
    fn renew<'a>(&'a self, leases: &'a [Lease], now: Millis, ttl: Millis) -> Reply<'a, Vec<Lease>>;

    /// Gives a lease back: anyone may take it, and nothing more is written with it. One that is lost stays lost.
    fn release(&self, lease: Lease) -> Reply<'_, ()>;

    /// Frees all leases of an owner whose process is known to be gone; says how many.
    fn release_owner<'a>(&'a self, owner: &'a str) -> Reply<'a, u64>;

    /// Waits until all that was given before is on the disk, or was refused.
    fn settle(&self) -> Reply<'_, ()>;

    /// What was written so far.
    fn counts(&self) -> Counts;

    /// Writes what waits and closes the files. Whatever is asked for later fails with [`StoreError::Closed`].
    fn close(&self) -> Reply<'_, ()>;
}

/// A batch on its way to the disk: a future that resolves once it is there for good, or not there at all.
///
/// Dropping it does not call the batch back.
#[derive(Debug)]
#[must_use = "a batch is durable only when its ticket says so"]
pub struct Ticket(Waiting);

#[derive(Debug)]
enum Waiting {
    For(oneshot::Receiver<Result<(), StoreError>>),
    Refused(Option<StoreError>),
}

impl Ticket {
    /// For what the store tells by this channel. If it tells nothing, it was closed.
    pub fn new(told: oneshot::Receiver<Result<(), StoreError>>) -> Self {
        Self(Waiting::For(told))
    }

    /// For what is refused at once.
    pub fn refused(error: StoreError) -> Self {
        Self(Waiting::Refused(Some(error)))
    }
}

impl Future for Ticket {
    type Output = Result<(), StoreError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Waiting::For(told) => Pin::new(told).poll(cx).map(|told| told.unwrap_or(Err(StoreError::Closed))),
            Waiting::Refused(error) => Poll::Ready(Err(error.take().unwrap_or(StoreError::Closed))),
        }
    }
}

//! The store in a SQLite file.
//!
//! One thread writes, on a connection of its own; reads have other connections and never wait for the disk to sync.

mod apply;
mod file;
mod lease;
mod migrate;
mod read;
mod readers;
mod value;
mod writer;

use std::{path::PathBuf, pin::Pin, sync::Arc, thread};

use sqlx::{ConnectOptions as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::oneshot;

use crate::{
    CommitObserver, EntrySeq, HeldLease, Millis, PageLimit, ReadReply, SessionCursor, SessionFilter,
    SessionLease, SessionPage, SessionRow, Store, StoreError, StoredInput, TranscriptEntry, WriteBatch,
    WriteCounts, WriteTicket, queue,
};
use file::DamageJudge;
pub(crate) use file::{StorePlace, check};
use readers::ReaderPool;
use writer::{WriteAnswer, WriteAsk, WriterReady, WriterShared, WriterWork};

/// Opens the store; also says where a damaged file was moved to.
pub(crate) async fn open(
    place: StorePlace,
    observer: Option<CommitObserver>,
) -> Result<(SqliteStore, Option<PathBuf>), StoreError> {
    let shared = Arc::new(WriterShared::new());
    let (told, opened) = oneshot::channel();
    let theirs = Arc::clone(&shared);
    thread::Builder::new()
        .name("nudge-store".to_owned())
        .spawn(move || writer::run(&place, &theirs, observer, told))
        .map_err(StoreError::io("starting the thread that writes", ""))?;
    let WriterReady { reading, judge, set_aside } = opened.await.unwrap_or(Err(StoreError::Closed))?;
    Ok((SqliteStore { shared, readers: ReaderPool::new(reading), judge }, set_aside))
}

/// A handle on the writing thread and the connections for reading.
pub(crate) struct SqliteStore {
    shared: Arc<WriterShared>,
    readers: ReaderPool,
    judge: DamageJudge,
}

impl SqliteStore {
    fn put(&self, batch: WriteBatch, urgent: bool) -> WriteTicket {
        let (told, ticket) = oneshot::channel();
        let bytes = batch.weight();
        match self.shared.queue.put(WriterWork::Batch(batch, told), bytes, urgent) {
            Ok(()) => WriteTicket::new(ticket),
            Err(refused) => WriteTicket::refused(refused.into()),
        }
    }

    async fn read<T>(
        &self,
        read: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut reader = self.readers.get().await.map_err(|error| self.judge.judge(error))?;
        read(&mut reader).await.map_err(|error| self.judge.judge(error))
    }

    async fn ask(&self, ask: WriteAsk) -> Result<WriteAnswer, StoreError> {
        let (told, answer) = oneshot::channel();
        self.shared.queue.put(WriterWork::Ask(ask, told), 0, true)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl From<queue::QueueRefusal> for StoreError {
    fn from(refused: queue::QueueRefusal) -> Self {
        match refused {
            queue::QueueRefusal::Full => Self::Full { limit: queue::MAX_WAITING },
            queue::QueueRefusal::TooLarge => Self::TooLarge { limit: queue::MAX_WAITING },
            queue::QueueRefusal::Closed => Self::Closed,
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}

impl Store for SqliteStore {
    fn commit(&self, batch: WriteBatch) -> WriteTicket {
        self.put(batch, true)
    }

    fn append(&self, batch: WriteBatch) -> WriteTicket {
        self.put(batch, false)
    }

    fn has_room(&self) -> bool {
        self.shared.queue.has_room()
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.shared.queue.room())
    }

    fn session<'a>(&'a self, id: &'a str) -> ReadReply<'a, Option<SessionRow>> {
        Box::pin(self.read(async move |conn| read::session(conn, id).await))
    }

    fn sessions<'a>(
        &'a self,
        filter: &'a SessionFilter,
        after: Option<&'a SessionCursor>,
        limit: u32,
    ) -> ReadReply<'a, SessionPage> {
        Box::pin(self.read(async move |conn| read::sessions(conn, filter, after, limit).await))
    }

    fn transcript<'a>(
        &'a self,
        id: &'a str,
        from: EntrySeq,
        limit: PageLimit,
    ) -> ReadReply<'a, Vec<TranscriptEntry>> {
        Box::pin(self.read(async move |conn| read::transcript(conn, id, from, limit).await))
    }

    fn last_seq<'a>(&'a self, id: &'a str) -> ReadReply<'a, Option<EntrySeq>> {
        Box::pin(self.read(async move |conn| read::last_seq(conn, id).await))
    }

    fn inputs<'a>(&'a self, id: &'a str) -> ReadReply<'a, Vec<StoredInput>> {
        Box::pin(self.read(async move |conn| read::inputs(conn, id).await))
    }

    fn acquire<'a>(
        &'a self,
        session: &'a str,
        owner: &'a str,
        now: Millis,
        ttl: Millis,
    ) -> ReadReply<'a, Result<SessionLease, HeldLease>> {
        let ask = WriteAsk::Acquire { session: session.into(), owner: owner.to_owned(), now, ttl };
        Box::pin(async move { Ok(self.ask(ask).await?.into_acquired()) })
    }

    fn renew<'a>(
        &'a self,
        leases: &'a [SessionLease],
        now: Millis,
        ttl: Millis,
    ) -> ReadReply<'a, Vec<SessionLease>> {
        let ask = WriteAsk::Renew { leases: leases.to_vec(), until: now.saturating_add(ttl) };
        Box::pin(async move { Ok(self.ask(ask).await?.into_lost()) })
    }

    fn release(&self, lease: SessionLease) -> ReadReply<'_, ()> {
        Box::pin(async move { self.ask(WriteAsk::Release(lease)).await.map(drop) })
    }

    fn release_owner<'a>(&'a self, owner: &'a str) -> ReadReply<'a, u64> {
        let ask = WriteAsk::ReleaseOwner(owner.to_owned());
        Box::pin(async move { Ok(self.ask(ask).await?.into_freed()) })
    }

    fn settle(&self) -> ReadReply<'_, ()> {
        Box::pin(async move { self.ask(WriteAsk::Settle).await.map(drop) })
    }

    fn counts(&self) -> WriteCounts {
        self.shared.counts()
    }

    fn close(&self) -> ReadReply<'_, ()> {
        Box::pin(async move {
            // Readers first: the last connection to close tidies the file up, and it has to be one that can write.
            self.readers.close().await;
            self.shared.queue.close();
            self.shared.ended().await;
            Ok(())
        })
    }
}

/// What every connection has in common.
fn base_options(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .busy_timeout(std::time::Duration::from_secs(10))
        .create_if_missing(false)
        .statement_cache_capacity(128)
        .disable_statement_logging()
}

/// Runs one statement that takes nothing and gives nothing.
async fn execute(conn: &mut SqliteConnection, sql: &'static str) -> Result<u64, sqlx::Error> {
    Ok(sqlx::query(sql).execute(conn).await?.rows_affected())
}

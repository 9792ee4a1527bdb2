//! The thread that writes: takes what waits, writes it in one transaction, and tells each how it went.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::{oneshot, watch};

use super::{
    apply::apply,
    execute,
    file::{self, DamageJudge, OpenedFile, StorePlace},
    lease,
};
use crate::{
    CommitMoment, CommitObserver, HeldLease, Millis, SessionId, SessionLease, StoreError, WriteBatch,
    WriteCounts, queue::JobQueue,
};

/// What the thread is given to do.
pub(super) enum WriterWork {
    Batch(WriteBatch, oneshot::Sender<Result<(), StoreError>>),
    Ask(WriteAsk, oneshot::Sender<Result<WriteAnswer, StoreError>>),
}

/// What is written besides batches.
pub(super) enum WriteAsk {
    Acquire {
        session: SessionId,
        owner: String,
        now: Millis,
        ttl: Millis,
    },
    Renew {
        leases: Vec<SessionLease>,
        until: Millis,
    },
    Release(SessionLease),
    ReleaseOwner(String),
    /// Nothing: who asks wants to know that all before it is written.
    Settle,
}

/// What came of a [`WriteAsk`].
pub(super) enum WriteAnswer {
    Done,
    Acquired(Result<SessionLease, HeldLease>),
    Lost(Vec<SessionLease>),
    Freed(u64),
}

impl WriteAnswer {
    pub(super) fn into_acquired(self) -> Result<SessionLease, HeldLease> {
        let Self::Acquired(acquired) = self else {
            unreachable!("asking for a lease gives a lease or its holder")
        };
        acquired
    }

    pub(super) fn into_lost(self) -> Vec<SessionLease> {
        let Self::Lost(lost) = self else { unreachable!("renewing gives what is lost") };
        lost
    }

    pub(super) fn into_freed(self) -> u64 {
        let Self::Freed(freed) = self else { unreachable!("freeing gives a number") };
        freed
    }
}

/// What the thread and its handle share.
pub(super) struct WriterShared {
    pub(super) queue: JobQueue<WriterWork>,
    ended: watch::Sender<bool>,
    transactions: AtomicU64,
    batches: AtomicU64,
    refused: AtomicU64,
    repeated: AtomicU64,
}

impl WriterShared {
    pub(super) fn new() -> Self {
        Self {
            queue: JobQueue::new(),
            ended: watch::Sender::new(false),
            transactions: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
        }
    }

    pub(super) fn counts(&self) -> WriteCounts {
        WriteCounts {
            transactions: self.transactions.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            repeated: self.repeated.load(Ordering::Relaxed),
        }
    }

    /// Waits until the thread has closed its files.
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        ended.wait_for(|ended| *ended).await.expect("the sender lives as long as `self`");
    }
}

/// What the thread tells once the file is open.
pub(super) struct WriterReady {
    pub(super) reading: SqliteConnectOptions,
    pub(super) judge: DamageJudge,
    pub(super) set_aside: Option<PathBuf>,
}

/// Opens the file, says so, and writes until the queue is closed and empty.
pub(super) fn run(
    place: &StorePlace,
    shared: &WriterShared,
    observer: Option<CommitObserver>,
    told: oneshot::Sender<Result<WriterReady, StoreError>>,
) {
    // However this ends, whoever waits is told.
    let _end = Ending(shared);
    let runtime = match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return drop(told.send(Err(StoreError::io("starting the thread that writes", "")(error))));
        }
    };
    let opened = match runtime.block_on(file::open(place)) {
        Ok(opened) => opened,
        Err(error) => return drop(told.send(Err(error))),
    };
    let OpenedFile { conn, reading, judge, set_aside, in_use } = opened;
    if told.send(Ok(WriterReady { reading, judge: judge.clone(), set_aside })).is_err() {
        return;
    }
    let mut writer = Writer { conn, judge, shared, observer };
    while let Some(group) = shared.queue.take() {
        let outcomes = runtime.block_on(writer.write(&group));
        writer.tell(group, outcomes);
    }
    if let Err(error) = runtime.block_on(writer.conn.close()) {
        tracing::warn!(%error, "the store did not close cleanly; nothing that was written is lost");
    }
    drop(in_use);
}

struct Ending<'s>(&'s WriterShared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.queue.close();
        // After a panic there may be work left. Dropping it tells whoever waits for it.
        while self.0.queue.take().is_some() {}
        self.0.ended.send_replace(true);
    }
}

/// How the work of a group is kept apart.
#[derive(Clone, Copy)]
enum Care {
    /// All as one: if one cannot be written, none is.
    Together,
    /// Each can fail alone.
    Each,
}

struct Writer<'s> {
    conn: SqliteConnection,
    judge: DamageJudge,
    shared: &'s WriterShared,
    observer: Option<CommitObserver>,
}

type Outcomes = Result<Vec<Result<WriteAnswer, StoreError>>, StoreError>;

impl Writer<'_> {
    async fn write(&mut self, group: &[WriterWork]) -> Outcomes {
        match self.attempt(group, Care::Together).await {
            Err(error) if error.is_of_the_batch() && group.len() == 1 => Ok(vec![Err(error)]),
            Err(error) if error.is_of_the_batch() => {
                self.shared.repeated.fetch_add(1, Ordering::Relaxed);
                self.attempt(group, Care::Each).await
            }
            outcomes => outcomes,
        }
    }

    /// One transaction. If it fails it has left nothing.
    async fn attempt(&mut self, group: &[WriterWork], care: Care) -> Outcomes {
        execute(&mut self.conn, "BEGIN IMMEDIATE").await?;
        let outcomes = match self.fill(group, care).await {
            Ok(outcomes) => self.commit().await.map(|()| outcomes),
            failed => failed,
        };
        if outcomes.is_err() {
            // Some errors end the transaction by themselves; then there is nothing to roll back.
            let _ = execute(&mut self.conn, "ROLLBACK").await;
        }
        outcomes
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        self.tell_observer(CommitMoment::Before);
        execute(&mut self.conn, "COMMIT").await?;
        self.tell_observer(CommitMoment::After);
        self.shared.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn tell_observer(&self, moment: CommitMoment) {
        if let Some(observer) = &self.observer {
            observer(moment);
        }
    }

    async fn fill(&mut self, group: &[WriterWork], care: Care) -> Outcomes {
        let mut outcomes = Vec::with_capacity(group.len());
        let mut rest = group;
        while let Some(first) = rest.first() {
            let run = match (care, first) {
                (Care::Together, WriterWork::Batch(..)) => {
                    rest.iter().take_while(|work| matches!(work, WriterWork::Batch(..))).count()
                }
                _ => 1,
            };
            let (now, later) = rest.split_at(run);
            match care {
                Care::Together => outcomes.extend(self.step(now).await?),
                Care::Each => outcomes.push(self.step_alone(now).await?),
            }
            rest = later;
        }
        Ok(outcomes)
    }

    /// Does one piece of work so that it leaves no trace if it fails.
    async fn step_alone(
        &mut self,
        work: &[WriterWork],
    ) -> Result<Result<WriteAnswer, StoreError>, StoreError> {
        execute(&mut self.conn, "SAVEPOINT alone").await?;
        let outcome = match self.step(work).await {
            Ok(mut outcomes) => outcomes.pop().expect("one piece of work has one outcome"),
            Err(error) if error.is_of_the_batch() => {
                execute(&mut self.conn, "ROLLBACK TO alone").await?;
                Err(error)
            }
            Err(error) => return Err(error),
        };
        execute(&mut self.conn, "RELEASE alone").await?;
        Ok(outcome)
    }

    /// Does several batches, or one piece of other work.
    async fn step(&mut self, work: &[WriterWork]) -> Outcomes {
        if let [WriterWork::Ask(ask, _)] = work {
            return Ok(vec![Ok(self.answer(ask).await?)]);
        }
        let batches: Vec<&WriteBatch> = work
            .iter()
            .filter_map(|work| match work {
                WriterWork::Batch(batch, _) => Some(batch),
                WriterWork::Ask(..) => None,
            })
            .collect();
        let outcomes = apply(&mut self.conn, &batches).await?;
        Ok(outcomes.into_iter().map(|outcome| outcome.map(|()| WriteAnswer::Done)).collect())
    }

    async fn answer(&mut self, ask: &WriteAsk) -> Result<WriteAnswer, StoreError> {
        let conn = &mut self.conn;
        Ok(match ask {
            WriteAsk::Acquire { session, owner, now, ttl } => {
                WriteAnswer::Acquired(lease::acquire(conn, session, owner, *now, *ttl).await?)
            }
            WriteAsk::Renew { leases, until } => WriteAnswer::Lost(lease::renew(conn, leases, *until).await?),
            WriteAsk::Release(given) => lease::release(conn, given).await.map(|()| WriteAnswer::Done)?,
            WriteAsk::ReleaseOwner(owner) => WriteAnswer::Freed(lease::release_owner(conn, owner).await?),
            WriteAsk::Settle => WriteAnswer::Done,
        })
    }

    fn tell(&self, group: Vec<WriterWork>, outcomes: Outcomes) {
        let outcomes = outcomes.map_err(|error| self.judge.judge(error));
        let outcomes = outcomes.unwrap_or_else(|error| group.iter().map(|_| Err(error.clone())).collect());
        for (work, outcome) in group.into_iter().zip(outcomes) {
            // Whoever asked may have stopped waiting.
            match work {
                WriterWork::Batch(_, told) => {
                    let counter = if outcome.is_ok() { &self.shared.batches } else { &self.shared.refused };
                    counter.fetch_add(1, Ordering::Relaxed);
                    let _ = told.send(outcome.map(drop));
                }
                WriterWork::Ask(_, told) => drop(told.send(outcome)),
            }
        }
    }
}

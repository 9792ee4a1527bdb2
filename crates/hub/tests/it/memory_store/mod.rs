//! A store without a disk and a thread: it answers at once, unless the test holds its writes up or has no room for them.

mod state;

use std::{future::Future, pin::Pin};

use nudge_store::{
    EntrySeq, HeldLease, Millis, PageLimit, ReadReply, SessionCursor, SessionFilter, SessionLease,
    SessionPage, SessionRow, Store, StoreError, StoredInput, TranscriptEntry, WriteBatch, WriteCounts,
    WriteTicket,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot};

use state::State;

/// A store in memory. It outlives the hubs that use it, as a file does.
#[derive(Default)]
pub(crate) struct MemoryStore {
    state: Mutex<State>,
    has_room: Notify,
}

impl MemoryStore {
    /// From now on nothing is written, for this reason.
    pub(crate) fn fail(&self, failure: StoreError) {
        self.state().failure = Some(failure);
    }

    /// From now on there is no room.
    pub(crate) fn fill(&self) {
        self.fail(StoreError::DiskFull);
    }

    /// It can be written again.
    pub(crate) fn make_room(&self) {
        self.state().failure = None;
    }

    /// From now on writes wait.
    pub(crate) fn hold(&self) {
        self.state().held.get_or_insert_default();
    }

    /// What waited is written, and nothing waits any more.
    pub(crate) fn go_on(&self) {
        let mut state = self.state();
        for (batch, told) in state.held.take().unwrap_or_default() {
            // Whoever waited may be gone.
            let _ = told.send(state.write(&batch));
        }
    }

    /// How many writes wait.
    pub(crate) fn waiting(&self) -> usize {
        self.state().held.as_ref().map_or(0, Vec::len)
    }

    /// From now on it says that too much waits to be written, or not any more.
    pub(crate) fn set_behind(&self, is_behind: bool) {
        self.state().is_behind = is_behind;
        self.has_room.notify_waiters();
    }

    /// The kinds of the entries of a session, in order.
    pub(crate) fn kinds(&self, session: &str) -> Vec<String> {
        let state = self.state();
        state.sessions[session].entries.iter().map(|entry| entry.kind.clone()).collect()
    }

    /// Whether anybody holds a lease.
    pub(crate) fn is_leased(&self, session: &str) -> bool {
        self.state().leases.contains_key(session)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn put(&self, batch: WriteBatch) -> WriteTicket {
        let mut state = self.state();
        let (told, ticket) = oneshot::channel();
        match &mut state.held {
            Some(held) => held.push((batch, told)),
            None => drop(told.send(state.write(&batch))),
        }
        WriteTicket::new(ticket)
    }

    /// Changes what is no batch.
    fn change<T: Send + 'static>(&self, how: impl FnOnce(&mut State) -> T) -> ReadReply<'_, T> {
        let mut state = self.state();
        let changed = match state.failure.clone() {
            Some(failure) => Err(failure),
            None => Ok(how(&mut state)),
        };
        Box::pin(async { changed })
    }

    fn read<T: Send + 'static>(&self, how: impl FnOnce(&State) -> T) -> ReadReply<'_, T> {
        let read = how(&self.state());
        Box::pin(async { Ok(read) })
    }
}

impl Store for MemoryStore {
    fn commit(&self, batch: WriteBatch) -> WriteTicket {
        self.put(batch)
    }

    fn append(&self, batch: WriteBatch) -> WriteTicket {
        self.put(batch)
    }

    fn has_room(&self) -> bool {
        !self.state().is_behind
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            while !self.has_room() {
                self.has_room.notified().await;
            }
        })
    }

    fn session<'a>(&'a self, id: &'a str) -> ReadReply<'a, Option<SessionRow>> {
        self.read(|state| state.sessions.get(id).map(|known| known.row.clone()))
    }

    fn sessions<'a>(
        &'a self,
        filter: &'a SessionFilter,
        after: Option<&'a SessionCursor>,
        limit: u32,
    ) -> ReadReply<'a, SessionPage> {
        self.read(|state| state.page(filter, after, limit))
    }

    fn transcript<'a>(
        &'a self,
        id: &'a str,
        from: EntrySeq,
        limit: PageLimit,
    ) -> ReadReply<'a, Vec<TranscriptEntry>> {
        self.read(|state| {
            let entries = state.sessions.get(id).map_or(&[][..], |known| &known.entries);
            let entries = entries.iter().filter(|entry| entry.seq >= from);
            let mut left = limit.bytes;
            let fits = |entry: &&TranscriptEntry| {
                let is_first_past = left > 0;
                left = left.saturating_sub(entry.frame.len());
                is_first_past
            };
            entries.take_while(fits).take(limit.rows as usize).cloned().collect()
        })
    }

    fn last_seq<'a>(&'a self, id: &'a str) -> ReadReply<'a, Option<EntrySeq>> {
        self.read(|state| state.sessions.get(id)?.entries.last().map(|entry| entry.seq))
    }

    fn inputs<'a>(&'a self, id: &'a str) -> ReadReply<'a, Vec<StoredInput>> {
        self.read(|state| state.sessions.get(id).map(|known| known.inputs.clone()).unwrap_or_default())
    }

    fn acquire<'a>(
        &'a self,
        session: &'a str,
        owner: &'a str,
        now: Millis,
        ttl: Millis,
    ) -> ReadReply<'a, Result<SessionLease, HeldLease>> {
        self.change(|state| {
            if let Some(held) = state.leases.get(session).filter(|held| held.until > now) {
                return Err(held.clone());
            }
            state.epoch += 1;
            let (owner, epoch) = (owner.to_owned(), state.epoch);
            state.leases.insert(session.into(), HeldLease { owner: owner.clone(), epoch, until: now + ttl });
            Ok(SessionLease { session: session.into(), owner, epoch })
        })
    }

    fn renew<'a>(
        &'a self,
        leases: &'a [SessionLease],
        now: Millis,
        ttl: Millis,
    ) -> ReadReply<'a, Vec<SessionLease>> {
        self.change(|state| {
            let mut lost = leases.to_vec();
            lost.retain(|lease| match state.leases.get_mut(&lease.session) {
                Some(held) if held.epoch == lease.epoch => {
                    held.until = now + ttl;
                    false
                }
                _ => true,
            });
            lost
        })
    }

    fn release(&self, lease: SessionLease) -> ReadReply<'_, ()> {
        self.change(|state| {
            if state.leases.get(&lease.session).is_some_and(|held| held.epoch == lease.epoch) {
                state.leases.remove(&lease.session);
            }
        })
    }

    fn release_owner<'a>(&'a self, owner: &'a str) -> ReadReply<'a, u64> {
        self.change(|state| {
            let before = state.leases.len();
            state.leases.retain(|_, held| held.owner != owner);
            (before - state.leases.len()) as u64
        })
    }

    fn settle(&self) -> ReadReply<'_, ()> {
        self.change(|_| ())
    }

    fn counts(&self) -> WriteCounts {
        self.state().counts
    }

    /// It is not closed for the other hubs.
    fn close(&self) -> ReadReply<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

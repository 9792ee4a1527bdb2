//! What the store in memory holds, and how a batch changes it: as a whole or not at all.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use nudge_store::{
    HeldLease, InputState, SessionCursor, SessionFilter, SessionLease, SessionPage, SessionRow, StoreError,
    StoreOp, StoredInput, TranscriptEntry, WriteBatch, WriteCounts,
};
use tokio::sync::oneshot;

#[derive(Default)]
pub(super) struct State {
    pub(super) sessions: BTreeMap<Arc<str>, Known>,
    pub(super) leases: BTreeMap<Arc<str>, HeldLease>,
    pub(super) epoch: u64,
    pub(super) counts: WriteCounts,
    /// What every write fails with.
    pub(super) failure: Option<StoreError>,
    /// Writes that wait for the test, oldest first.
    pub(super) held: Option<Vec<(WriteBatch, Told)>>,
    pub(super) is_behind: bool,
}

pub(super) type Told = oneshot::Sender<Result<(), StoreError>>;

/// What is kept of a session.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) row: SessionRow,
    pub(super) entries: Vec<TranscriptEntry>,
    pub(super) inputs: Vec<StoredInput>,
}

impl State {
    pub(super) fn write(&mut self, batch: &WriteBatch) -> Result<(), StoreError> {
        let written = match self.failure.clone() {
            Some(failure) => Err(failure),
            None => self.apply(batch),
        };
        match written {
            Ok(()) => self.counts.batches += 1,
            Err(_) => self.counts.refused += 1,
        }
        written
    }

    fn apply(&mut self, batch: &WriteBatch) -> Result<(), StoreError> {
        let SessionLease { owner, epoch, .. } = &batch.lease;
        let held = self.leases.get(&batch.session);
        if !held.is_some_and(|held| held.owner == *owner && held.epoch == *epoch) {
            return Err(StoreError::Fenced);
        }
        let mut known = self.sessions.remove(&batch.session);
        let before = known.as_ref().map(Known::mark);
        let written = batch.ops.iter().try_for_each(|op| self.step(&mut known, op));
        if written.is_err() {
            known = before.map(|mark| known.unwrap_or_default().back_to(mark));
        }
        match known {
            Some(known) => drop(self.sessions.insert(Arc::clone(&batch.session), known)),
            None => drop(self.leases.remove(&batch.session)),
        }
        written
    }

    fn step(&self, known: &mut Option<Known>, op: &StoreOp) -> Result<(), StoreError> {
        if let StoreOp::CreateSession(row) = op {
            let created = Known { row: row.clone(), ..Known::default() };
            return known.replace(created).map_or(Ok(()), |_| Err(StoreError::SessionExists));
        }
        let session = known.as_mut().ok_or(StoreError::NoSession)?;
        match op {
            StoreOp::CreateSession(_) => {}
            StoreOp::UpdateSession(change) => change.clone().apply(&mut session.row),
            StoreOp::DeleteSession => *known = None,
            StoreOp::Append(entry) => match session.entries.last() {
                Some(last) if last.seq >= entry.seq => {
                    return Err(StoreError::SeqOrder { last: last.seq, given: entry.seq });
                }
                _ => session.entries.push(entry.clone()),
            },
            StoreOp::CopyTranscript { from, up_to } => {
                let source = self.sessions.get(from).ok_or(StoreError::NoSession)?;
                session.entries =
                    source.entries.iter().filter(|entry| entry.seq <= *up_to).cloned().collect();
            }
            StoreOp::AddInput(input) if session.inputs.iter().any(|other| other.id == input.id) => {
                return Err(StoreError::InputExists);
            }
            StoreOp::AddInput(input) => session.inputs.push(input.clone()),
            StoreOp::ReplaceInput { id, content } => session.pending(id)?.content = Some(content.clone()),
            StoreOp::SetInput { id, state } => {
                let input = session.pending(id)?;
                (input.state, input.content) = (*state, None);
            }
            StoreOp::ForgetInput { id } => {
                session.inputs.retain(|input| input.id != *id || input.state != InputState::Pending);
                for input in session.inputs.iter_mut().filter(|input| input.id == *id) {
                    input.key = None;
                }
            }
        }
        Ok(())
    }

    pub(super) fn page(
        &self,
        filter: &SessionFilter,
        after: Option<&SessionCursor>,
        limit: u32,
    ) -> SessionPage {
        let mut rows: Vec<&SessionRow> = self.sessions.values().map(|known| &known.row).collect();
        rows.retain(|row| is_wanted(row, filter));
        rows.sort_by_key(|row| (std::cmp::Reverse(row.updated_at), row.id.clone()));
        let behind =
            after.and_then(|after| rows.iter().position(|row| cursor(row) == *after).map(|at| at + 1));
        let rest = &rows[behind.unwrap_or(0)..];
        let (page, more) = rest.split_at(rest.len().min(limit as usize));
        let next = page.last().filter(|_| !more.is_empty()).map(|last| cursor(last));
        SessionPage { sessions: page.iter().map(|row| (*row).clone()).collect(), next }
    }
}

/// What a session was before a batch: all of it but the entries, which only grow.
struct Mark {
    row: SessionRow,
    entries: usize,
    inputs: Vec<StoredInput>,
}

impl Known {
    fn mark(&self) -> Mark {
        Mark { row: self.row.clone(), entries: self.entries.len(), inputs: self.inputs.clone() }
    }

    fn back_to(mut self, mark: Mark) -> Self {
        self.entries.truncate(mark.entries);
        Self { row: mark.row, entries: self.entries, inputs: mark.inputs }
    }

    fn pending(&mut self, id: &str) -> Result<&mut StoredInput, StoreError> {
        let pending = |input: &&mut StoredInput| &*input.id == id && input.state == InputState::Pending;
        self.inputs.iter_mut().find(pending).ok_or(StoreError::InputNotPending)
    }
}

fn is_wanted(row: &SessionRow, filter: &SessionFilter) -> bool {
    let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    filter.cwd.as_ref().is_none_or(|cwd| *cwd == row.cwd)
        && filter.created_after.is_none_or(|after| row.created_at > after)
        && filter.closed.is_none_or(|closed| row.closed == closed)
        && filter.backend.as_ref().is_none_or(|backend| *backend == row.backend)
        && filter
            .search
            .as_ref()
            .is_none_or(|part| has(&row.id, part) || row.title.as_ref().is_some_and(|title| has(title, part)))
}

/// The place behind a row, made from its text as a client would give it.
fn cursor(row: &SessionRow) -> SessionCursor {
    let mut text = format!("{:x}.", row.updated_at);
    for byte in row.id.bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text.parse().expect("it is written as the store writes it")
}

//! What the store in memory holds, and how a batch changes it: as a whole or not at all.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use nudge_store::{
    Batch, Counts, Cursor, Entry, Held, Input, InputState, Lease, Op, Page, Session, SessionFilter,
    StoreError,
};
use tokio::sync::oneshot;

#[derive(Default)]
pub(super) struct State {
    pub(super) sessions: BTreeMap<Arc<str>, Known>,
    pub(super) leases: BTreeMap<Arc<str>, Held>,
    pub(super) epoch: u64,
    pub(super) counts: Counts,
    /// What every write fails with.
    pub(super) failure: Option<StoreError>,
    /// Writes that wait for the test, oldest first.
    pub(super) held: Option<Vec<(Batch, Told)>>,
    pub(super) is_behind: bool,
}

pub(super) type Told = oneshot::Sender<Result<(), StoreError>>;

/// What is kept of a session.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) row: Session,
    pub(super) entries: Vec<Entry>,
    pub(super) inputs: Vec<Input>,
}

impl State {
    pub(super) fn write(&mut self, batch: &Batch) -> Result<(), StoreError> {
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

    fn apply(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let Lease { owner, epoch, .. } = &batch.lease;
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

    fn step(&self, known: &mut Option<Known>, op: &Op) -> Result<(), StoreError> {
        if let Op::CreateSession(row) = op {
            let created = Known { row: row.clone(), ..Known::default() };
            return known.replace(created).map_or(Ok(()), |_| Err(StoreError::SessionExists));
        }
        let session = known.as_mut().ok_or(StoreError::NoSession)?;
        match op {
            Op::CreateSession(_) => {}
            Op::UpdateSession(change) => change.clone().apply(&mut session.row),
            Op::DeleteSession => *known = None,
            Op::Append(entry) => match session.entries.last() {
                Some(last) if last.seq >= entry.seq => {
                    return Err(StoreError::SeqOrder { last: last.seq, given: entry.seq });
                }
                _ => session.entries.push(entry.clone()),
            },
            Op::CopyTranscript { from, up_to } => {
                let source = self.sessions.get(from).ok_or(StoreError::NoSession)?;
                session.entries =
                    source.entries.iter().filter(|entry| entry.seq <= *up_to).cloned().collect();
            }
            Op::AddInput(input) if session.inputs.iter().any(|other| other.id == input.id) => {
                return Err(StoreError::InputExists);
            }
            Op::AddInput(input) => session.inputs.push(input.clone()),
            Op::ReplaceInput { id, content } => session.pending(id)?.content = Some(content.clone()),
            Op::SetInput { id, state } => {
                let input = session.pending(id)?;
                (input.state, input.content) = (*state, None);
            }
        }
        Ok(())
    }

    pub(super) fn page(&self, filter: &SessionFilter, after: Option<&Cursor>, limit: u32) -> Page {
        let mut rows: Vec<&Session> = self.sessions.values().map(|known| &known.row).collect();
        rows.retain(|row| is_wanted(row, filter));
        rows.sort_by_key(|row| (std::cmp::Reverse(row.updated_at), row.id.clone()));
        let behind =
            after.and_then(|after| rows.iter().position(|row| cursor(row) == *after).map(|at| at + 1));
        let rest = &rows[behind.unwrap_or(0)..];
        let (page, more) = rest.split_at(rest.len().min(limit as usize));
        let next = page.last().filter(|_| !more.is_empty()).map(|last| cursor(last));
        Page { sessions: page.iter().map(|row| (*row).clone()).collect(), next }
    }
}

/// What a session was before a batch: all of it but the entries, which only grow.
struct Mark {
    row: Session,
    entries: usize,
    inputs: Vec<Input>,
}

impl Known {
    fn mark(&self) -> Mark {
        Mark { row: self.row.clone(), entries: self.entries.len(), inputs: self.inputs.clone() }
    }

    fn back_to(mut self, mark: Mark) -> Self {
        self.entries.truncate(mark.entries);
        Self { row: mark.row, entries: self.entries, inputs: mark.inputs }
    }

    fn pending(&mut self, id: &str) -> Result<&mut Input, StoreError> {
        let pending = |input: &&mut Input| &*input.id == id && input.state == InputState::Pending;
        self.inputs.iter_mut().find(pending).ok_or(StoreError::InputNotPending)
    }
}

fn is_wanted(row: &Session, filter: &SessionFilter) -> bool {
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
fn cursor(row: &Session) -> Cursor {
    let mut text = format!("{:x}.", row.updated_at);
    for byte in row.id.bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text.parse().expect("it is written as the store writes it")
}

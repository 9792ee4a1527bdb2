//! Batches into statements: as few as possible, whatever the number of batches.

use std::collections::HashMap;

use sqlx::{Row as _, SqliteConnection};

use super::{
    read::seq_of,
    value::{from_i64, searched, state_to, to_i64},
};
use crate::{
    EntrySeq, InputId, InputState, MAX_SEQ, SessionChange, SessionId, SessionLease, SessionRow, StoreError,
    StoreOp, StoredInput, TranscriptEntry, WriteBatch,
    body::pack,
    sql::{self, INSERT_ENTRIES, INSERT_INPUTS, SET_INPUTS, SPAN, STANDINGS, TOUCH_SESSIONS},
};

/// Writes batches, in order, into the transaction that is open. Those without the current lease are refused and leave
/// no trace.
///
/// An error means that one of the other batches cannot be written. The transaction then holds a part of them and has to
/// be rolled back.
pub(super) async fn apply(
    conn: &mut SqliteConnection,
    batches: &[&WriteBatch],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let standings = standings(conn, batches).await?;
    let mut plan = Plan {
        conn,
        standings,
        entries: Vec::new(),
        inputs: Vec::new(),
        changes: Vec::new(),
        updates: Vec::new(),
    };
    let mut outcomes = Vec::with_capacity(batches.len());
    for batch in batches {
        outcomes.push(plan.add(batch).await?);
    }
    plan.flush().await?;
    Ok(outcomes)
}

/// How things stand with a session before a batch.
struct Standing {
    /// Who may write.
    owner: String,
    epoch: u64,
    /// Its number, if it exists.
    key: Option<i64>,
    last: Option<EntrySeq>,
}

async fn standings<'b>(
    conn: &mut SqliteConnection,
    batches: &[&'b WriteBatch],
) -> Result<HashMap<SessionId, Standing>, sqlx::Error> {
    let mut names: Vec<&'b str> = batches.iter().map(|batch| &*batch.session).collect();
    names.sort_unstable();
    names.dedup();
    let mut found = HashMap::with_capacity(names.len());
    let mut rest = &names[..];
    while !rest.is_empty() {
        let (size, sql) = STANDINGS.at_most(rest.len());
        let (now, later) = rest.split_at(size);
        let query = now.iter().fold(sqlx::query(sql), |query, name| query.bind(*name));
        for row in query.fetch_all(&mut *conn).await? {
            let standing = Standing {
                owner: row.try_get(1)?,
                epoch: from_i64(row.try_get(2)?),
                key: row.try_get(3)?,
                last: row.try_get::<Option<i64>, _>(4)?.map(seq_of),
            };
            found.insert(row.try_get::<&str, _>(0)?.into(), standing);
        }
        rest = later;
    }
    Ok(found)
}

/// What is still to be written, by table. Order matters only within a table, and within a session's creation and end,
/// which are written at once.
struct Plan<'c, 'b> {
    conn: &'c mut SqliteConnection,
    standings: HashMap<SessionId, Standing>,
    entries: Vec<(i64, &'b TranscriptEntry)>,
    inputs: Vec<(i64, &'b StoredInput)>,
    changes: Vec<(i64, Change<'b>)>,
    updates: Vec<(i64, &'b str, SessionChange)>,
}

struct Change<'b> {
    id: &'b InputId,
    to: To<'b>,
}

enum To<'b> {
    Content(&'b str),
    State(InputState),
    Forgotten,
}

impl<'b> Plan<'_, 'b> {
    /// The inner error leaves no trace; after the outer one the transaction holds a part of the batch.
    async fn add(&mut self, batch: &'b WriteBatch) -> Result<Result<(), StoreError>, StoreError> {
        if !self.standings.get(&batch.session).is_some_and(|standing| standing.admits(batch)) {
            return Ok(Err(StoreError::Fenced));
        }
        for op in &batch.ops {
            match op {
                StoreOp::CreateSession(session) => self.create(&batch.session, session).await?,
                StoreOp::UpdateSession(change) => self.update(&batch.session, change)?,
                StoreOp::DeleteSession => self.delete(&batch.session).await?,
                StoreOp::Append(entry) => self.append(&batch.session, entry)?,
                StoreOp::CopyTranscript { from, up_to } => self.copy(&batch.session, from, *up_to).await?,
                StoreOp::AddInput(input) => self.add_input(&batch.session, input).await?,
                StoreOp::ReplaceInput { id, content } => {
                    self.change_input(&batch.session, id, To::Content(content))?;
                }
                StoreOp::SetInput { id, state } => {
                    self.change_input(&batch.session, id, To::State(*state))?;
                }
                StoreOp::ForgetInput { id } => self.change_input(&batch.session, id, To::Forgotten)?,
            }
        }
        Ok(Ok(()))
    }

    fn standing(&mut self, session: &SessionId) -> Result<&mut Standing, StoreError> {
        self.standings.get_mut(session).ok_or(StoreError::Fenced)
    }

    fn key(&mut self, session: &SessionId) -> Result<i64, StoreError> {
        self.standing(session)?.key.ok_or(StoreError::NoSession)
    }

    async fn create(&mut self, id: &SessionId, session: &SessionRow) -> Result<(), StoreError> {
        if self.standing(id)?.key.is_some() {
            return Err(StoreError::SessionExists);
        }
        let directories = serde_json::to_string(&session.additional_directories)
            .expect("a list of strings can be written as JSON");
        let query = sqlx::query(sql::CREATE_SESSION).bind(&**id).bind(&session.cwd).bind(directories);
        let query =
            query.bind(&session.title).bind(to_i64(session.created_at)).bind(to_i64(session.updated_at));
        let query =
            query.bind(&session.backend).bind(&session.agent_session_id).bind(session.parent.as_deref());
        let query = query.bind(&session.config).bind(i64::from(session.closed));
        let query = query.bind(searched(session.title.as_deref(), id));
        let row = query.fetch_one(&mut *self.conn).await.map_err(or_exists(StoreError::SessionExists))?;
        self.standing(id)?.key = Some(row.try_get(0)?);
        Ok(())
    }

    fn update(&mut self, id: &'b SessionId, change: &SessionChange) -> Result<(), StoreError> {
        let key = self.key(id)?;
        match self.updates.iter_mut().find(|(other, ..)| *other == key) {
            Some((_, _, before)) => *before = std::mem::take(before).then(change.clone()),
            None => self.updates.push((key, id, change.clone())),
        }
        Ok(())
    }

    async fn delete(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let key = self.key(id)?;
        self.flush().await?;
        let conn = &mut *self.conn;
        sqlx::query(sql::DELETE_ENTRIES).bind(key * SPAN).bind((key + 1) * SPAN).execute(&mut *conn).await?;
        sqlx::query(sql::DELETE_INPUTS).bind(key).execute(&mut *conn).await?;
        sqlx::query(sql::DELETE_SESSION).bind(key).execute(&mut *conn).await?;
        sqlx::query(sql::DELETE_LEASE).bind(&**id).execute(&mut *conn).await?;
        self.standings.remove(id);
        Ok(())
    }

    fn append(&mut self, id: &SessionId, entry: &'b TranscriptEntry) -> Result<(), StoreError> {
        let key = self.key(id)?;
        let standing = self.standing(id)?;
        if entry.seq > MAX_SEQ {
            return Err(StoreError::SeqTooLarge { given: entry.seq });
        }
        if let Some(last) = standing.last.filter(|last| *last >= entry.seq) {
            return Err(StoreError::SeqOrder { last, given: entry.seq });
        }
        standing.last = Some(entry.seq);
        self.entries.push((key * SPAN + to_i64(entry.seq), entry));
        Ok(())
    }

    async fn copy(&mut self, id: &SessionId, from: &SessionId, up_to: EntrySeq) -> Result<(), StoreError> {
        let key = self.key(id)?;
        if let Some(last) = self.standing(id)?.last {
            return Err(StoreError::SeqOrder { last, given: 0 });
        }
        self.flush().await?;
        let row = sqlx::query(sql::SESSION_KEY).bind(&**from).fetch_optional(&mut *self.conn).await?;
        let source: i64 = row.ok_or(StoreError::NoSession)?.try_get(0)?;
        let query = sqlx::query(sql::COPY_ENTRIES).bind((key - source) * SPAN);
        let query = query.bind(source * SPAN).bind(source * SPAN + to_i64(up_to.min(MAX_SEQ)));
        query.execute(&mut *self.conn).await?;
        let row = sqlx::query(sql::LAST_PLACE).bind(&**id).fetch_optional(&mut *self.conn).await?;
        let last: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
        self.standing(id)?.last = last.map(seq_of);
        Ok(())
    }

    async fn add_input(&mut self, id: &SessionId, input: &'b StoredInput) -> Result<(), StoreError> {
        let key = self.key(id)?;
        // Inputs are added before others are changed; one that is changed already cannot wait.
        if self.changes.iter().any(|(other, change)| *other == key && *change.id == input.id) {
            self.flush().await?;
        }
        self.inputs.push((key, input));
        Ok(())
    }

    fn change_input(&mut self, id: &SessionId, input: &'b InputId, to: To<'b>) -> Result<(), StoreError> {
        let key = self.key(id)?;
        if matches!(to, To::State(InputState::Pending)) {
            return Err(StoreError::InputNotPending);
        }
        self.changes.push((key, Change { id: input, to }));
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        self.flush_entries().await?;
        self.flush_inputs().await?;
        self.flush_changes().await?;
        self.flush_updates().await
    }

    async fn flush_entries(&mut self) -> Result<(), StoreError> {
        let entries = std::mem::take(&mut self.entries);
        let mut rest = &entries[..];
        while !rest.is_empty() {
            let (size, sql) = INSERT_ENTRIES.at_most(rest.len());
            let (now, later) = rest.split_at(size);
            let mut query = sqlx::query(sql);
            for (place, entry) in now {
                query = query.bind(*place).bind(pack(entry));
            }
            query.execute(&mut *self.conn).await?;
            rest = later;
        }
        Ok(())
    }

    async fn flush_inputs(&mut self) -> Result<(), StoreError> {
        let inputs = std::mem::take(&mut self.inputs);
        let mut rest = &inputs[..];
        while !rest.is_empty() {
            let (size, sql) = INSERT_INPUTS.at_most(rest.len());
            let (now, later) = rest.split_at(size);
            let mut query = sqlx::query(sql);
            for (key, input) in now {
                let content = input.content.as_deref().filter(|_| input.state == InputState::Pending);
                query = query.bind(*key).bind(&*input.id).bind(to_i64(input.seq));
                query = query.bind(input.client.cast_signed()).bind(&input.mode).bind(&input.dialect);
                query = query.bind(&input.key).bind(state_to(input.state)).bind(content);
            }
            query.execute(&mut *self.conn).await.map_err(or_exists(StoreError::InputExists))?;
            rest = later;
        }
        Ok(())
    }

    async fn flush_changes(&mut self) -> Result<(), StoreError> {
        let changes = std::mem::take(&mut self.changes);
        // Those next to each other that end in the same state are one statement.
        for run in changes.chunk_by(|(_, one), (_, next)| one.to.is_same_state(&next.to)) {
            match run[0].1.to {
                To::State(state) => self.set_inputs(run, state).await?,
                To::Forgotten => {
                    let (key, change) = &run[0];
                    for sql in [sql::REMOVE_INPUT, sql::FREE_INPUT_KEY] {
                        let query = sqlx::query(sql).bind(key).bind(&**change.id);
                        query.execute(&mut *self.conn).await?;
                    }
                }
                To::Content(content) => {
                    let (key, change) = &run[0];
                    let query = sqlx::query(sql::REPLACE_INPUT).bind(key).bind(&**change.id).bind(content);
                    changed(query.execute(&mut *self.conn).await?.rows_affected(), 1)?;
                }
            }
        }
        Ok(())
    }

    async fn set_inputs(&mut self, run: &[(i64, Change<'_>)], state: InputState) -> Result<(), StoreError> {
        let mut rest = run;
        while !rest.is_empty() {
            let (size, sql) = SET_INPUTS.at_most(rest.len());
            let (now, later) = rest.split_at(size);
            let query = sqlx::query(sql).bind(state_to(state));
            let query = now.iter().fold(query, |query, (key, change)| query.bind(*key).bind(&**change.id));
            changed(query.execute(&mut *self.conn).await?.rows_affected(), size)?;
            rest = later;
        }
        Ok(())
    }

    async fn flush_updates(&mut self) -> Result<(), StoreError> {
        let mut touched = Vec::new();
        for (key, id, change) in std::mem::take(&mut self.updates) {
            match change {
                SessionChange {
                    updated_at: Some(at),
                    title: None,
                    config: None,
                    closed: None,
                    agent_session_id: None,
                } => touched.push((key, to_i64(at))),
                other => self.update_now(key, id, &other).await?,
            }
        }
        let mut rest = &touched[..];
        while !rest.is_empty() {
            let (size, sql) = TOUCH_SESSIONS.at_most(rest.len());
            let (now, later) = rest.split_at(size);
            let query = now.iter().fold(sqlx::query(sql), |query, (key, at)| query.bind(*key).bind(*at));
            query.execute(&mut *self.conn).await?;
            rest = later;
        }
        Ok(())
    }

    async fn update_now(&mut self, key: i64, id: &str, change: &SessionChange) -> Result<(), StoreError> {
        let title = change.title.as_ref();
        let search = title.map(|title| searched(title.as_deref(), id));
        let agent = change.agent_session_id.as_ref();
        let query = sqlx::query(sql::UPDATE_SESSION).bind(key);
        let query = query.bind(i64::from(title.is_some())).bind(title.cloned().flatten()).bind(search);
        let query = query.bind(change.updated_at.map(to_i64)).bind(change.config.as_deref());
        let query = query.bind(change.closed.map(i64::from));
        let query = query.bind(i64::from(agent.is_some())).bind(agent.cloned().flatten());
        query.execute(&mut *self.conn).await?;
        Ok(())
    }
}

impl To<'_> {
    fn is_same_state(&self, other: &Self) -> bool {
        matches!((self, other), (Self::State(one), Self::State(two)) if one == two)
    }
}

/// Every input that was to be changed has to have been pending.
fn changed(rows: u64, expected: usize) -> Result<(), StoreError> {
    if rows == expected as u64 { Ok(()) } else { Err(StoreError::InputNotPending) }
}

impl Standing {
    fn admits(&self, batch: &WriteBatch) -> bool {
        let SessionLease { session, owner, epoch } = &batch.lease;
        // A lease that was given back has no owner.
        !owner.is_empty() && *session == batch.session && *owner == self.owner && *epoch == self.epoch
    }
}

/// What an insert says when there is such a row already.
fn or_exists(exists: StoreError) -> impl FnOnce(sqlx::Error) -> StoreError {
    move |error| match &error {
        sqlx::Error::Database(refused) if refused.is_unique_violation() => exists,
        _ => error.into(),
    }
}

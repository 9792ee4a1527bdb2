//! How a session comes into use: made new, or taken up from the store as a crash or a close left it.

use std::sync::{Arc, OnceLock};

use nudge_backend::{OpenedSession, SessionRestore, SessionSetup};
use nudge_peer::PassedMessage;
use nudge_session::{MessageRuns, RestoredSession, TranscriptPast, unknown_session};
use nudge_store::{
    SessionChange, SessionLease, SessionRow, StoreError, StoreOp, TranscriptPages, WriteBatch,
};
use nudge_wire::{ClientContext, Error, RawJson, RequestOrigin, Version};
use serde_json::json;

use crate::{
    client::ConnectedClient,
    hub::HubShared,
    recap,
    session::{
        SessionHandle,
        driver::{DriverParts, SessionDriver, StoredParts},
        stored_ops::{entry, ops as store_ops, saved, stored_update},
    },
    shape,
    sources::SessionSource,
    time::now,
};

/// Entries at the end of a transcript that are read when it comes into use; a model is not given more anyway.
const TAIL: u64 = 20_000;
/// The longest id of an agent that is taken for ours, in bytes.
const LONGEST_ID: usize = 256;

/// How a client wants the session that it brings into use.
pub(crate) struct RestoreWish {
    /// The folders beside the working directory; those it had unless set.
    pub(crate) additional_directories: Option<Vec<String>>,
    pub(crate) context: ClientContext,
    /// The agent that the client speaks to; the built-in one unless set.
    pub(crate) agent: Option<SessionSource>,
    /// Its own built-in agent; that of the process unless set.
    pub(crate) built_in: Option<SessionSource>,
    /// The version of the client.
    pub(crate) version: Version,
    /// The params of its request.
    pub(crate) params: Option<RawJson>,
    /// That request, if its answer is waited for.
    pub(crate) origin: Option<RequestOrigin>,
}

impl RestoreWish {
    pub(crate) fn of(client: &ConnectedClient) -> Self {
        Self {
            additional_directories: None,
            context: client.context.clone(),
            agent: client.agent.clone(),
            built_in: client.built_in.clone(),
            version: client.version,
            params: None,
            origin: None,
        }
    }

    /// The built-in agent that it wants.
    pub(crate) fn built_in<'a>(&'a self, hub: &'a HubShared) -> &'a SessionSource {
        self.built_in.as_ref().unwrap_or(&hub.built_in)
    }

    /// What runs the session of this row, or why nothing here does.
    fn source_of<'a>(&'a self, hub: &'a HubShared, row: &SessionRow) -> Result<&'a SessionSource, Error> {
        if row.backend == hub.built_in.name() {
            return Ok(self.built_in(hub));
        }
        self.agent.as_ref().ok_or_else(|| {
            let what = format!(
                "The session is run by `{}`: name that agent behind `--`, as in `nudge acp -- AGENT`, to go on with it",
                row.backend
            );
            Error::invalid_request(what).reason("other_agent")
        })
    }

    /// What an agent is told of the session of this row, which is known by `name` as soon as that is set.
    fn setup(&self, hub: &Arc<HubShared>, row: &SessionRow, name: &Arc<OnceLock<Arc<str>>>) -> SessionSetup {
        let params = self.params.clone();
        SessionSetup {
            session_id: Arc::clone(&row.id),
            cwd: row.cwd.clone(),
            additional_directories: row.additional_directories.clone(),
            config: RawJson::parse(row.config.clone()).ok(),
            agent_session_id: row.agent_session_id.clone(),
            params: params.unwrap_or_else(|| shape::raw(&json!({ "cwd": row.cwd, "mcpServers": [] }))),
            version: self.version,
            origin: self.origin.clone(),
            client: self.context.clone(),
            recap: recap::of(hub, name),
        }
    }
}

/// Begins a session, by `session/new` or another request that only the agent can answer, and brings it into use. `row` says
/// what is known of it, `past` what is to be written of what was said.
pub(crate) async fn begin(
    hub: &Arc<HubShared>,
    source: &SessionSource,
    method: &str,
    mut row: SessionRow,
    past: Vec<StoreOp>,
    wish: &RestoreWish,
) -> Result<(Arc<str>, SessionHandle), Error> {
    let name = Arc::new(OnceLock::new());
    let opened = source.begin(method, wish.setup(hub, &row, &name)).await?;
    let OpenedSession { backend: agent, agent_session_id, replayed } = opened;
    if let Some(id) = agent_session_id {
        if hub.store.session(&id).await.map_err(store_error)?.is_none() && id.len() <= LONGEST_ID {
            row.id = Arc::clone(&id);
        }
        row.agent_session_id = Some(id.to_string());
    }
    let _ = name.set(Arc::clone(&row.id));
    source.name().clone_into(&mut row.backend);
    let lease = hub.lease(&row.id).await?;
    let mut ops = vec![StoreOp::CreateSession(row.clone())];
    ops.extend(past);
    let mut next_seq = ops.iter().filter_map(next_seq).max().unwrap_or(0);
    let mut runs = MessageRuns::default();
    for mut update in replayed {
        runs.name(&mut update, || shape::mint("msg"));
        if update.kind.is_stored() {
            ops.push(StoreOp::Append(entry(next_seq, &update, now())));
            next_seq += 1;
        }
    }
    write_first(hub, &lease, ops).await?;
    let client = wish.context.clone();
    let id = Arc::clone(&row.id);
    let stored = StoredParts { next_seq, ..StoredParts::default() };
    Ok((id, start(hub, DriverParts { row, lease, agent, stored, client })))
}

/// Writes down that there is a session. If that cannot be, it is nobody's.
async fn write_first(hub: &HubShared, lease: &SessionLease, ops: Vec<StoreOp>) -> Result<(), Error> {
    let batch = WriteBatch { session: lease.session.clone(), lease: lease.clone(), ops };
    let written = hub.store.commit(batch).await.map_err(store_error);
    if written.is_err() {
        hub.release(lease.clone()).await;
    }
    written
}

/// The number behind that of an entry that is written.
fn next_seq(op: &StoreOp) -> Option<u64> {
    match op {
        StoreOp::Append(entry) => Some(entry.seq + 1),
        _ => None,
    }
}

/// Brings a stored session into use. Nothing of it runs before a client has joined.
pub(crate) async fn open(hub: &Arc<HubShared>, id: &str, wish: &RestoreWish) -> Result<SessionHandle, Error> {
    if hub.store.session(id).await.map_err(store_error)?.is_none() {
        return Err(unknown_session());
    }
    let lease = hub.lease(id).await?;
    let opened = take_up(hub, id, lease.clone(), wish).await;
    if opened.is_err() {
        hub.release(lease).await;
    }
    opened
}

async fn take_up(
    hub: &Arc<HubShared>,
    id: &str,
    lease: SessionLease,
    wish: &RestoreWish,
) -> Result<SessionHandle, Error> {
    let mut row = hub.store.session(id).await.map_err(store_error)?.ok_or_else(unknown_session)?;
    if let Some(directories) = &wish.additional_directories {
        row.additional_directories.clone_from(directories);
    }
    let (inputs, next_input) = saved(hub.store.inputs(id).await.map_err(store_error)?);
    let source = wish.source_of(hub, &row)?;
    let is_its_own = source.name() == row.backend;
    let mut setup = wish.setup(hub, &row, &Arc::new(OnceLock::from(Arc::clone(&row.id))));
    // Another agent cannot know it by that id.
    setup.agent_session_id = setup.agent_session_id.filter(|_| is_its_own);
    let (past, mut taking_up) = recall(hub, id, source, setup).await?;
    let RestoredSession { mailbox, next_seq, operations, interruption } =
        RestoredSession::new(inputs, &past, shape::seed());
    for update in &interruption {
        taking_up.hear(update);
    }
    let OpenedSession { backend: agent, agent_session_id, .. } = taking_up.open().await?;
    if let Some(id) = agent_session_id.filter(|_| is_its_own) {
        row.agent_session_id = Some(id.to_string());
    }
    let mut ops = store_ops(operations, now());
    ops.push(StoreOp::UpdateSession(SessionChange {
        closed: Some(false),
        agent_session_id: Some(row.agent_session_id.clone()),
        ..SessionChange::default()
    }));
    let batch = WriteBatch { session: row.id.clone(), lease: lease.clone(), ops };
    hub.store.commit(batch).await.map_err(store_error)?;
    let client = wish.context.clone();
    let stored = StoredParts { mailbox, is_held: true, next_seq, next_input };
    Ok(start(hub, DriverParts { row, lease, agent, stored, client }))
}

fn start(hub: &Arc<HubShared>, parts: DriverParts) -> SessionHandle {
    SessionDriver::start(Arc::clone(hub), parts)
}

/// What the transcript tells, also to an agent that does not remember it: the end of it, and all of it only if that does not
/// tell whether a turn was under way.
async fn recall(
    hub: &HubShared,
    id: &str,
    source: &SessionSource,
    setup: SessionSetup,
) -> Result<(TranscriptPast, Box<dyn SessionRestore<PassedMessage>>), Error> {
    let next = hub.store.last_seq(id).await.map_err(store_error)?.map_or(0, |last| last + 1);
    let mut taking_up = source.take_up(setup.clone());
    let tail = read_past(hub, id, next.saturating_sub(TAIL), Some(&mut *taking_up)).await?;
    if tail.has_state || next <= TAIL {
        return Ok((tail, taking_up));
    }
    let mut taking_up = source.take_up(setup);
    Ok((read_past(hub, id, 0, Some(&mut *taking_up)).await?, taking_up))
}

/// What the transcript tells of how things stand.
pub(super) async fn past(hub: &HubShared, id: &str) -> Result<TranscriptPast, Error> {
    let next = hub.store.last_seq(id).await.map_err(store_error)?.map_or(0, |last| last + 1);
    let tail = read_past(hub, id, next.saturating_sub(TAIL), None).await?;
    if tail.has_state || next <= TAIL { Ok(tail) } else { read_past(hub, id, 0, None).await }
}

async fn read_past(
    hub: &HubShared,
    id: &str,
    from: u64,
    taking_up: Option<&mut dyn SessionRestore<PassedMessage>>,
) -> Result<TranscriptPast, Error> {
    let mut taking_up = taking_up.filter(|taking_up| taking_up.wants_history());
    let mut past = TranscriptPast::default();
    let mut pages = TranscriptPages::new(&*hub.store, id, from);
    while let Some(page) = pages.next().await.map_err(store_error)? {
        for entry in &page {
            past.next_seq = entry.seq + 1;
            let Some(update) = stored_update(entry) else { continue };
            past.take(entry.seq, &update);
            if let Some(taking_up) = &mut taking_up {
                taking_up.hear(&update);
            }
        }
    }
    Ok(past)
}

/// A failure of the store as an error for a client.
#[allow(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub(crate) fn store_error(error: StoreError) -> Error {
    tracing::error!(%error, "the store failed");
    client_error(&error, "The store failed")
}

/// What a client is told of a failure of the store.
pub(super) fn client_error(error: &StoreError, what: &str) -> Error {
    let told = Error::internal(format!("{what}: {error}"));
    if matches!(error, StoreError::DiskFull) { told.reason("disk_full") } else { told }
}

/// A row for a new session.
pub(crate) fn row(cwd: String, additional_directories: Vec<String>) -> SessionRow {
    let at = now();
    SessionRow {
        id: shape::mint("sess"),
        cwd,
        additional_directories,
        title: None,
        created_at: at,
        updated_at: at,
        backend: String::new(),
        agent_session_id: None,
        parent: None,
        config: String::new(),
        closed: false,
    }
}

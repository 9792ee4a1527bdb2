//! How a session comes into use: made new, or taken up from the store as a crash or a close left it.

use std::{path::PathBuf, sync::Arc};

use nudge_adapt::{Agent, Opened};
use nudge_agent::{BuiltInAgent, History, Setup};
use nudge_model::Model;
use nudge_session::{MessageRuns, Past, Restored, unknown_session};
use nudge_store::{Batch, Lease, Op, Pages, Session, SessionChange, StoreError};
use nudge_wire::{Environment, Error, RawJson, Version};
use serde_json::json;

use crate::{
    backend::SessionAgent,
    client::Client,
    hub::Shared,
    recap,
    session::{
        Handle,
        driver::{Parts, SessionDriver, StoredParts},
        stored_ops::{entry, ops as store_ops, saved, stored_update},
    },
    shape,
    time::now,
};

/// Entries at the end of a transcript that are read when it comes into use; a model is not given more anyway.
const TAIL: u64 = 20_000;
/// What the store calls the built-in agent.
pub(crate) const BUILT_IN: &str = "builtin";
/// The longest id of an agent that is taken for ours, in bytes.
const LONGEST_ID: usize = 256;

/// How a client wants the session that it brings into use.
pub(crate) struct Wish {
    /// The folders beside the working directory; those it had unless set.
    pub(crate) additional_directories: Option<Vec<String>>,
    pub(crate) environment: Option<Environment>,
    /// The agent that the client speaks to; the built-in one unless set.
    pub(crate) agent: Option<Arc<Agent>>,
    /// What the built-in agent asks; what all others do unless set.
    pub(crate) model: Option<Arc<dyn Model>>,
    /// The version of the client.
    pub(crate) version: Version,
    /// The params of its request.
    pub(crate) params: Option<RawJson>,
}

impl Wish {
    pub(crate) fn of(client: &Client) -> Self {
        Self {
            additional_directories: None,
            environment: client.environment.clone(),
            agent: client.agent.clone(),
            model: client.model.clone(),
            version: client.version,
            params: None,
        }
    }
}

/// Makes a session and brings it into use.
pub(crate) async fn create(hub: &Arc<Shared>, row: Session, wish: &Wish) -> Result<Handle, Error> {
    let lease = hub.lease(&row.id).await?;
    let ops = vec![Op::CreateSession(row.clone())];
    write_first(hub, &lease, ops).await?;
    let agent = built_in(hub, &row, History::new(), wish);
    let environment = wish.environment.clone();
    Ok(start(hub, Parts { row, lease, agent, stored: StoredParts::default(), environment }))
}

/// Begins a session with an adapted agent, by `session/new` or another request that only the agent can answer, and brings
/// it into use. `row` says what is known of it.
pub(crate) async fn begin(
    hub: &Arc<Shared>,
    agent: &Arc<Agent>,
    method: &str,
    mut row: Session,
    past: Vec<Op>,
    wish: &Wish,
) -> Result<(Arc<str>, Handle), Error> {
    let name = Arc::new(std::sync::OnceLock::new());
    let params = wish.params.clone().unwrap_or_else(shape::empty);
    let recap = recap::of(hub, &name);
    let Opened { replayed, session } =
        nudge_adapt::Session::begin(agent, wish.version, method, &params, recap).await?;
    if hub.store.session(session.id()).await.map_err(store_error)?.is_none()
        && session.id().len() <= LONGEST_ID
    {
        row.id = Arc::clone(session.id());
    }
    let _ = name.set(Arc::clone(&row.id));
    agent.name().clone_into(&mut row.backend);
    row.agent_session_id = Some(session.id().to_string());
    let lease = hub.lease(&row.id).await?;
    let mut ops = vec![Op::CreateSession(row.clone())];
    ops.extend(past);
    let mut next_seq = ops.iter().filter_map(next_seq).max().unwrap_or(0);
    let mut runs = MessageRuns::default();
    for mut update in replayed {
        runs.name(&mut update, || shape::mint("msg"));
        if update.kind.is_stored() {
            ops.push(Op::Append(entry(next_seq, &update, now())));
            next_seq += 1;
        }
    }
    write_first(hub, &lease, ops).await?;
    let agent = SessionAgent::Adapted(Box::new(session));
    let environment = wish.environment.clone();
    let id = Arc::clone(&row.id);
    let stored = StoredParts { next_seq, ..StoredParts::default() };
    Ok((id, start(hub, Parts { row, lease, agent, stored, environment })))
}

/// Writes down that there is a session. If that cannot be, it is nobody's.
async fn write_first(hub: &Shared, lease: &Lease, ops: Vec<Op>) -> Result<(), Error> {
    let batch = Batch { session: lease.session.clone(), lease: lease.clone(), ops };
    let written = hub.store.commit(batch).await.map_err(store_error);
    if written.is_err() {
        hub.release(lease.clone()).await;
    }
    written
}

/// The number behind that of an entry that is written.
fn next_seq(op: &Op) -> Option<u64> {
    match op {
        Op::Append(entry) => Some(entry.seq + 1),
        _ => None,
    }
}

/// Brings a stored session into use. Nothing of it runs before a client has joined.
pub(crate) async fn open(hub: &Arc<Shared>, id: &str, wish: &Wish) -> Result<Handle, Error> {
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

async fn take_up(hub: &Arc<Shared>, id: &str, lease: Lease, wish: &Wish) -> Result<Handle, Error> {
    let mut row = hub.store.session(id).await.map_err(store_error)?.ok_or_else(unknown_session)?;
    if let Some(directories) = &wish.additional_directories {
        row.additional_directories.clone_from(directories);
    }
    let (inputs, next_input) = saved(hub.store.inputs(id).await.map_err(store_error)?);
    let is_built_in = row.backend == BUILT_IN;
    let (past, history) = past(hub, id, is_built_in.then(History::new)).await?;
    let mut history = history.unwrap_or_default();
    let (agent, row) = if is_built_in {
        (None, row)
    } else {
        let (agent, row) = adapted(hub, row, wish).await?;
        (Some(agent), row)
    };
    let Restored { mailbox, next_seq, operations, interruption } = Restored::new(inputs, past, shape::seed());
    interruption.iter().for_each(|update| history.update(&update.raw));
    let mut ops = store_ops(operations, now());
    let agent_session_id = Some(row.agent_session_id.clone());
    ops.push(Op::UpdateSession(SessionChange {
        closed: Some(false),
        agent_session_id,
        ..SessionChange::default()
    }));
    let batch = Batch { session: row.id.clone(), lease: lease.clone(), ops };
    hub.store.commit(batch).await.map_err(store_error)?;
    let agent = agent.unwrap_or_else(|| built_in(hub, &row, history, wish));
    let environment = wish.environment.clone();
    let stored = StoredParts { mailbox, is_held: true, next_seq, next_input };
    Ok(start(hub, Parts { row, lease, agent, stored, environment }))
}

fn start(hub: &Arc<Shared>, parts: Parts) -> Handle {
    SessionDriver::start(Arc::clone(hub), parts)
}

/// Has the agent of the client take up a session that an adapted agent ran.
async fn adapted(hub: &Arc<Shared>, mut row: Session, wish: &Wish) -> Result<(SessionAgent, Session), Error> {
    let Some(agent) = &wish.agent else {
        let what = format!(
            "The session is run by `{}`: start `nudge acp` with that agent and load it there",
            row.backend
        );
        return Err(Error::invalid_request(what).reason("other_agent"));
    };
    // Another agent cannot know it by that id.
    let id = row.agent_session_id.as_deref().filter(|_| agent.name() == row.backend);
    let name = Arc::new(std::sync::OnceLock::from(Arc::clone(&row.id)));
    let params =
        wish.params.clone().unwrap_or_else(|| shape::raw(&json!({ "cwd": row.cwd, "mcpServers": [] })));
    let recap = recap::of(hub, &name);
    let taken_up = nudge_adapt::Session::take_up(agent, wish.version, id, &params, recap).await?;
    let Opened { session, .. } = taken_up;
    if agent.name() == row.backend {
        row.agent_session_id = Some(session.id().to_string());
    }
    Ok((SessionAgent::Adapted(Box::new(session)), row))
}

fn built_in(hub: &Arc<Shared>, row: &Session, history: History, wish: &Wish) -> SessionAgent {
    let setup = Setup {
        session_id: row.id.to_string(),
        cwd: PathBuf::from(&row.cwd),
        additional_directories: row.additional_directories.iter().map(PathBuf::from).collect(),
        config: RawJson::parse(row.config.clone()).ok(),
        history,
    };
    let model = wish.model.as_ref().unwrap_or(&hub.model);
    SessionAgent::BuiltIn(Box::new(BuiltInAgent::start(Arc::clone(model), setup)))
}

/// Looks at the end of the transcript, and at all of it only if that does not tell whether a turn was under way. An
/// adapted agent remembers what was said itself; another is given its `history`.
pub(super) async fn past(
    hub: &Shared,
    id: &str,
    history: Option<History>,
) -> Result<(Past, Option<History>), Error> {
    let next = hub.store.last_seq(id).await.map_err(store_error)?.map_or(0, |last| last + 1);
    let tail = read_past(hub, id, next.saturating_sub(TAIL), history.clone()).await?;
    if tail.0.has_state || next <= TAIL { Ok(tail) } else { read_past(hub, id, 0, history).await }
}

async fn read_past(
    hub: &Shared,
    id: &str,
    from: u64,
    mut history: Option<History>,
) -> Result<(Past, Option<History>), Error> {
    let mut past = Past::default();
    let mut pages = Pages::new(&*hub.store, id, from);
    while let Some(page) = pages.next().await.map_err(store_error)? {
        for entry in &page {
            let Some(update) = stored_update(entry) else {
                past.next_seq = entry.seq + 1;
                continue;
            };
            past.take(entry.seq, &update);
            if let Some(history) = &mut history {
                history.update(&update.raw);
            }
        }
    }
    Ok((past, history))
}

/// A failure of the store as an error for a client.
#[allow(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub(crate) fn store_error(error: StoreError) -> Error {
    tracing::error!(%error, "the store failed");
    told(&error, "The store failed")
}

/// What a client is told of a failure of the store.
pub(super) fn told(error: &StoreError, what: &str) -> Error {
    let told = Error::internal(format!("{what}: {error}"));
    if matches!(error, StoreError::DiskFull) { told.reason("disk_full") } else { told }
}

/// A row for a new session.
pub(crate) fn row(cwd: String, additional_directories: Vec<String>) -> Session {
    let at = now();
    Session {
        id: shape::mint("sess"),
        cwd,
        additional_directories,
        title: None,
        created_at: at,
        updated_at: at,
        backend: BUILT_IN.into(),
        agent_session_id: None,
        parent: None,
        config: String::new(),
        closed: false,
    }
}

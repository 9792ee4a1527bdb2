//! How a session comes into use: made new, or taken up from the store as a crash or a close left it.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use nudge_agent::{Environment, History, Setup};
use nudge_mailbox::{ClientId, Dialect, InStream, Mailbox, Message, Mode, Saved};
use nudge_store::{Batch, Entry, Input, InputState, Lease, Op, Pages, Session, SessionChange, StoreError};
use nudge_wire::{Error, RawJson};
use serde_json::json;

use crate::{
    backend::Backend,
    client::Client,
    hub::Shared,
    session::{
        Handle,
        actor::{Actor, Parts, entry},
    },
    shape,
    time::now,
    update::Update,
};

/// Entries at the end of a transcript that are read when it comes into use; a model is not given more anyway.
const TAIL: u64 = 20_000;

/// How a client wants the session that it brings into use.
#[derive(Debug)]
pub(crate) struct Wish {
    /// The folders beside the working directory; those it had unless set.
    pub(crate) additional_directories: Option<Vec<String>>,
    pub(crate) environment: Option<Environment>,
}

impl Wish {
    pub(crate) fn of(client: &Client) -> Self {
        Self { additional_directories: None, environment: client.environment.clone() }
    }
}

/// Makes a session and brings it into use.
pub(crate) async fn create(hub: &Arc<Shared>, row: Session, wish: &Wish) -> Result<Handle, Error> {
    let lease = hub.lease(&row.id).await?;
    let ops = vec![Op::CreateSession(row.clone())];
    let batch = Batch { session: row.id.clone(), lease: lease.clone(), ops };
    hub.store.commit(batch).await.map_err(stored)?;
    let mailbox = Mailbox::new(InStream::Finish);
    Ok(start(hub, row, lease, mailbox, (History::new(), 0, 0), wish))
}

/// Brings a stored session into use. Nothing of it runs before a client has joined.
pub(crate) async fn open(hub: &Arc<Shared>, id: &str, wish: &Wish) -> Result<Handle, Error> {
    if hub.store.session(id).await.map_err(stored)?.is_none() {
        return Err(super::unknown());
    }
    let lease = hub.lease(id).await?;
    let opened = take_up(hub, id, lease.clone(), wish).await;
    if opened.is_err() {
        let _ = hub.store.release(lease).await;
    }
    opened
}

async fn take_up(hub: &Arc<Shared>, id: &str, lease: Lease, wish: &Wish) -> Result<Handle, Error> {
    let row = hub.store.session(id).await.map_err(stored)?.ok_or_else(super::unknown)?;
    let inputs = hub.store.inputs(id).await.map_err(stored)?;
    let next_input = inputs.iter().map(|input| input.seq + 1).max().unwrap_or(0);
    let mut mailbox = Mailbox::restore(InStream::Finish, saved(inputs));
    let past = past(hub, id).await?;
    let mut ops = dropped(&mut mailbox);
    let Past { mut history, mut next_seq, is_running, open_tools, .. } = past;
    if is_running {
        for update in interruption(&open_tools) {
            history.update(&update.raw);
            ops.push(Op::Append(entry(next_seq, &update)));
            next_seq += 1;
        }
    }
    ops.push(Op::UpdateSession(SessionChange { closed: Some(false), ..SessionChange::default() }));
    let batch = Batch { session: row.id.clone(), lease: lease.clone(), ops };
    hub.store.commit(batch).await.map_err(stored)?;
    Ok(start(hub, row, lease, mailbox, (history, next_seq, next_input), wish))
}

fn start(
    hub: &Arc<Shared>,
    row: Session,
    lease: Lease,
    mailbox: Mailbox<RawJson>,
    (history, next_seq, next_input): (History, u64, u64),
    wish: &Wish,
) -> Handle {
    let directories = wish.additional_directories.as_ref().unwrap_or(&row.additional_directories);
    let setup = Setup {
        session_id: row.id.to_string(),
        cwd: PathBuf::from(&row.cwd),
        additional_directories: directories.iter().map(PathBuf::from).collect(),
        environment: wish.environment.clone(),
        config: RawJson::parse(row.config.clone()).ok(),
        history,
    };
    let backend = Backend::start(Arc::clone(&hub.model), setup);
    Actor::start(Arc::clone(hub), Parts { row, lease, mailbox, backend, next_seq, next_input })
}

/// Looks at the end of the transcript, and at all of it only if that does not tell whether a turn was under way.
async fn past(hub: &Shared, id: &str) -> Result<Past, Error> {
    let next = hub.store.last_seq(id).await.map_err(stored)?.map_or(0, |last| last + 1);
    let tail = read_past(hub, id, next.saturating_sub(TAIL)).await?;
    if tail.has_state || next <= TAIL { Ok(tail) } else { read_past(hub, id, 0).await }
}

async fn read_past(hub: &Shared, id: &str, from: u64) -> Result<Past, Error> {
    let mut past = Past::default();
    let mut pages = Pages::new(&*hub.store, id, from);
    while let Some(page) = pages.next().await.map_err(stored)? {
        for entry in &page {
            past.take(entry);
        }
    }
    Ok(past)
}

/// What the transcript tells of how a session was left.
#[derive(Default)]
struct Past {
    history: History,
    next_seq: u64,
    is_running: bool,
    /// Whether it tells whether a turn is under way.
    has_state: bool,
    open_tools: BTreeSet<String>,
}

impl Past {
    fn take(&mut self, entry: &Entry) {
        self.next_seq = entry.seq + 1;
        let Some(raw) = crate::history::json(entry) else { return };
        match &*entry.kind {
            "state_update" => {
                self.has_state = true;
                self.is_running = raw.get(&["state"]).is_none_or(|state| state.as_str() != "\"idle\"");
            }
            "tool_call_update" => self.take_tool_call(entry, &raw),
            _ => {}
        }
        self.history.update(&raw);
    }

    fn take_tool_call(&mut self, entry: &Entry, raw: &RawJson) {
        let (Some(id), Some(status)) = (&entry.tool_call_id, raw.get(&["status"])) else { return };
        if matches!(status.as_str(), "\"pending\"" | "\"in_progress\"") {
            self.open_tools.insert(id.clone());
        } else {
            self.open_tools.remove(&**id);
        }
    }
}

/// What a transcript ends with whose turn was cut off.
fn interruption(open_tools: &BTreeSet<String>) -> Vec<Update> {
    let text = "The turn was interrupted: Nudge ended while it ran. It is not run again; say how to go on.";
    let meta = json!({ "nudge": { "interrupted": true } });
    let mut updates: Vec<_> = open_tools.iter().map(|id| Update::tool_call_cancelled(id)).collect();
    updates.push(Update::agent_message(&shape::mint("msg"), text, &meta));
    updates.push(Update::idle(Some("cancelled"), None));
    updates
}

/// What the mailbox let go of, to be written down.
fn dropped(mailbox: &mut Mailbox<RawJson>) -> Vec<Op> {
    let changes = mailbox.take_changes().into_iter();
    changes
        .filter_map(|change| match change {
            nudge_mailbox::Change::Revoked { id } => Some(Op::SetInput { id, state: InputState::Revoked }),
            _ => None,
        })
        .collect()
}

fn saved(inputs: Vec<Input>) -> Saved<RawJson> {
    let mut saved = Saved::default();
    for input in inputs {
        let id = input.id;
        // A prompt that was dropped may be sent again.
        let is_dropped = input.state == InputState::Revoked && input.dialect.starts_with("prompt");
        if let Some(key) = input.key.as_ref().filter(|_| !is_dropped) {
            saved.keys.push((Arc::from(&**key), Arc::clone(&id)));
        }
        match input.state {
            InputState::Delivered => saved.delivered.push(id),
            InputState::Revoked => saved.revoked.push(id),
            InputState::Pending => {
                let content = input.content.and_then(|content| RawJson::parse(content).ok());
                saved.pending.push(Message {
                    id,
                    // Of a connection that is gone; ids of connections begin anew with each process.
                    client: ClientId(0),
                    mode: if input.mode == "steer" { Mode::Steer } else { Mode::Queue },
                    dialect: dialect(&input.dialect),
                    content: content.unwrap_or_else(|| shape::raw(&json!([]))),
                    key: input.key.map(|key| Arc::from(&*key)),
                });
            }
        }
    }
    saved
}

fn dialect(name: &str) -> Dialect {
    match name {
        "steering" => Dialect::Steering,
        "prompt_v1" => Dialect::PromptV1,
        "prompt_v2" => Dialect::PromptV2,
        _ => Dialect::Inject,
    }
}

/// A failure of the store as an error for a client.
#[allow(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub(crate) fn stored(error: StoreError) -> Error {
    tracing::error!(%error, "the store failed");
    Error::internal(format!("The store failed: {error}"))
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
        backend: "builtin".into(),
        agent_session_id: None,
        parent: None,
        config: String::new(),
        closed: false,
    }
}

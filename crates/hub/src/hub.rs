//! All sessions of a process: which are in use, and the leases that make it their owner.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use nudge_mailbox::ClientId;
use nudge_peer::{CancellationToken, Cx};
use nudge_store::{HeldLease, SessionLease, Store, StoreError, StoreOp, WriteBatch};
use nudge_wire::{ClientContext, Error, RawJson, caps::ClientInit};
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use tokio::sync::{OnceCell, oneshot};

use crate::{
    boundary::{self, BoundaryObserver},
    client::{ClientMessage, ConnectedClient},
    session::{self, LiveStatus, OpenQuestion, QuestionWish, RestoreWish, SessionCommand, SessionHandle},
    session_api::SessionApi,
    shape,
    sources::SessionSource,
    time::now,
};

/// How long a lease holds without being renewed.
const LEASE: Duration = Duration::from_secs(15);
/// How long a process may take to be gone that was killed.
const DYING: Duration = Duration::from_secs(1);

/// How a hub is set up.
pub struct HubOptions {
    /// The address of the store: `memory`, `sqlite:PATH` or a path.
    pub store: String,
    /// The folder in which processes show that they are alive; without one, a lease of a dead process has to run out.
    pub owners: Option<PathBuf>,
    /// What runs sessions unless a connection has an agent of its own.
    pub built_in: SessionSource,
    /// How long a session that nobody looks at and that does nothing stays in use.
    pub linger: Duration,
    /// Whether the process stays when a client goes: what is asked then waits for another client.
    pub outlives_clients: bool,
    /// Who is told when something leaves memory; nobody, for most.
    pub observer: Option<BoundaryObserver>,
}

/// What keeps a hub from starting.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder of the owners cannot be used.
    #[error("cannot use {path}: {source}; see that the folder can be written")]
    Owners {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The sessions of a process.
#[derive(Clone)]
pub struct Hub {
    pub(crate) shared: Arc<HubShared>,
}

/// What all sessions share.
pub(crate) struct HubShared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) built_in: SessionSource,
    pub(crate) linger: Duration,
    pub(crate) outlives_clients: bool,
    observer: Option<BoundaryObserver>,
    owner: Owner,
    sessions: Mutex<HashMap<Arc<str>, Arc<OnceCell<SessionHandle>>>>,
    leases: Mutex<HashMap<Arc<str>, SessionLease>>,
    /// Leases of sessions that were left when the store could not be written.
    unreleased: Mutex<HashMap<Arc<str>, SessionLease>>,
    clients: AtomicU64,
    opening: Arc<AtomicUsize>,
    is_ending: AtomicBool,
    /// What is still being opened is given up.
    pub(crate) hurry: CancellationToken,
}

impl Drop for HubShared {
    fn drop(&mut self) {
        // Who wants a session that could not be given up has to find that its owner is gone.
        if self.leases.lock().is_empty() && self.unreleased.lock().is_empty() {
            self.owner.bury(&self.owner.name);
        }
    }
}

/// How a hub stands.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HubStatus {
    /// The sessions in use, and how each stands.
    pub sessions: Vec<(String, LiveStatus)>,
}

impl Hub {
    /// Opens the store. Also gives the file that had to be set aside, if one was damaged.
    pub async fn open(options: HubOptions) -> Result<(Self, Option<PathBuf>), HubError> {
        let of_commits = options.observer.clone().map(boundary::of_commits);
        let opened = nudge_store::open_observed(&options.store, of_commits).await?;
        Ok((Self::with_store(opened.store, options)?, opened.set_aside))
    }

    /// As [`open`](Self::open), with a store that is open already, whatever address `options` has.
    pub fn with_store(store: Arc<dyn Store>, options: HubOptions) -> Result<Self, HubError> {
        let owner = Owner::new(options.owners)?;
        let shared = Arc::new(HubShared {
            store,
            built_in: options.built_in,
            linger: options.linger,
            outlives_clients: options.outlives_clients,
            observer: options.observer,
            owner,
            sessions: Mutex::default(),
            leases: Mutex::default(),
            unreleased: Mutex::default(),
            clients: AtomicU64::new(0),
            opening: Arc::default(),
            is_ending: AtomicBool::new(false),
            hurry: CancellationToken::new(),
        });
        tokio::spawn(renew(Arc::downgrade(&shared)));
        Ok(Self { shared })
    }

    /// The session methods for a connection whose client has said this in `initialize`. What its turns, and the
    /// sessions that it brings into use, take over from it is `context`. Sessions it begins are run by `agent`, or by the built-in one: its own or that of the process.
    pub fn connect(
        &self,
        cx: Cx,
        init: &ClientInit,
        context: ClientContext,
        agent: Option<SessionSource>,
        built_in: Option<SessionSource>,
    ) -> SessionApi {
        let id = ClientId(self.shared.clients.fetch_add(1, Ordering::Relaxed) + 1);
        let client =
            ConnectedClient::start(id, init, context, agent, built_in, cx, self.shared.observer.clone());
        SessionApi::new(Arc::clone(&self.shared), client)
    }

    /// How the sessions in use stand.
    pub async fn status(&self) -> HubStatus {
        let mut sessions = Vec::new();
        for (id, handle) in self.shared.in_use() {
            if let Some(live) = handle.status().await {
                sessions.push((id.to_string(), live));
            }
        }
        HubStatus { sessions }
    }

    /// Waits until all that the sessions have shown so far is on disk.
    pub async fn settle(&self) -> Result<(), Error> {
        self.shared.store.settle().await.map_err(session::store_error)
    }

    /// What the sessions in use wait for the user to decide.
    pub async fn questions(&self) -> Vec<OpenQuestion> {
        let mut questions = Vec::new();
        for (_, handle) in self.shared.in_use() {
            let (reply, replied) = oneshot::channel();
            if handle.send(SessionCommand::Question(QuestionWish::List(reply))).await.is_ok() {
                questions.extend(replied.await.unwrap_or_default());
            }
        }
        questions
    }

    /// Takes an answer to one of them, as `{sessionId, questionId, result}`; whether that was open. One that is no answer
    /// to it is refused, and the question stays open.
    pub async fn answer(&self, params: Option<&RawJson>) -> Result<bool, Error> {
        let member = |name: &str| params.and_then(|params| params.get(&[name]));
        let session = member("sessionId").and_then(|value| value.to::<String>().ok());
        let question = member("questionId").and_then(|value| value.to().ok());
        let (Some(session), Some(question), Some(result)) = (session, question, member("result")) else {
            let what = "Invalid params: expected a `sessionId`, a `questionId` and a `result`";
            return Err(Error::invalid_params(what));
        };
        let Some(handle) = self.shared.live(&session) else { return Ok(false) };
        let (reply, replied) = oneshot::channel();
        let sent =
            handle.send(SessionCommand::Question(QuestionWish::Answer { question, result, reply })).await;
        if sent.is_err() {
            return Ok(false);
        }
        replied.await.unwrap_or(Ok(false))
    }

    /// Leaves every session at once, for somebody who will not wait: what is still being opened is given up as well.
    pub async fn end_at_once(&self) {
        self.shared.hurry.cancel();
        self.end(false).await;
    }

    /// Leaves every session, so that another process can go on with it. What runs is cancelled, or with `is_patient`
    /// goes on to the end of its turn or until it needs the user.
    pub async fn end(&self, is_patient: bool) {
        let shared = &self.shared;
        while shared.opening.load(Ordering::Acquire) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        shared.is_ending.store(true, Ordering::Release);
        let mut told = HashSet::new();
        while let in_use = shared.in_use()
            && !in_use.is_empty()
        {
            for (id, handle) in in_use {
                if told.insert(id) {
                    let _ = handle.send(SessionCommand::End { is_patient }).await;
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let _ = shared.store.close().await;
    }
}

impl HubShared {
    /// A session, brought into use if it is not.
    pub(crate) async fn session(
        self: &Arc<Self>,
        id: &str,
        wish: &RestoreWish,
    ) -> Result<SessionHandle, Error> {
        self.check_open()?;
        let cell = Arc::clone(self.sessions().entry(id.into()).or_default());
        let opened = cell.get_or_try_init(|| session::open(self, id, wish)).await.cloned();
        if opened.is_err() {
            self.forget_if(id, |other| Arc::ptr_eq(other, &cell) && !cell.initialized());
        }
        opened
    }

    /// A session that is in use.
    pub(crate) fn live(&self, id: &str) -> Option<SessionHandle> {
        self.sessions().get(id)?.get().cloned()
    }

    /// Enters a session that was just made.
    pub(crate) fn enter(&self, id: Arc<str>, handle: SessionHandle) {
        self.sessions().insert(id, Arc::new(OnceCell::new_with(Some(handle))));
    }

    /// A session is not in use any more.
    pub(crate) fn forget(&self, id: &str) {
        self.leases.lock().remove(id);
        self.forget_if(id, |_| true);
    }

    fn forget_if(&self, id: &str, is_it: impl FnOnce(&Arc<OnceCell<SessionHandle>>) -> bool) {
        let mut sessions = self.sessions();
        if sessions.get(id).is_some_and(is_it) {
            sessions.remove(id);
        }
    }

    /// Sends a command that came when its session was being left.
    pub(crate) async fn send_again(self: &Arc<Self>, id: &str, command: SessionCommand) {
        match command {
            SessionCommand::Attach(joining) => {
                match self.session(id, &RestoreWish::of(&joining.attach.view.client)).await {
                    Ok(handle) => drop(handle.send(SessionCommand::Attach(joining)).await),
                    Err(error) => joining.refuse(&error),
                }
            }
            SessionCommand::Request { client, responder, .. } => {
                client.push(ClientMessage::Answer(responder, Err(nudge_session::unknown_session())));
            }
            SessionCommand::Leave(done) => {
                let _ = done.send(());
            }
            _ => {}
        }
    }

    /// Nothing comes into use any more once the process ends.
    fn check_open(&self) -> Result<(), Error> {
        if self.is_ending.load(Ordering::Acquire) {
            return Err(ending());
        }
        Ok(())
    }

    /// Counts something that brings a session into use or looks at the store, while it does.
    pub(crate) fn opening(&self) -> CountedWork {
        self.opening.fetch_add(1, Ordering::AcqRel);
        CountedWork(Arc::clone(&self.opening))
    }

    /// Gives up the right to run a session.
    pub(crate) async fn release(&self, lease: SessionLease) {
        self.leases.lock().remove(&lease.session);
        if let Err(error) = self.store.release(lease.clone()).await {
            tracing::warn!(%error, "the lease of a session stays until it runs out or is asked for again here");
            self.unreleased.lock().insert(Arc::clone(&lease.session), lease);
        }
    }

    /// Lets a lease run on; `false` if another process has it.
    pub(crate) async fn renew(&self, lease: &SessionLease) -> Result<bool, StoreError> {
        let ttl = u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX);
        Ok(self.store.renew(std::slice::from_ref(lease), now(), ttl).await?.is_empty())
    }

    /// The lease of this process that is in the way, if it is one that nobody here uses.
    fn left_behind(&self, held: &HeldLease) -> Option<SessionLease> {
        let mut unreleased = self.unreleased.lock();
        let is_it = |lease: &SessionLease| lease.owner == held.owner && lease.epoch == held.epoch;
        let session = unreleased.values().find(|lease| is_it(lease))?.session.clone();
        unreleased.remove(&session)
    }

    /// Writes to a session that is not in use.
    pub(crate) async fn write_alone(&self, id: &str, ops: Vec<StoreOp>) -> Result<(), Error> {
        let lease = self.lease(id).await?;
        let batch = WriteBatch { session: lease.session.clone(), lease: lease.clone(), ops };
        let written = self.store.commit(batch).await.map_err(session::store_error);
        self.release(lease).await;
        written
    }

    /// The right to run a session.
    pub(crate) async fn lease(&self, id: &str) -> Result<SessionLease, Error> {
        self.check_open()?;
        let ttl = u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX);
        let patience = tokio::time::Instant::now() + DYING;
        loop {
            let acquired = self.store.acquire(id, &self.owner.name, now(), ttl).await;
            match acquired.map_err(session::store_error)? {
                Ok(lease) => {
                    self.leases.lock().insert(id.into(), lease.clone());
                    return Ok(lease);
                }
                Err(held) if let Some(lease) = self.left_behind(&held) => {
                    if let Err(error) = self.store.release(lease.clone()).await {
                        self.unreleased.lock().insert(id.into(), lease);
                        return Err(session::store_error(error));
                    }
                }
                Err(held) if self.owner.is_dead(&held.owner) => {
                    tracing::info!(owner = %held.owner, "its process is gone: its sessions are free");
                    self.store.release_owner(&held.owner).await.map_err(session::store_error)?;
                    self.owner.bury(&held.owner);
                }
                // A process that was killed holds its lock for a moment after its pipes are closed.
                Err(_) if tokio::time::Instant::now() < patience => tokio::time::sleep(DYING / 40).await,
                Err(_) => break,
            }
        }
        let what = "The session is in use by another Nudge process. Connect to that one, or end it first";
        Err(Error::invalid_request(what).reason("session_in_use"))
    }

    fn in_use(&self) -> Vec<(Arc<str>, SessionHandle)> {
        let sessions = self.sessions();
        let live = sessions.iter().filter_map(|(id, cell)| Some((Arc::clone(id), cell.get()?.clone())));
        live.collect()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<OnceCell<SessionHandle>>>> {
        self.sessions.lock()
    }
}

/// What is told who wants to open a session when the process ends.
pub(crate) fn ending() -> Error {
    Error::internal("Nudge is ending. Start it again and load the session")
}

/// Keeps the leases for as long as the hub is there.
async fn renew(shared: std::sync::Weak<HubShared>) {
    loop {
        tokio::time::sleep(LEASE / 3).await;
        let Some(shared) = shared.upgrade() else { return };
        let leases: Vec<SessionLease> = shared.leases.lock().values().cloned().collect();
        let ttl = u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX);
        if let Err(error) = shared.store.renew(&leases, now(), ttl).await {
            tracing::warn!(%error, "the leases could not be renewed");
        }
    }
}

/// Something that is counted while it goes on.
pub(crate) struct CountedWork(Arc<AtomicUsize>);

impl Drop for CountedWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// This process as the owner of leases. It holds a lock on a file for as long as it lives, which the system drops
/// however it ends.
struct Owner {
    name: String,
    folder: Option<PathBuf>,
    _alive: Option<File>,
}

impl Owner {
    fn new(folder: Option<PathBuf>) -> Result<Self, HubError> {
        let name = shape::mint("owner").to_string();
        let alive = match &folder {
            Some(folder) => {
                let made = Self::show_alive(folder, &name);
                Some(made.map_err(|source| HubError::Owners { path: folder.clone(), source })?)
            }
            None => None,
        };
        Ok(Self { name, folder, _alive: alive })
    }

    fn show_alive(folder: &Path, name: &str) -> io::Result<File> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Nobody else can have thought of this name, so what is there already is not to be written to.
        let file = File::options().create_new(true).write(true).mode(0o600).open(folder.join(name))?;
        file.lock()?;
        Ok(file)
    }

    /// Forgets an owner that is gone, once nothing is held in its name: without its file nobody could tell that it is.
    fn bury(&self, other: &str) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_file(folder.join(other));
        }
    }

    /// Whether another owner is known to be gone.
    fn is_dead(&self, other: &str) -> bool {
        if other == self.name {
            return false;
        }
        let Some(folder) = &self.folder else { return false };
        let path = folder.join(other);
        match File::open(&path) {
            Ok(file) => match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
            },
            // It may live elsewhere; its lease runs out if it does not.
            Err(_) => false,
        }
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for HubOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HubOptions").field("store", &self.store).finish_non_exhaustive()
    }
}

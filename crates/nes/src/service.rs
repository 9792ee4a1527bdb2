//! What the connections of a process share.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use nudge_wire::{caps::ClientInit, nes::StartRequest};
use parking_lot::Mutex;

use crate::{
    LocalEngine, NesConnection, NesEngine,
    folders::{NesFolder, NesFolders},
    index::FolderIndex,
    index_memory::IndexMemory,
    learned::LearnedWeights,
    limits,
    shared::shared,
    warm_parser::WarmParser,
};

/// How the service is run.
#[derive(Clone)]
pub struct NesOptions {
    /// Where learned weights are kept; nothing is written if there is no such place.
    pub data_dir: Option<PathBuf>,
    /// Whether the folders of a workspace are read in the background.
    pub index: bool,
    /// Who makes the suggestions.
    pub engine: Arc<dyn NesEngine>,
    /// How many bytes of text a session has syntax trees of. Documents that were used before those are looked at by their
    /// tokens.
    pub parsed_bytes: usize,
    /// How many bytes the indexes of all workspaces may take together. The one that was used longest ago is forgotten, and
    /// read again when it is used again.
    pub index_bytes: usize,
    /// How long a document is parsed for a question, in time that the thread works. What takes longer is looked at by its
    /// tokens.
    pub parse_time: Duration,
}

impl Default for NesOptions {
    fn default() -> Self {
        Self {
            data_dir: None,
            index: true,
            engine: Arc::new(LocalEngine),
            parsed_bytes: limits::PARSED_BYTES,
            index_bytes: limits::INDEX_BYTES,
            parse_time: limits::PARSE_TIME,
        }
    }
}

impl fmt::Debug for NesOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NesOptions")
            .field("data_dir", &self.data_dir)
            .field("index", &self.index)
            .field("engine", &self.engine.name())
            .field("parsed_bytes", &self.parsed_bytes)
            .field("index_bytes", &self.index_bytes)
            .field("parse_time", &self.parse_time)
            .finish()
    }
}

/// Suggestions for any number of connections. Clones are the same service.
#[derive(Clone)]
pub struct NesService(Arc<Inner>);

struct Inner {
    options: NesOptions,
    sessions: AtomicU64,
    learned: Mutex<HashMap<String, Weak<LearnedWeights>>>,
    indexes: Mutex<HashMap<Vec<NesFolder>, Weak<FolderIndex>>>,
    room: Arc<IndexMemory>,
    warm: Arc<WarmParser>,
}

/// What a session knows of the place it works in.
#[derive(Clone)]
pub(crate) struct NesWorkspace {
    pub(crate) folders: Arc<NesFolders>,
    pub(crate) learned: Arc<LearnedWeights>,
    pub(crate) index: Option<Arc<FolderIndex>>,
}

impl NesService {
    /// A service without connections.
    pub fn new(options: NesOptions) -> Self {
        Self(Arc::new(Inner {
            room: IndexMemory::new(options.index_bytes),
            options,
            sessions: AtomicU64::new(0),
            learned: Mutex::default(),
            indexes: Mutex::default(),
            warm: Arc::default(),
        }))
    }

    /// The sessions of a client that has said this in `initialize`.
    pub fn connect(&self, client: &ClientInit) -> NesConnection {
        NesConnection::new(self.clone(), client)
    }

    pub(crate) fn engine(&self) -> &Arc<dyn NesEngine> {
        &self.0.options.engine
    }

    pub(crate) fn parsed_bytes(&self) -> usize {
        self.0.options.parsed_bytes
    }

    pub(crate) fn parse_time(&self) -> Duration {
        self.0.options.parse_time
    }

    /// Who parses documents ahead.
    pub(crate) fn warm(&self) -> &Arc<WarmParser> {
        &self.0.warm
    }

    /// A name no other session of this service has.
    pub(crate) fn next_session(&self) -> String {
        format!("nes-{}", self.0.sessions.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The workspace a session is started in, shared with the other sessions that are in it.
    pub(crate) fn workspace(&self, start: &StartRequest) -> NesWorkspace {
        let folders = Arc::new(NesFolders::of(start));
        let key = folders.key(start.repository.as_ref());
        let data_dir = self.0.options.data_dir.as_deref();
        let learned = shared(&mut self.0.learned.lock(), &key, || LearnedWeights::open(data_dir, &key));
        let index = (self.0.options.index && !folders.is_empty()).then(|| {
            shared(&mut self.0.indexes.lock(), &folders.sorted(), || {
                FolderIndex::start(Arc::clone(&folders), Arc::clone(&self.0.room))
            })
        });
        NesWorkspace { folders, learned, index }
    }
}

impl fmt::Debug for NesService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NesService").field("options", &self.0.options).finish_non_exhaustive()
    }
}

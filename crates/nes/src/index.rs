//! The files of a workspace, read in the background.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Instant,
};

use ignore::WalkBuilder;
use nudge_predict::{FileFacts, Index, Language};

use crate::{
    folders::{Folder, Folders, read_text},
    lock::lock,
    uri,
};

/// The longest file that is read, in bytes.
const FILE_BYTES: usize = 1024 * 1024;
/// How many files are read.
const FILES: usize = 20_000;
/// How many bytes are read.
const BYTES: usize = 256 * 1024 * 1024;
/// After how many files what was found so far is made known.
const STEP: usize = 500;

/// How many saved files may wait to be read again.
const SAVED: usize = 1024;

/// The index of some folders; sessions in the same folders share it. The thread that makes it ends when it is dropped.
pub(crate) struct FolderIndex {
    shared: Arc<Shared>,
    saved: SyncSender<String>,
}

#[derive(Default)]
struct Shared {
    published: Mutex<Arc<Index>>,
    stopped: AtomicBool,
}

impl FolderIndex {
    /// Begins to read.
    pub(crate) fn start(folders: Arc<Folders>) -> Self {
        let shared = Arc::new(Shared::default());
        let (saved, changed) = sync_channel(SAVED);
        let builder = Builder { folders, shared: Arc::clone(&shared), index: Index::default(), bytes: 0 };
        let started =
            thread::Builder::new().name("nes-index".to_owned()).spawn(move || builder.run(&changed));
        if let Err(error) = started {
            tracing::warn!(%error, "the workspace is not read");
        }
        Self { shared, saved }
    }

    /// What is known so far; never waits for more.
    pub(crate) fn latest(&self) -> Arc<Index> {
        Arc::clone(&lock(&self.shared.published))
    }

    /// A file was saved and is read again.
    pub(crate) fn saved(&self, uri: String) {
        // The thread may be gone, or too much may wait for it: then the file is known as it was.
        let _ = self.saved.try_send(uri);
    }
}

impl Drop for FolderIndex {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
    }
}

/// The thread's own state.
struct Builder {
    folders: Arc<Folders>,
    shared: Arc<Shared>,
    index: Index,
    bytes: usize,
}

impl Builder {
    fn run(mut self, changed: &Receiver<String>) {
        let began = Instant::now();
        tracing::info!(folders = self.folders.iter().count(), "reading the workspace");
        let folders = Arc::clone(&self.folders);
        for folder in folders.iter() {
            self.walk(folder);
        }
        self.publish();
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (files, bytes) = (self.index.len(), self.bytes);
        tracing::info!(files, bytes, milliseconds, "the workspace is read");
        while let Ok(uri) = changed.recv() {
            self.again(&uri);
            // What was saved together is made known together.
            while let Ok(uri) = changed.try_recv() {
                self.again(&uri);
            }
            self.publish();
        }
    }

    fn walk(&mut self, folder: &Folder) {
        let mut walk = WalkBuilder::new(&folder.root);
        walk.require_git(false).follow_links(false).max_filesize(Some(FILE_BYTES as u64));
        walk.sort_by_file_name(std::ffi::OsStr::cmp);
        for entry in walk.build().filter_map(Result::ok) {
            if self.shared.stopped.load(Ordering::Relaxed) {
                return;
            }
            if self.index.len() >= FILES || self.bytes >= BYTES {
                tracing::info!(files = FILES, bytes = BYTES, "the workspace is too large to be read whole");
                return;
            }
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                self.add(folder, entry.path());
            }
        }
    }

    fn add(&mut self, folder: &Folder, path: &Path) {
        let below = path.strip_prefix(&folder.root).ok().and_then(|path| uri::below(&folder.uri, path));
        let (Some(uri), Some(text)) = (below, read_text(path, FILE_BYTES)) else { return };
        self.bytes += text.len();
        self.insert(&uri, &text);
        if self.index.len().is_multiple_of(STEP) {
            tracing::info!(files = self.index.len(), "reading the workspace");
            self.publish();
        }
        // Whoever waits for a suggestion goes first.
        thread::yield_now();
    }

    /// Reads a file again that was saved.
    fn again(&mut self, uri: &str) {
        let found = self.folders.find(uri);
        let known = found.as_ref().and_then(|found| self.folders.uri_of(&found.path));
        match found.and_then(|found| read_text(&found.path, FILE_BYTES)) {
            Some(text) => self.insert(known.as_deref().unwrap_or(uri), &text),
            None => self.index.remove(known.as_deref().unwrap_or(uri)),
        }
    }

    fn insert(&mut self, uri: &str, text: &str) {
        let facts = FileFacts::of(Language::of(None, uri), text);
        self.index.insert(uri.into(), Arc::new(facts));
    }

    fn publish(&self) {
        *lock(&self.shared.published) = Arc::new(self.index.clone());
    }
}
